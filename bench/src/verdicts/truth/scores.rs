//! The scores of systems whose ratio is known, and of systems that are measured in two ways.

use dyno_judge::{Finding, Rule, TestComparison, TrialChecks, analyse};
use dyno_stats::{CONFIDENCE, Interval, Margin, centre_of_rounds, ratio_of_rounds};
use dyno_store::Run;

use super::experiments::{experiments, no_margin, searches, tests};
use super::plans::{BIAS, FIRST_LOOK_SECONDS, Planted, SEQUENTIAL_SLICED_ROUNDS, WHOLE};
use super::score::{Goal, Score};

/// Goal: the half width that was measured on 24 November 2026.
const HALF_WIDTH: f64 = 0.0085;
/// The two-sided 95% quantile of the normal distribution.
const NORMAL_95: f64 = 1.96;

/// Returns the share of searches that found a planted difference within the wall time of a search. Also returns the
/// share of intervals that contain the true ratio.
pub(super) fn found(planted: Planted, run: &Run) -> Vec<Score> {
    let [base, candidate] = planted.statements.map(f64::from);
    let truth = base / candidate;
    let all: Vec<TestComparison> =
        searches(run, planted.wall_seconds).iter().flat_map(|part| tests(part, &no_margin())).collect();
    let mut scores = Vec::new();
    for kind in ["reads", "writes"] {
        let of_kind: Vec<&TestComparison> = all.iter().filter(|test| test.step == kind).collect();
        let intervals = || of_kind.iter().filter_map(|test| test.interval);
        let below = intervals().filter(|interval| interval.high < 1.0).count();
        let holding = intervals().filter(|it| it.low <= truth && truth <= it.high).count();
        let what = format!("{}, {kind}", planted.name);
        scores.push(Score::share(format!("{what}: found"), below, of_kind.len(), Goal::AtLeast(0.9)));
        let holds = format!("{what}: intervals that hold {truth:.4}");
        scores.push(Score::share(holds, holding, of_kind.len(), Goal::None));
    }
    scores
}

/// Returns the half width of a ratio's interval with only one pair of instances. The half width is measured for each of
/// several pairs, and the centre of these values is taken.
pub(super) fn half_width(run: &Run) -> Vec<Score> {
    let pairs = experiments(run, 1);
    let widths: Vec<f64> = pairs
        .iter()
        .flat_map(|pair| tests(pair, &Rule::default()))
        .filter_map(|test| Some((test.interval?.high / test.interval?.low).ln() / 2.0))
        .collect();
    let what = "half width of the interval, one fresh pair, 60 s of point selects".to_owned();
    let of = format!("{} pairs", widths.len());
    let goal = Goal::AtMost(HALF_WIDTH);
    let centre = centre_of_rounds(&widths, CONFIDENCE);
    centre.map(|centre| Score::figure(what, of, centre.value, centre.interval, goal)).into_iter().collect()
}

/// Compares ratios that are measured in slices with ratios that are measured in whole trials. For each round, the
/// difference of the two log ratios is taken. The effects of instances and of rounds cancel out in this difference. The
/// two kinds agree if the whole interval of the differences lies within 2%.
pub(super) fn agreement(run: &Run) -> Vec<Score> {
    let tests = tests(run, &Rule::default());
    BIAS.iter().filter_map(|((step, ..), _)| round_by_round(&tests, step)).collect()
}

fn round_by_round(tests: &[TestComparison], step: &str) -> Option<Score> {
    let rounds = |step: &str| tests.iter().find(|test| test.step == step).map(|test| &test.rounds);
    let (sliced, whole) = (rounds(step)?, rounds(&format!("{step}{WHOLE}"))?);
    let quotients: Vec<f64> = sliced
        .iter()
        .filter_map(|of_slices| {
            let of_whole = whole.iter().find(|it| it.round == of_slices.round)?;
            Some((of_slices.ratio / of_whole.ratio).ln())
        })
        .collect();
    let estimate = ratio_of_rounds(&quotients, Margin::new(0.0)?, CONFIDENCE)?;
    let interval = estimate.interval?;
    let less_one = Interval { low: interval.low - 1.0, high: interval.high - 1.0, ..interval };
    Some(Score::figure(
        format!("ratio of slices to that of whole trials of 60 s, less 1, {step}"),
        format!("{} rounds", quotients.len()),
        estimate.ratio - 1.0,
        Some(less_one),
        Goal::Within(-0.02, 0.02),
    ))
}

/// Returns the variance of a ratio that is measured in slices over several rounds, as a share of the variance of a
/// ratio that is measured in whole trials, in which the systems run one after the other. Both ratios come from the same
/// number of measured seconds on fresh instances. The interval assumes that log ratios are normal: the logarithm of a
/// variance of n values then has a standard error of √(2/(n − 1)).
pub(super) fn variance_beside_sequential(run: &Run) -> Vec<Score> {
    let tests = tests(run, &Rule::default());
    let ln_ratios = |step: &str| -> Vec<f64> {
        let test = tests.iter().find(|test| test.step == step);
        test.iter().flat_map(|test| &test.rounds).map(|round| round.ratio.ln()).collect()
    };
    let (sliced, whole) = (ln_ratios("reads"), ln_ratios(&format!("reads{WHOLE}")));
    let share = variance(&sliced) / f64::from(SEQUENTIAL_SLICED_ROUNDS) / variance(&whole);
    let error = (2.0 / (sliced.len() as f64 - 1.0) + 2.0 / (whole.len() as f64 - 1.0)).sqrt();
    let reach = (NORMAL_95 * error).exp();
    let interval = Interval { low: share / reach, high: share * reach, confidence: CONFIDENCE };
    vec![Score::figure(
        "variance of the ratio, as a share of that of trials one after the other".to_owned(),
        format!("{} rounds", whole.len()),
        share,
        Some(interval),
        Goal::AtMost(0.1),
    )]
}

fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// Returns how many tests of `first-look`, loads included, are decided within its time.
pub(super) fn decided(run: &Run) -> Vec<Score> {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let Some(base) = &analysis.base else { return Vec::new() };
    let judgement = analysis.judgement(base);
    let tests: Vec<&TestComparison> = judgement
        .into_iter()
        .flat_map(|judgement| &judgement.comparisons)
        .flat_map(|comparison| &comparison.tests)
        .collect();
    let has_verdict = |test: &&&TestComparison| {
        matches!(test.finding, Finding::Improved | Finding::Regressed | Finding::Same | Finding::Decays)
    };
    let decided = tests.iter().filter(has_verdict).count();
    let what = format!("first-look: tests decided in {:.0} min", FIRST_LOOK_SECONDS / 60.0);
    let minutes = run.finished_at_ms.map_or(0.0, |end| (end - run.record.started_at_ms) as f64 / 60_000.0);
    let of = format!("{} tests, {} rounds, {minutes:.1} min", tests.len(), analysis.replication.rounds);
    vec![Score::count(what, of, decided, Goal::AtLeast(20.0))]
}
