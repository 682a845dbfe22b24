//! Traffic of servers: how fast logs are imported, and what a replay costs the client, compared with pgreplay.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- traffic
//! ```

mod import;
mod logs;
mod replay;

use std::path::PathBuf;

use clap::Args;

pub(crate) use self::import::{IMPORT, import_log};

#[derive(Args)]
pub(crate) struct Options {
    /// Size of each log that is imported, in MB.
    #[arg(long, default_value_t = 1000)]
    megabytes: u64,
    /// Number of measurements of each program. The table shows medians.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Statements that are replayed.
    #[arg(long, default_value_t = 40_000)]
    statements: u32,
    /// The pgreplay program.
    #[arg(long, default_value = "pgreplay")]
    pgreplay: PathBuf,
    /// Run only this part.
    #[arg(long)]
    only: Option<Part>,
}

/// A part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Importing logs.
    Import,
    /// Replaying statements, compared with pgreplay.
    Replay,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let runs = |part| options.only.is_none_or(|only| only == part);
    if runs(Part::Import) {
        import::run(options.megabytes, options.rounds)?;
    }
    if runs(Part::Replay) {
        replay::run(&options.pgreplay, options.statements, options.rounds)?;
    }
    Ok(())
}
