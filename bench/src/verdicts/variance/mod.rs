//! Estimates from stored runs what would make ratios vary less: covariates of rounds, and several instances of a
//! system in one round. Nothing new is measured.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- variance truth.db
//! ```

mod covariates;
mod instances;
mod regression;

use std::path::PathBuf;

use clap::Args;
use dyno_judge::{Rule, TestComparison, TrialChecks, analyse};
use dyno_stats::median;
use dyno_store::{Run, RunChoice, Store};

use crate::support::pair;

#[derive(Args)]
pub(crate) struct Options {
    /// Results files. Every run with two systems or more and several rounds is used.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut of_covariates = pair::table(&["run", "tests", "covariate", "explained", "variance of the ratio"]);
    let mut of_instances =
        pair::table(&["run", "rounds", "start", "rest", "warm", "measure", "2", "3", "4 instances"]);
    for file in &options.files {
        let store = Store::open_read_only(file)?;
        for summary in store.runs()? {
            let run = store.load_run(RunChoice::Id(summary.id))?;
            let name = format!("{} {}", run.record.plan_name, run.id);
            let tests = timed_tests(&run);
            for found in covariates::of_run(&run, &tests) {
                of_covariates.add_row(found.row(&name));
            }
            if let Some(found) = instances::of_run(&run) {
                of_instances.add_row(found.row(&name));
            }
        }
    }
    let title = "Covariates: the share of the variance between rounds that each explains (adjusted R²), and the\n\
                 variance of the ratio at a covariate of 0, relative to that without it. 0 is the true difference of\n\
                 CPU time and context switches between equal systems only. Medians of the tests.";
    pair::print(title, of_covariates, 3);
    let title = "Several instances of a system in one round: seconds of a round's parts, and the gain, as the time\n\
                 for equal variance with one instance, divided by that with several. They share the rest only.";
    pair::print(title, of_instances, 1);
    Ok(())
}

/// Returns the tests of all candidates against the base, without loads and controls.
fn timed_tests(run: &Run) -> Vec<(String, TestComparison)> {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let judgement = analysis.base.as_deref().and_then(|base| analysis.judgement(base));
    let comparisons = judgement.into_iter().flat_map(|judgement| &judgement.comparisons);
    let is_timed =
        |test: &&TestComparison| run.steps.iter().any(|step| step.id == test.step && step.command == "run");
    comparisons
        .flat_map(|comparison| {
            let candidate = &comparison.candidate.system;
            comparison.tests.iter().filter(is_timed).map(|test| (candidate.clone(), test.clone()))
        })
        .collect()
}

fn middle(values: &[f64]) -> String {
    median(values).map_or_else(String::new, |value| format!("{value:.2}"))
}
