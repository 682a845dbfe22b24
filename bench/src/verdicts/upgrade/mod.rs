//! `dyno upgrade` on real upgrades. Among 200 digests, 20 regressions are planted. The benchmark counts how many of
//! them `dyno upgrade` and pt-upgrade find, and how often `dyno upgrade` reports something between equal versions.
//!
//! ```console
//! $ cargo build --release -p dyno && cargo run --release -p dyno-bench -- upgrade
//! ```

mod bed;
mod equal;
mod judged;
mod planted;
mod pt_upgrade;
mod table;
mod traffic;
mod upgrading;

use std::path::PathBuf;

use clap::Args;

use self::bed::Bed;
use self::judged::Answer;
use self::planted::{Product, Upgrade};
use self::table::{Beside, Outcome};
use self::traffic::Traffic;
use self::upgrading::Upgrading;
use crate::support::program::Program;

/// The smallest number of rounds that `dyno upgrade` makes.
const ROUNDS_MIN: u32 = 2;
const REPORT: &str = "report.json";

#[derive(Args)]
#[command(after_help = "Example of a trial run:\n  \
    cargo run --release -p dyno-bench -- upgrade --digests 20 --rounds 1")]
pub(crate) struct Options {
    /// The product to upgrade.
    #[arg(long, value_enum, default_value_t = Product::Mariadb)]
    product: Product,
    /// Number of digests. At most half of the digests have a planted regression, so all 20 regressions need at
    /// least 40 digests.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=200))]
    digests: u32,
    /// Rounds of each `dyno upgrade`, which makes at least 2. A verdict on times needs 6.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Instead, compare the old version with itself this many times, and count the runs that report something. At least
    /// 72 runs, all without an alarm, are needed to show that the share of alarms is at most 5%.
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..))]
    equal: Option<u32>,
    /// The pt-upgrade program. By default the one on PATH.
    #[arg(long, value_name = "PATH")]
    pt_upgrade: Option<PathBuf>,
    /// Folder for logs, results files and reports. Runs of --equal whose reports are in this folder are not
    /// measured again.
    #[arg(long, value_name = "FOLDER", default_value = "target/upgrade")]
    out: PathBuf,
    /// The `dyno` program. By default the one in the folder of this program.
    #[arg(long, value_name = "FILE")]
    dyno: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let upgrade = options.product.upgrade()?;
    let traffic = Traffic::of(&upgrade, options.product.dialect(), options.digests as usize)?;
    let program = Program::new(options.dyno.as_deref(), &options.out)?;
    let rounds = options.rounds.max(ROUNDS_MIN);
    let question = if options.equal.is_some() { "equal" } else { "planted" };
    let name = format!("{}-{question}-{}-{rounds}", options.product.name(), options.digests);
    let Some(bed) = Bed::make(&options.out.join(name), options.product, &traffic, &program)? else {
        return Ok(());
    };
    match options.equal {
        Some(runs) => equal::run(runs, &Upgrading::equal(&upgrade, rounds), &bed, &program),
        None => find(options, &upgrade, &traffic, rounds, &bed, &program),
    }
}

/// Prints which planted regressions each tool finds.
fn find(
    options: &Options,
    upgrade: &Upgrade,
    traffic: &Traffic,
    rounds: u32,
    bed: &Bed,
    program: &Program,
) -> anyhow::Result<()> {
    if !Upgrading::planted(upgrade, rounds).run(&bed.folder, REPORT, program)? {
        return Ok(());
    }
    let answer = Answer::read(&bed.folder.join(REPORT))?;
    let beside = beside(options, upgrade, bed);
    let outcome = Outcome::new(&traffic.planted, options.product.dialect(), &answer.reported, &beside)?;
    outcome
        .print(&format!("{} to {}, {} digests, {rounds} rounds", upgrade.from, upgrade.to, options.digests));
    Ok(())
}

/// Returns what pt-upgrade reports, or the reason why it does not run.
fn beside(options: &Options, upgrade: &Upgrade, bed: &Bed) -> Beside {
    if options.product == Product::Postgres {
        return Beside::Not("it is for MySQL and MariaDB only".to_owned());
    }
    let Some(program) = options.pt_upgrade.clone().or_else(pt_upgrade::on_path) else {
        return Beside::Not(
            "not on PATH; `apt-get install percona-toolkit` brings it, or give its path with --pt-upgrade"
                .to_owned(),
        );
    };
    match pt_upgrade::run(&program, bed, upgrade) {
        Ok(reported) => Beside::Reported(reported),
        Err(error) => Beside::Not(format!("{error:#}")),
    }
}
