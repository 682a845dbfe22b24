//! Scores for equal systems.

use dyno_judge::{Rule, TestComparison};
use dyno_stats::{CONFIDENCE, Looks, Margin, ROUNDS_MIN, centre_of_rounds, rounds_min};
use dyno_store::{Correction, Run};

use super::experiments::{experiments, has_alarm, part, tests};
use super::score::{Goal, Score};

/// Most rounds of a family that is judged until it is decided.
const UNTIL_DECIDED: u32 = 20;
/// Promised limit for the share of families with a false alarm.
const ALARMS: Goal = Goal::AtMost(0.05);

/// Shares of families with a false alarm for each correction over the same rounds, then the coverage of
/// intervals and the bias of ratios.
pub(super) fn scores(run: &Run) -> Vec<Score> {
    let mut scores = Vec::new();
    for correction in [Correction::MaxT, Correction::Holm, Correction::Fdr] {
        for margin in [0.0, 0.02] {
            let rule = rule(correction, margin);
            let rounds = rounds_of(correction, run);
            let families: Vec<_> = experiments(run, rounds).map(|part| tests(&part, &rule)).collect();
            let alarmed = families.iter().filter(|tests| has_alarm(tests)).count();
            let (name, margin) = (correction.as_str(), 100.0 * margin);
            let what = format!("equals: families with an alarm, {name}, {rounds} rounds, margin {margin}%");
            scores.push(Score::share(what, alarmed, families.len(), ALARMS));
        }
    }
    scores.push(until_decided(run));
    let alone: Vec<TestComparison> = experiments(run, ROUNDS_MIN as u32)
        .flat_map(|part| tests(&part, &rule(Correction::None, 0.0)))
        .collect();
    let with_interval = || alone.iter().filter_map(|test| test.interval);
    let holding = with_interval().filter(|interval| !interval.excludes_one()).count();
    let of = with_interval().count();
    scores.push(Score::share(
        "equals: intervals that hold 1".to_owned(),
        holding,
        of,
        Goal::Within(0.92, 0.98),
    ));
    scores.extend(bias(&alone));
    scores
}

fn rule(correction: Correction, margin: f64) -> Rule {
    let margin = Margin::new(margin).expect("a margin");
    Rule { margin, correction: Some(correction), ..Rule::default() }
}

/// The number of rounds in which each test of a family can raise an alarm.
fn rounds_of(correction: Correction, run: &Run) -> u32 {
    let tests: usize =
        run.steps.iter().filter(|step| step.command == "run").map(|step| step.clients.len()).sum();
    let sharing = if correction == Correction::Holm { tests } else { 1 };
    rounds_min(1.0 - (1.0 - CONFIDENCE) / sharing as f64) as u32
}

/// The share of families with an alarm when each family is judged at every look until a test alarms.
fn until_decided(run: &Run) -> Score {
    let looks = Looks::new(UNTIL_DECIDED as usize, CONFIDENCE).expect("enough rounds");
    let rule = Rule { looks: looks.at.len(), ..rule(Correction::MaxT, 0.0) };
    let alarms = |family: &Run| {
        let first = family.trials.iter().map(|trial| trial.record.round).min().unwrap_or(0);
        looks.at.iter().any(|rounds| has_alarm(&tests(&part(family, first, *rounds as u32), &rule)))
    };
    let families: Vec<Run> = experiments(run, UNTIL_DECIDED).collect();
    let alarmed = families.iter().filter(|family| alarms(family)).count();
    let what = format!("equals: families with an alarm, until-decided, {UNTIL_DECIDED} rounds, margin 0%");
    Score::share(what, alarmed, families.len(), ALARMS)
}

/// The mean distance of the ratios of equal systems from 1.
fn bias(tests: &[TestComparison]) -> Option<Score> {
    let off: Vec<f64> = tests.iter().filter_map(|test| Some(test.ratio?.ln())).collect();
    let centre = centre_of_rounds(&off, CONFIDENCE)?;
    Some(Score::figure(
        "equals: ratio less 1, on average".to_owned(),
        format!("{} ratios", off.len()),
        centre.value,
        centre.interval,
        Goal::Within(-0.01, 0.01),
    ))
}
