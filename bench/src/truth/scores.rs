//! Results of the calibration.

use dyno_judge::{Finding, Rule, TestComparison, TrialChecks, analyse};
use dyno_stats::{CONFIDENCE, Interval, Margin, ratio_of_rounds};
use dyno_store::Run;

use super::plans::{BIAS, Planted, WHOLE};

/// A share or a figure, beside its goal.
pub(super) struct Score {
    what: String,
    of: String,
    measured: String,
    goal: &'static str,
    is_met: bool,
}

impl Score {
    pub(super) fn row(&self) -> [String; 5] {
        let mark = if self.is_met { "met" } else { "missed" };
        [self.what.clone(), self.of.clone(), self.measured.clone(), self.goal.to_owned(), mark.to_owned()]
    }

    fn share(what: String, hits: usize, of: usize, goal: &'static str, is_met: impl Fn(f64) -> bool) -> Self {
        let share = hits as f64 / of.max(1) as f64;
        let measured = format!("{:.1}%", 100.0 * share);
        Self { what, of: format!("{hits} of {of}"), measured, goal, is_met: is_met(share) }
    }
}

/// Divides the run into runs of `rounds` rounds. Each is a separate experiment.
fn experiments(run: &Run, rounds: u32) -> Vec<Run> {
    let last = run.trials.iter().map(|trial| trial.record.round + 1).max().unwrap_or(0);
    (0..last / rounds)
        .map(|number| {
            let range = number * rounds..(number + 1) * rounds;
            let mut part = run.clone();
            part.trials.retain(|trial| range.contains(&trial.record.round));
            part.instances.retain(|instance| range.contains(&instance.round));
            part.record.rounds = rounds;
            part
        })
        .collect()
}

/// The candidate's tests, without loads.
fn tests(run: &Run, rule: &Rule) -> Vec<TestComparison> {
    let analysis = analyse(run, &TrialChecks::new(), rule);
    let comparison = analysis.comparison("a", "b").cloned();
    let tests = comparison.into_iter().flat_map(|comparison| comparison.tests);
    tests.filter(|test| test.step != "load").collect()
}

fn exact(margin: f64) -> Rule {
    Rule { margin: Margin::new(margin).expect("a margin"), ..Rule::default() }
}

/// False alarms between equal systems.
pub(super) fn false_alarms(what: &str, run: &Run, rounds: u32) -> Vec<Score> {
    let experiments = experiments(run, rounds);
    let all: Vec<Vec<TestComparison>> = experiments.iter().map(|part| tests(part, &exact(0.0))).collect();
    let flat: Vec<&TestComparison> = all.iter().flatten().collect();
    let is_alarm = |test: &TestComparison| matches!(test.finding, Finding::Improved | Finding::Regressed);
    let excludes = |test: &TestComparison| test.interval.is_some_and(|interval| interval.excludes_one());
    let alarmed = all.iter().filter(|tests| tests.iter().any(is_alarm)).count();
    let excluding = flat.iter().filter(|test| excludes(test)).count();
    let holding = flat.iter().filter(|test| test.interval.is_some() && !excludes(test)).count();
    let said_otherwise = experiments
        .iter()
        .map(|part| tests(part, &Rule::default()))
        .filter(|tests| tests.iter().any(is_alarm))
        .count();
    let ratios: Vec<f64> = flat.iter().filter_map(|test| test.ratio).collect();
    let off: Vec<f64> = ratios.iter().map(|ratio| ratio.ln().abs()).collect();
    let typical = dyno_stats::median(&off).unwrap_or(f64::NAN);
    vec![
        Score::share(
            format!("{what}: false alarms a run, corrected, margin 0"),
            alarmed,
            all.len(),
            "<= 5%",
            |s| s <= 0.05,
        ),
        Score::share(
            format!("{what}: false alarms a run, corrected, margin 2%"),
            said_otherwise,
            all.len(),
            "<= 5%",
            |s| s <= 0.05,
        ),
        Score::share(
            format!("{what}: false alarms a test, uncorrected"),
            excluding,
            flat.len(),
            "<= 5%",
            |s| s <= 0.05,
        ),
        Score::share(format!("{what}: intervals that hold 1"), holding, flat.len(), "92-98%", |s| {
            (0.92..=0.98).contains(&s)
        }),
        Score {
            what: format!("{what}: median distance of a ratio from 1"),
            of: format!("{} ratios", ratios.len()),
            measured: format!("{:.2}%", 100.0 * typical),
            goal: "-",
            is_met: true,
        },
    ]
}

