//! `dyno explain`: shows why two systems differ.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::Args;
use dyno_judge::{
    Analysis, Explanation, Judgement, ProofEnding, Rule, TestComparison, analyse, check_trials,
};
use dyno_report::render;
use dyno_search::explain::{Explainer, is_decided};
use dyno_search::{DisturbedHost, Ending, Prove};
use dyno_store::{Run, RunChoice, RunId, Store};

use super::run::RunFlags;
use crate::failure::NOT_DECIDED;
use crate::options::{ReportFormat, positive, run_id, time};
use crate::{interrupt, output};

/// Show what differs between two systems: costs, counters, settings; prove which setting makes one faster
#[derive(Debug, Args)]
#[command(
    after_help = "Without --test, the test with each system's largest decided difference is explained. Everything that is listed \
changed by more than the noise of the rounds, and of the control if the plan has one. A setting that acts on a \
listed change is a suspect, not a cause.

--prove finds the cause among the differences that the plan makes: settings, limits on the host and steps. It \
compares the base with copies of the base that have some of them, until it has found the fewest that make the \
difference. The chance that any of its comparisons errs is 5%. Each comparison is a run in the results file, so \
after ^C the same command continues.

Exit status: 0 explained; 1 an error, or a system did not start again; 3 not decided, because other programs \
disturbed the run, or because the comparisons of --prove do not show whether the difference is there.

Examples:
  dyno explain
  dyno explain 3 myrocks --test update-index
  dyno explain --against old --all
  dyno explain --test point-query --prove --budget 10m"
)]
pub(crate) struct Explain {
    /// The run's number; by default the latest run that is not a comparison of a search
    #[arg(value_parser = run_id)]
    run: Option<RunId>,
    /// The system to explain; by default each system that differs from the base
    system: Option<String>,
    /// System to compare with, instead of the plan's base
    #[arg(long, value_name = "SYSTEM")]
    against: Option<String>,
    /// Only this step
    #[arg(long, value_name = "STEP")]
    test: Option<String>,
    /// Only this number of clients
    #[arg(long, value_name = "NUMBER")]
    clients: Option<u32>,
    /// Explain every decided difference
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Measure to find the fewest settings, limits and steps that cause the difference
    #[arg(long, conflicts_with = "all")]
    prove: bool,
    #[command(flatten)]
    proving: ProveFlags,
    #[command(flatten)]
    flags: RunFlags,
}

#[derive(Debug, Args)]
struct ProveFlags {
    /// Begin no comparison after this time, such as 10m
    #[arg(long, value_name = "TIME", value_parser = time, requires = "prove")]
    budget: Option<Duration>,
    /// Rounds of each comparison. By default, the first comparison has 6 rounds, and its noise determines the rounds of
    /// the others: 4 to 12. Without this option, an undecided comparison is repeated with twice as many rounds, but at
    /// least 12
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=1000), requires = "prove")]
    rounds: Option<u32>,
    /// Measured seconds of each system in a round; by default the run's seconds, but at most 1
    #[arg(long, value_name = "SECONDS", value_parser = positive, requires = "prove")]
    seconds: Option<f64>,
    /// The run's plan; needed if the plan's text refers to files in the plan's folder
    #[arg(long, value_name = "PLAN", requires = "prove")]
    plan: Option<String>,
}

