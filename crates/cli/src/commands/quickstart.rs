//! `dyno quickstart`: the whole path on SQLite, in about 40 s.

use std::process::ExitCode;

use clap::Args;
use dyno_engine::Catalogue;
use dyno_lab::Plan;
use dyno_report::Reports;

use super::run::{self, PageFlags, RunFlags};

/// Compare SQLite's rollback journal with its write-ahead log (no server, 40 s)
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno quickstart")]
pub(crate) struct Quickstart {
    #[command(flatten)]
    flags: RunFlags,
    #[command(flatten)]
    page: PageFlags,
}

impl Quickstart {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = Plan::find("quickstart", &Catalogue::builtin())?;
        run::carry_out(&plan, &self.flags, &self.page, false, last_words)
    }
}

/// The last lines: where the results are, and what to try next.
fn last_words(reports: &Reports) -> String {
    let found = reports.summary.join("\n");
    format!(
        "\n{found}\n
What to try next:
  dyno run first-look          the same for three real servers, about nine minutes
  dyno report --format markdown --out report.md
  dyno plans quickstart > mine.toml    a start for a plan of your own: dyno run mine.toml\n"
    )
}
