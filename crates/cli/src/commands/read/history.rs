//! `dyno history`: shows a series of runs of one plan, and the runs at which something changed.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use dyno_judge::{History as Found, HistoryGate, HistoryRule, TestHistory, histories};
use dyno_report::{RenderOptions, render, render_dropped_out, render_regression};
use dyno_stats::ChangeRule;
use dyno_store::{Run, RunChoice, Store};

/// Largest probability that the gate fails although no test changed.
const GATE_ERROR_MAX: f64 = 0.05;

use crate::options::{ReportFormat, ResultsFile};
use crate::{failure, output};

/// Show a plan's runs over time, and the runs at which tests changed
#[derive(Debug, Args)]
#[command(
    after_help = "A change is distinguished from noise by the runs before and after it. This takes about five runs on either side, \
and more if a run resembles the one before. Until then, only the newest run is compared with the others. Runs \
with another plan text, scale, CPU, memory or anchor have a history of their own. If the plan names an `anchor`, \
figures are multiples of its figures in the same rounds.

Examples:
  dyno history nightly
  dyno history nightly --system mysql --format markdown --out history.md
  dyno history nightly --gate
  dyno history nightly --dataset dataset/"
)]
pub(crate) struct History {
    /// The plan's name
    plan: String,
    #[command(flatten)]
    results: ResultsFile,
    /// Read the runs from a data set of `dyno export --partition` instead of the results file. The runs are numbered in
    /// the order of their start
    #[arg(long, value_name = "DIR")]
    dataset: Option<PathBuf>,
    /// Only this system
    #[arg(long, value_name = "ID")]
    system: Option<String>,
    /// Only this step
    #[arg(long, value_name = "ID")]
    step: Option<String>,
    /// Leave out changes below this percentage
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    change_min: f64,
    /// Exit with status 1 if a test regressed at one of the newest RUNS runs; with 3 if the newest run lacks a test
    /// that another of these runs has; with 2 for an error
    #[arg(long, value_name = "RUNS", num_args = 0..=1, default_missing_value = "14")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    gate: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl History {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let answer = self.answer();
        // With a gate, exit status 1 means that a test regressed, so errors need another status.
        if self.gate.is_some() { Ok(failure::of_gate(answer)) } else { answer }
    }

    fn answer(&self) -> anyhow::Result<ExitCode> {
        let runs = self.load()?;
        let mut changes = ChangeRule { effect_min: self.change_min / 100.0, ..ChangeRule::default() };
        let gate = self.gate.map(|runs| HistoryGate { runs, error_max: GATE_ERROR_MAX });
        let mut found = self.find(&runs, changes);
        if let (Some(gate), Some(newest)) = (&gate, found.first()) {
            let needed = gate.permutations(newest.tests.len());
            if needed > changes.permutations {
                changes.permutations = needed;
                found = self.find(&runs, changes);
            }
        }
        if found.is_empty() {
            bail!("no run of the plan {} has measured the requested tests", self.plan);
        }
        let format = self.format.into();
        match &self.out {
            None => output::print_rendered(&render(found.as_slice(), format, &output::render_options()))?,
            Some(path) => output::write(path, &render(found.as_slice(), format, &RenderOptions::default()))?,
        }
        if gate.is_some() {
            self.check_newest(&runs, &found[0])?;
        }
        let regressions = gate.map(|gate| gate.regressions(&found[0])).unwrap_or_default();
        for regression in &regressions {
            output::warn(&format!("regressed: {}", render_regression(regression)));
        }
        let dropped_out = gate.map(|gate| gate.dropped_out(&found[0])).unwrap_or_default();
        for test in &dropped_out {
            output::warn(&format!("not decided: {}", render_dropped_out(test)));
        }
        Ok(match (regressions.is_empty(), dropped_out.is_empty()) {
            (false, _) => ExitCode::FAILURE,
            (true, false) => ExitCode::from(failure::NOT_DECIDED),
            (true, true) => ExitCode::SUCCESS,
        })
    }

    /// Returns an error if the newest run has no figures of the requested tests. `first` is the history whose figures
    /// are the newest. If the newest run has none, these figures come from an older run.
    fn check_newest(&self, runs: &[Run], first: &Found) -> anyhow::Result<()> {
        let newest = runs.iter().max_by_key(|run| (run.record.started_at_ms, run.id)).map(|run| run.id.0);
        let has_figure = |test: &TestHistory| test.points.last().map(|point| point.run) == newest;
        if !first.tests.iter().any(has_figure) {
            bail!(
                "the newest run of the plan {} has no figure of the requested tests, so nothing is judged",
                self.plan
            );
        }
        Ok(())
    }

    /// The histories of the requested tests.
    fn find(&self, runs: &[Run], changes: ChangeRule) -> Vec<Found> {
        let mut found = histories(runs, &HistoryRule { changes, ..HistoryRule::default() });
        let is_wanted = |wanted: &Option<String>, id: &str| wanted.as_ref().is_none_or(|wanted| wanted == id);
        for history in &mut found {
            history
                .tests
                .retain(|test| is_wanted(&self.system, &test.system) && is_wanted(&self.step, &test.step));
        }
        found.retain(|history| !history.tests.is_empty());
        found
    }

    fn load(&self) -> anyhow::Result<Vec<Run>> {
        if let Some(folder) = &self.dataset {
            let runs = dyno_export::read_history(folder, &self.plan)?;
            anyhow::ensure!(!runs.is_empty(), "{}: has no run of a plan {}", folder.display(), self.plan);
            return Ok(runs);
        }
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
