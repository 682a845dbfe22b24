//! `dyno tune`: searches for settings that are faster than a system's own.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use dyno_judge::TuneEnding;
use dyno_report::render;
use dyno_search::Ending;

use super::run::RunFlags;
use crate::failure::NOT_DECIDED;
use crate::options::{ReportFormat, positive, time};
use crate::{interrupt, output};

/// Search for faster settings with the same durability guarantees, by measuring
#[derive(Debug, Args)]
#[command(
    after_help = "Candidates with other values are compared with the system as it is, round by round on fresh instances. The worse \
half is dropped, and the others are compared again in more rounds, until the best one is left. It is confirmed \
in rounds that the search has not used. Then each of its settings is removed in turn, to measure its effect. \
Which commits survive a crash, the protection against torn pages, checksums and isolation do not change. Each \
comparison is a run in the results file, so after ^C the same command continues.

Exit status: 0 better settings were found, or there are none; 1 an error; 3 not decided, because time ran out \
before the best candidate was confirmed.

Examples:
  dyno tune first-look --step read-write
  dyno tune my-plan.toml --system mariadb --group writes --clients 4 --budget 30m
  dyno tune my-plan.toml --candidates 32 --seed 7 --format markdown"
)]
pub(crate) struct Tune {
    /// Name of a built-in plan (see `dyno plans`), or a .toml file
    plan: String,
    /// The system to tune; by default the plan's base
    #[arg(long, value_name = "SYSTEM")]
    system: Option<String>,
    /// Tune the system for this step
    #[arg(long, value_name = "STEP", conflicts_with = "group")]
    step: Option<String>,
    /// Tune the system for the steps of this group, by their mean; by default for all steps
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// Number of clients; by default the fewest of each step
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    clients: Option<u32>,
    /// Begin no comparison after this time, such as 30m; by default, the time that 16 candidates take
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget: Option<Duration>,
    /// Number of first candidates; by default as many as the budget allows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    candidates: Option<u16>,
    /// Rounds of the confirmation; the effect of a single setting is measured with half as many
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(3..=1000))]
    rounds: u32,
    /// Measured seconds of each system in a round; by default the plan's seconds, but at most 1
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    seconds: Option<f64>,
    /// Scale the plan: a factor, or the name of a scale of the plan
    #[arg(long, value_name = "FACTOR")]
    scale: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    #[command(flatten)]
    flags: RunFlags,
}

impl Tune {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let tune = dyno_search::Tune {
            plan: self.plan,
            system: self.system,
            step: self.step,
            group: self.group,
            clients: self.clients,
            budget: self.budget,
            candidates: self.candidates,
            rounds: self.rounds,
            seconds: self.seconds,
            scale: self.scale,
        };
        let (report, ending) = tune.search(self.flags.search())?;
        output::print_rendered(&render(&report, self.format.into(), &output::render_options()))?;
        Ok(match (ending, report.tuned.ending) {
            (Ending::Stopped, _) => interrupt::exit_code(),
            (Ending::Ended, TuneEnding::Better | TuneEnding::NothingBetter) => ExitCode::SUCCESS,
            (Ending::Ended, TuneEnding::BaseFailed) => ExitCode::FAILURE,
            (Ending::Ended, TuneEnding::Unfinished) => ExitCode::from(NOT_DECIDED),
        })
    }
}
