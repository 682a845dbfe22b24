//! `dyno plans`: lists the built-in plans.

use std::process::ExitCode;

use clap::Args;
use dyno_engine::Catalogue;
use dyno_lab::{Plan, builtin_plans};
use dyno_report::json_text;
use serde::Serialize;

use super::outline;
use crate::options::TextOrJson;
use crate::output;

/// List the built-in plans, or print one as a start for your own
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno plans
  dyno plans --format json
  dyno plans first-look > my-plan.toml
  dyno run first-look --dry-run    what a plan would do")]
pub(crate) struct Plans {
    /// Plan to print
    plan: Option<String>,
    /// Output format of the list
    #[arg(long, value_enum, default_value_t = TextOrJson::Text, conflicts_with = "plan")]
    format: TextOrJson,
}

/// A plan in the list.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    rounds_min: u32,
    rounds_max: u32,
    /// Estimated time of a run, in seconds. If the run may end early because all tests are decided, this is the
    /// shortest possible time.
    seconds: f64,
    systems: Vec<ListedSystem<'a>>,
    steps: Vec<&'a str>,
}

#[derive(Serialize)]
struct ListedSystem<'a> {
    id: &'a str,
    engine: String,
}

impl Plans {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let catalogue = Catalogue::load()?;
        let text = match self.plan {
            Some(name) => Plan::find(&name, &catalogue)?.text,
            None => list(self.format, &catalogue),
        };
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list(format: TextOrJson, catalogue: &Catalogue) -> String {
    let plans: Vec<Plan> = builtin_plans().iter().map(|builtin| builtin.plan(catalogue)).collect();
    match format {
        TextOrJson::Text => plans.iter().map(line).collect(),
        TextOrJson::Json => json_text(&plans.iter().map(Listed::of).collect::<Vec<_>>()),
    }
}

fn line(plan: &Plan) -> String {
    let Plan { name, title, .. } = plan;
    format!("{name}: {title} ({}, {})\n", outline::rounds(plan), outline::about(plan))
}

impl<'a> Listed<'a> {
    fn of(plan: &'a Plan) -> Self {
        Self {
            name: &plan.name,
            title: &plan.title,
            rounds_min: plan.rounds_min(),
            rounds_max: plan.rounds.max(),
            seconds: outline::seconds(plan).round(),
            systems: plan
                .systems
                .iter()
                .map(|system| ListedSystem { id: &system.id, engine: system.source.name() })
                .collect(),
            steps: plan.steps.iter().map(|step| step.id.as_str()).collect(),
        }
    }
}