/// Planted differences that were found, and the share of intervals that contain the true ratio.
pub(super) fn found(planted: Planted, run: &Run) -> Vec<Score> {
    let [base, candidate] = planted.statements.map(f64::from);
    let truth = base / candidate;
    let parts = experiments(run, planted.rounds);
    let all: Vec<TestComparison> = parts.iter().flat_map(|part| tests(part, &exact(0.0))).collect();
    let mut scores = Vec::new();
    for kind in ["reads", "writes"] {
        let of_kind: Vec<&TestComparison> = all.iter().filter(|test| test.step == kind).collect();
        let intervals = || of_kind.iter().filter_map(|test| test.interval);
        let below = intervals().filter(|interval| interval.high < 1.0).count();
        let holding = intervals().filter(|it| it.low <= truth && truth <= it.high).count();
        let what = format!("{} a test, {kind}", planted.name);
        scores.push(Score::share(format!("{what}: found"), below, of_kind.len(), ">= 90%", |share| {
            share >= 0.9
        }));
        scores.push(Score::share(
            format!("{what}: intervals that hold {truth:.4}"),
            holding,
            of_kind.len(),
            "-",
            |_| true,
        ));
    }
    scores
}

/// Half of the interval's width for one pair of instances.
pub(super) fn half_width(run: &Run) -> Vec<Score> {
    tests(run, &Rule::default())
        .into_iter()
        .filter_map(|test| test.interval.zip(test.ratio))
        .map(|(interval, ratio)| {
            let half = (interval.high / interval.low).ln() / 2.0;
            Score {
                what: "half width of the interval, one fresh pair, 60 s".to_owned(),
                of: format!("ratio {ratio:.4}"),
                measured: format!("{:.2}%", 100.0 * half),
                goal: "<= 1.5%",
                is_met: half <= 0.015,
            }
        })
        .collect()
}

/// Whether each ratio of slices lies within the interval of whole trials, and the reverse. Below stands what slices make of
/// the ratio round by round, in which what an instance or a round is like drops out.
pub(super) fn agreement(run: &Run) -> Vec<Score> {
    let tests = tests(run, &Rule::default());
    BIAS.iter()
        .flat_map(|((step, ..), _)| [within_both(&tests, step), round_by_round(&tests, step)])
        .flatten()
        .collect()
}

fn within_both(tests: &[TestComparison], step: &str) -> Option<Score> {
    let estimate = |step: &str| {
        let test = tests.iter().find(|test| test.step == step)?;
        Some((test.ratio?, test.interval?))
    };
    let (sliced, of_slices) = estimate(step)?;
    let (whole, of_whole) = estimate(&format!("{step}{WHOLE}"))?;
    let holds = |interval: Interval, ratio: f64| interval.low <= ratio && ratio <= interval.high;
    Some(Score {
        what: format!("ratio of slices beside whole trials of 60 s, {step}"),
        of: format!("{whole:.3} ({})", range(of_whole)),
        measured: format!("{sliced:.3} ({})", range(of_slices)),
        goal: "within both",
        is_met: holds(of_slices, whole) && holds(of_whole, sliced),
    })
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
    Some(Score {
        what: format!("the same, ratio of slices to that of whole trials in the same round, {step}"),
        of: format!("{} rounds", quotients.len()),
        measured: format!("{:.3} ({})", estimate.ratio, range(interval)),
        goal: "holds 1",
        is_met: !interval.excludes_one(),
    })
}

fn range(interval: Interval) -> String {
    format!("{:.3}-{:.3}", interval.low, interval.high)
}
