//! `dyno plans`: the plans that are built in.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use dyno_engine::Catalogue;
use dyno_lab::{Plan, builtin_plans};

use super::outline;
use crate::output;

/// List the built-in plans, or print one to start a plan of your own from
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno plans
  dyno plans first-look > my-plan.toml")]
pub(crate) struct Plans {
    /// Plan to print
    plan: Option<String>,
}

impl Plans {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let catalogue = Catalogue::load()?;
        let text = match self.plan {
            Some(name) => Plan::find(&name, &catalogue)?.text,
            None => builtin_plans().iter().map(|builtin| describe(&builtin.plan(&catalogue))).collect(),
        };
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(plan: &Plan) -> String {
    let Plan { name, title, systems, steps, .. } = plan;
    let (rounds, time) = (outline::rounds(plan.rounds), outline::about(plan));
    let mut text = format!("{name}: {title} ({rounds}, {time})\n");
    for system in systems {
        let _ = writeln!(text, "  {} = {}", system.id, system.source.name());
    }
    let steps: Vec<_> = steps.iter().map(|step| step.id.as_str()).collect();
    let _ = writeln!(text, "  {} steps: {}\n", steps.len(), steps.join(", "));
    text
}
