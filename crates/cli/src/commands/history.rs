//! `dyno history`: a series of runs of one plan, with the runs at which something changed.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use dyno_judge::{HistoryRule, histories};
use dyno_report::{HistoryFormat, RenderOptions, render_histories};
use dyno_stats::ChangeRule;
use dyno_store::{Run, RunChoice, Store};

use crate::arguments::ResultsFile;
use crate::output;

/// Show a plan's runs over time, and the runs at which tests changed
#[derive(Debug, Args)]
#[command(
    after_help = "A change is told from noise by the runs before and after it, of which it takes at least five \
each; before that, only the newest run is held against the others. Runs of another plan text, scale, CPU or memory are a
history of their own.

Examples:
  dyno history nightly
  dyno history nightly --system mysql --format markdown --out history.md"
)]
pub(crate) struct History {
    /// The plan's name
    plan: String,
    #[command(flatten)]
    results: ResultsFile,
    /// Only this system
    #[arg(long, value_name = "ID")]
    system: Option<String>,
    /// Only this step
    #[arg(long, value_name = "ID")]
    step: Option<String>,
    /// Leave out changes below this percentage
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    change_min: f64,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// Markdown
    Markdown,
    /// JSON for programs
    Json,
}

impl History {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let runs = self.load()?;
        let changes = ChangeRule { effect_min: self.change_min / 100.0, ..ChangeRule::default() };
        let mut found = histories(&runs, &HistoryRule { changes, ..HistoryRule::default() });
        let is_wanted = |wanted: &Option<String>, id: &str| wanted.as_ref().is_none_or(|wanted| wanted == id);
        for history in &mut found {
            history
                .tests
                .retain(|test| is_wanted(&self.system, &test.system) && is_wanted(&self.step, &test.step));
        }
        found.retain(|history| !history.tests.is_empty());
        if found.is_empty() {
            bail!("no run of the plan {} has measured what was asked for", self.plan);
        }
        let format = match self.format {
            Format::Text => HistoryFormat::Text,
            Format::Markdown => HistoryFormat::Markdown,
            Format::Json => HistoryFormat::Json,
        };
        match &self.out {
            None => output::print(&render_histories(&found, format, &output::render_options()))?,
            Some(path) => fs::write(path, render_histories(&found, format, &RenderOptions::default()))
                .with_context(|| format!("cannot write {}", path.display()))?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn load(&self) -> anyhow::Result<Vec<Run>> {
        let store = Store::open_read_only(&self.results.path)?;
        let all = store.runs()?;
        let ids: Vec<_> = all.iter().filter(|run| run.plan_name == self.plan).map(|run| run.id).collect();
        if ids.is_empty() {
            let mut plans: Vec<&str> = all.iter().map(|run| run.plan_name.as_str()).collect();
            plans.sort_unstable();
            plans.dedup();
            let file = self.results.path.display();
            bail!("{file}: has no run of a plan {}; it has runs of {}", self.plan, plans.join(", "));
        }
        Ok(ids.into_iter().map(|id| store.load_run(RunChoice::Id(id))).collect::<Result<_, _>>()?)
    }
}
