//! `dyno quickstart`: a complete comparison on SQLite.

use std::process::ExitCode;

use clap::Args;
use dyno_engine::Catalogue;
use dyno_lab::Plan;
use dyno_report::NextStep;

use super::run::{self, PageFlags, RunFlags};

/// Compare SQLite's rollback journal with its write-ahead log (no server, about 60 s)
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno quickstart")]
pub(crate) struct Quickstart {
    #[command(flatten)]
    flags: RunFlags,
    #[command(flatten)]
    page: PageFlags,
    /// Resume the last quickstart if it was stopped, was killed, or has failed trials
    #[arg(long, conflicts_with = "seed")]
    resume: bool,
}

impl Quickstart {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = Plan::find("quickstart", &Catalogue::builtin())?;
        let more = [
            NextStep::new("dyno run first-look", "the same for three real servers"),
            NextStep::new("dyno plans quickstart > mine.toml", "a start for a plan of your own"),
        ];
        run::carry_out(&plan, &self.flags, &self.page, self.resume, &more)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;
    use crate::commands::outline;

    const TOLD: [&str; 2] =
        [include_str!("../../../../../README.md"), include_str!("../../../../../docs/start/quickstart.md")];

    #[test]
    fn help_plan_and_documents_name_the_time_that_the_plan_is_expected_to_take() {
        let plan = Plan::find("quickstart", &Catalogue::builtin()).unwrap();
        let time = outline::about(&plan);
        let command = Arguments::command();
        let about = command.find_subcommand("quickstart").unwrap().get_about().unwrap().to_string();
        assert!(about.contains(&time), "{about}: {time}");
        assert!(plan.text.lines().next().unwrap().contains(&time), "{time}");
        for text in TOLD {
            assert!(text.contains(&time), "{time}");
        }
    }
}
