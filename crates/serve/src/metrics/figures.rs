//! Metrics of tests in runs that have ended: rates, latencies, and ratios to the base with verdicts.

use dyno_judge::{
    Analysis, Cell, Comparison, GateOutcome, Quantity, Rule, Test, TestComparison, analyse, check_trials,
};
use dyno_store::{RunChoice, RunId, RunSummary, Store, StoreError};
use serde::Serialize;

use super::exposition::{Exposition, Labels};
use super::runs::{of_plan, with};

/// Largest number of pairs of a system and a test, over all plans. Each pair has up to eight series.
const FIGURES_MAX: usize = 2000;

/// Percentiles of the latency.
const LATENCIES: [(&str, Quantity); 3] =
    [("50", Quantity::LatencyP50), ("95", Quantity::LatencyP95), ("99", Quantity::LatencyP99)];

/// The figures of a run.
#[derive(Debug)]
pub(super) struct Figures {
    outcome: Option<GateOutcome>,
    systems: Vec<SystemFigures>,
}

/// A system in a test.
#[derive(Debug)]
struct SystemFigures {
    labels: Labels,
    operation: &'static str,
    rate: Option<f64>,
    /// A value for each of [`LATENCIES`], in seconds.
    latencies_seconds: [Option<f64>; LATENCIES.len()],
    /// The comparison with the plan's base; `None` for the base itself.
    relative: Option<RelativeFigures>,
}

#[derive(Debug)]
struct RelativeFigures {
    base: String,
    ratio: Option<f64>,
    /// Lower and upper end of the confidence interval of the ratio.
    interval: Option<[f64; 2]>,
    /// The verdict; `None` for a control, because its ratio is noise.
    verdict: Option<String>,
}

impl Figures {
    /// Analyses a run.
    ///
    /// # Errors
    /// The run cannot be read.
    pub(super) fn of(store: &Store, run: RunId) -> Result<Self, StoreError> {
        let run = store.load_run(RunChoice::Id(run))?;
        let analysis = analyse(&run, &check_trials(store, &run)?, &Rule::default());
        let judgement = analysis.base.as_deref().and_then(|base| analysis.judgement(base));
        let cells = analysis.tests.iter().flat_map(|test| test.cells.iter().map(move |cell| (test, cell)));
        let systems = cells.filter(|(_, cell)| cell.rate.is_some());
        let systems = systems.map(|(test, cell)| SystemFigures::of(&analysis, test, cell)).collect();
        Ok(Self { outcome: judgement.map(|judgement| judgement.outcome), systems })
    }
}

impl SystemFigures {
    fn of(analysis: &Analysis, test: &Test, cell: &Cell) -> Self {
        let latency = |(_, quantity): (&str, Quantity)| Some(cell.costs.get(&quantity)?.median / 1e6);
        let comparison = analysis.base.as_deref().and_then(|base| analysis.comparison(base, &cell.system));
        let is_it = |found: &&TestComparison| found.step == test.step && found.clients == test.clients;
        let found = |of: &Comparison| Some(RelativeFigures::of(of, of.tests.iter().find(is_it)?));
        Self {
            labels: vec![
                ("system", cell.system.clone()),
                ("step", test.step.clone()),
                ("clients", test.clients.to_string()),
            ],
            operation: test.operation.as_str(),
            rate: cell.rate,
            latencies_seconds: LATENCIES.map(latency),
            relative: comparison.and_then(found),
        }
    }
}

impl RelativeFigures {
    fn of(comparison: &Comparison, test: &TestComparison) -> Self {
        Self {
            base: comparison.base.system.clone(),
            ratio: test.ratio,
            interval: test.interval.map(|interval| [interval.low, interval.high]),
            verdict: (!comparison.is_control).then(|| word(test.finding)),
        }
    }
}

/// Returns the word that JSON reports have for a finding or an outcome.
fn word(of: impl Serialize) -> String {
    let value = serde_json::to_value(of).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Writes the figures of runs.
pub(super) fn write(runs: &[(RunSummary, Figures)], to: &mut Exposition) {
    to.gauge(
        "dyno_test_run_number",
        "Number of the run that the figures of a plan's tests are of: its latest that has ended.",
        runs.iter().map(|(run, _)| (of_plan(run), run.id.0 as f64)),
    );
    to.gauge(
        "dyno_gate",
        "1 with the outcome of that run: none_regressed, some_regressed or not_decided.",
        runs.iter().filter_map(|(run, of)| Some((with(of_plan(run), "outcome", &word(of.outcome?)), 1.0))),
    );
    let all: Vec<(Labels, &SystemFigures)> = runs
        .iter()
        .flat_map(|(run, of)| of.systems.iter().map(move |system| (run, system)))
        .map(|(run, system)| ([of_plan(run), system.labels.clone()].concat(), system))
        .collect();
    let left_out = all.len().saturating_sub(FIGURES_MAX);
    to.gauge(
        "dyno_tests_left_out",
        "Systems in tests that have no figures here, because there are too many.",
        [(Labels::new(), left_out as f64)],
    );
    let shown = &all[..all.len() - left_out];
    write_absolute(shown, to);
    write_relative(shown, to);
}

fn write_absolute(systems: &[(Labels, &SystemFigures)], to: &mut Exposition) {
    to.gauge(
        "dyno_test_operations_per_second",
        "Rate of a system in a test, median of the rounds.",
        systems
            .iter()
            .filter_map(|(labels, of)| Some((with(labels.clone(), "operation", of.operation), of.rate?))),
    );
    to.gauge(
        "dyno_test_latency_seconds",
        "Percentile of the latency of a system in a test, median of the rounds.",
        systems.iter().flat_map(|(labels, of)| {
            let values = LATENCIES.iter().zip(of.latencies_seconds);
            values.filter_map(|((name, _), value)| Some((with(labels.clone(), "percentile", name), value?)))
        }),
    );
}

fn write_relative(systems: &[(Labels, &SystemFigures)], to: &mut Exposition) {
    let compared = || {
        systems.iter().filter_map(|(labels, of)| {
            let relative = of.relative.as_ref()?;
            Some((with(labels.clone(), "base", &relative.base), relative))
        })
    };
    to.gauge(
        "dyno_test_ratio",
        "Rate of a system in a test as a multiple of that of the plan's base.",
        compared().filter_map(|(labels, of)| Some((labels, of.ratio?))),
    );
    let ends = [
        ("dyno_test_ratio_low", "Lower end of the interval of dyno_test_ratio."),
        ("dyno_test_ratio_high", "Upper end of the interval of dyno_test_ratio."),
    ];
    for (at, (name, help)) in ends.into_iter().enumerate() {
        to.gauge(name, help, compared().filter_map(|(labels, of)| Some((labels, of.interval?[at]))));
    }
    to.gauge(
        "dyno_test_verdict",
        "1 with the verdict on a system in a test.",
        compared().filter_map(|(labels, of)| Some((with(labels, "verdict", of.verdict.as_ref()?), 1.0))),
    );
}