impl Explain {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let store = Store::open_read_only(&self.flags.results.path)?;
        let run = store.load_run(self.choice(&store)?)?;
        let analysis = analyse(&run, &check_trials(&store, &run)?, &Rule::default());
        let explanations = self.explanations(&store, &run, &analysis)?;
        if explanations.is_empty() {
            return self.tell_nothing(run.id);
        }
        if self.prove {
            return self.prove(&run, &explanations);
        }
        let text = render(explanations.as_slice(), self.format.into(), &output::render_options());
        output::print_rendered(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Searches for the settings that cause the largest difference, and prints the proof.
    fn prove(&self, run: &Run, explanations: &[Explanation]) -> anyhow::Result<ExitCode> {
        let ProveFlags { budget, rounds, seconds, plan } = &self.proving;
        let prove = Prove { budget: *budget, rounds: *rounds, seconds: *seconds, plan: plan.clone() };
        let (report, ending) = prove.search(self.flags.search(), run, explanations)?;
        output::print_rendered(&render(&report, self.format.into(), &output::render_options()))?;
        Ok(match (ending, report.proof.ending) {
            (Ending::Stopped, _) => interrupt::exit_code(),
            (Ending::Ended, ProofEnding::Undecided | ProofEnding::Unfinished) => ExitCode::from(NOT_DECIDED),
            (Ending::Ended, ProofEnding::Refused) => ExitCode::FAILURE,
            (Ending::Ended, _) => ExitCode::SUCCESS,
        })
    }

    /// The run to explain; by default the latest run that is not a comparison of a search.
    fn choice(&self, store: &Store) -> anyhow::Result<RunChoice> {
        if let Some(run) = self.run {
            return Ok(RunChoice::Id(run));
        }
        let runs = store.runs()?;
        for run in runs.iter().rev() {
            if !run.is_of_search {
                return Ok(RunChoice::Id(run.id));
            }
        }
        Ok(RunChoice::Latest)
    }

    fn explanations(
        &self,
        store: &Store,
        run: &Run,
        analysis: &Analysis,
    ) -> anyhow::Result<Vec<Explanation>> {
        let Some(base) = self.against.as_deref().or(analysis.base.as_deref()) else {
            bail!("run {} has no system", run.id)
        };
        for system in [Some(base), self.system.as_deref()].into_iter().flatten() {
            if !analysis.systems.iter().any(|known| known == system) {
                bail!("run {} has no system {system}; it has: {}", run.id, analysis.systems.join(", "));
            }
        }
        if let Some(step) = &self.test
            && !run.steps.iter().any(|known| known.id == *step)
        {
            let known: Vec<&str> = run.steps.iter().map(|known| known.id.as_str()).collect();
            bail!("run {} has no step {step}; it has: {}", run.id, known.join(", "));
        }
        let mut explainer = Explainer::of(store, run, analysis)?;
        let mut explanations = Vec::new();
        for candidate in analysis.systems.iter().filter(|system| *system != base) {
            if self.system.as_ref().is_some_and(|wanted| wanted != candidate) {
                continue;
            }
            for test in self.tests(analysis, base, candidate) {
                explanations.extend(explainer.explanation((base, candidate), test)?);
            }
        }
        if explanations.is_empty() {
            let disturbed = analysis.judgement(base).and_then(Judgement::disturbed);
            if let Some(found) = disturbed {
                return Err(DisturbedHost { run: run.id, found }.into());
            }
        }
        Ok(explanations)
    }

    /// Prints that no requested test has a decided difference. This is a valid answer, but with `--prove` it is an
    /// error.
    fn tell_nothing(&self, run: RunId) -> anyhow::Result<ExitCode> {
        let sentence = format!(
            "no requested test of run {run} has a decided difference; `dyno report {run}` shows its verdicts"
        );
        ensure!(!self.prove, "nothing to prove: {sentence}");
        output::print(&match self.format {
            ReportFormat::Text | ReportFormat::Markdown => format!("Nothing to explain: {sentence}.\n"),
            ReportFormat::Html => format!("<p>Nothing to explain: {sentence}.</p>\n"),
            ReportFormat::Json => "[]\n".to_owned(),
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// The tests to explain. These are the tests of the named step. If no step is named, they are the tests with a
    /// decided difference: all of them with `--all`, otherwise only the one with the largest difference.
    fn tests<'a>(&self, analysis: &'a Analysis, base: &str, candidate: &str) -> Vec<&'a TestComparison> {
        let Some(comparison) = analysis.comparison(base, candidate).filter(|it| !it.is_control) else {
            return Vec::new();
        };
        let is_wanted = |test: &&TestComparison| {
            self.test.as_ref().map_or(is_decided(test.finding), |step| *step == test.step)
                && self.clients.is_none_or(|clients| clients == test.clients)
        };
        let mut tests: Vec<&TestComparison> = comparison.tests.iter().filter(is_wanted).collect();
        let size = |test: &TestComparison| test.ratio.map_or(0.0, |ratio| ratio.ln().abs());
        tests.sort_by(|a, b| size(b).total_cmp(&size(a)));
        if !self.all && self.test.is_none() {
            tests.truncate(1);
        }
        tests
    }
}
