//! The scores of equal systems.

use dyno_judge::{Finding, Rule, TestComparison, rounds_for_family};
use dyno_stats::{CONFIDENCE, Looks, Margin, ROUNDS_MIN, centre_of_rounds};
use dyno_store::{Correction, LeftTest, Run};

use super::experiments::{experiments, has_alarm, part, tests, whole_rounds};
use super::plans::FAMILY_ROUNDS;
use super::score::{Goal, Score};
use super::{nights, sessions};

/// Goal: at most this share of the families has a false alarm. Dyno promises this.
const ALARMS: Goal = Goal::AtMost(0.05);

/// Returns how many families have a false alarm, for each way of judging them: each correction, the `until-decided`
/// mode, sessions and histories. Then returns how many intervals contain the true ratio, and the bias of the ratios.
pub(super) fn scores(run: &Run) -> Vec<Score> {
    let engine = run.systems.first().map_or("", |system| system.name.as_str());
    scores_of_engine(run).into_iter().map(|score| score.of(engine)).collect()
}

fn scores_of_engine(run: &Run) -> Vec<Score> {
    let mut scores = Vec::new();
    for correction in [Correction::MaxT, Correction::Holm, Correction::Fdr] {
        for margin in [0.0, 0.02] {
            let rule = rule(correction, margin);
            let rounds = rounds_of(correction, run);
            let families: Vec<_> = experiments(run, rounds).iter().map(|part| tests(part, &rule)).collect();
            let alarmed = families.iter().filter(|tests| has_alarm(tests)).count();
            let (name, margin) = (correction.as_str(), 100.0 * margin);
            let what = format!("families with an alarm, {name}, {rounds} rounds, margin {margin}%");
            scores.push(Score::share(what, alarmed, families.len(), ALARMS));
        }
    }
    scores.push(until_decided(run));
    scores.extend(sessions::scores(run, FAMILY_ROUNDS as usize, ALARMS));
    scores.push(nights::score(run, FAMILY_ROUNDS as usize, ALARMS));
    let alone: Vec<TestComparison> = experiments(run, ROUNDS_MIN)
        .iter()
        .flat_map(|part| tests(part, &rule(Correction::None, 0.0)))
        .collect();
    let with_interval = || alone.iter().filter_map(|test| test.interval);
    let holding = with_interval().filter(|interval| !interval.excludes_one()).count();
    let of = with_interval().count();
    scores.push(Score::share("intervals that hold 1".to_owned(), holding, of, Goal::Within(0.92, 0.98)));
    scores.extend(bias(&alone));
    scores
}

fn rule(correction: Correction, margin: f64) -> Rule {
    let margin = Margin::new(margin).expect("a margin");
    Rule { margin, correction: Some(correction), ..Rule::default() }
}

/// Returns the smallest number of rounds with which every test of a family can raise an alarm.
fn rounds_of(correction: Correction, run: &Run) -> usize {
    let tests: usize =
        run.steps.iter().filter(|step| step.command == "run").map(|step| step.clients.len()).sum();
    rounds_for_family(correction, tests, 1.0 - CONFIDENCE)
}

/// Returns the share of families with an alarm in `until-decided` runs. Such a run has looks (analyses before its end),
/// and stops measuring the tests that are decided at a look. Tests of equal systems are never decided if the margin is
/// 0, as it is here. Therefore the worst case is simulated: after the first look, only the clearest test is measured
/// further.
fn until_decided(run: &Run) -> Score {
    let rounds = FAMILY_ROUNDS as usize;
    let looks = Looks::new(rounds, 1.0 - CONFIDENCE, 1).expect("enough rounds");
    let families = experiments(run, rounds);
    let alarmed = families.iter().filter(|family| has_alarm(&left_at(family, &looks))).count();
    let what = format!("families with an alarm, until-decided, {rounds} rounds, margin 0%");
    Score::share(what, alarmed, families.len(), ALARMS)
}

/// Returns the tests of a family as if, after the first look, only the clearest test had been measured further.
fn left_at(family: &Run, looks: &Looks) -> Vec<TestComparison> {
    let rule = rule(Correction::MaxT, 0.0);
    let mut family = family.clone();
    // An analysis reads the number of looks from the run's record.
    let planned = |run: &mut Run| {
        (run.record.rounds, run.record.looks) = (FAMILY_ROUNDS, looks.at.len() as u32);
    };
    planned(&mut family);
    let (numbers, rounds) = (whole_rounds(&family), looks.at[0].rounds);
    let mut first = part(&family, &numbers[..rounds]);
    planned(&mut first);
    let look = tests(&first, &rule);
    let is_open = |test: &&TestComparison| test.finding == Finding::NotEnoughEvidence;
    let p = |test: &&TestComparison| test.p.unwrap_or(1.0);
    let clearest = look.iter().filter(is_open).min_by(|a, b| p(a).total_cmp(&p(b)));
    let last_round = numbers[rounds - 1];
    let cell = |test: &TestComparison| (test.step.clone(), test.clients);
    for test in look.iter().filter(|test| Some(cell(test)) != clearest.map(cell)) {
        let left = LeftTest { step: test.step.clone(), clients: test.clients, last_round };
        family.trials.retain(|trial| {
            let record = &trial.record;
            (&record.step_id, record.clients) != (&left.step, left.clients) || record.round <= last_round
        });
        family.left_tests.push(left);
    }
    tests(&family, &rule)
}

/// Returns the bias of the ratios of equal systems: the centre of the log ratios, which is 0 without a bias.
fn bias(tests: &[TestComparison]) -> Option<Score> {
    let off: Vec<f64> = tests.iter().filter_map(|test| Some(test.ratio?.ln())).collect();
    let centre = centre_of_rounds(&off, CONFIDENCE)?;
    Some(Score::figure(
        "ratio less 1, on average".to_owned(),
        format!("{} ratios", off.len()),
        centre.value,
        centre.interval,
        Goal::Within(-0.01, 0.01),
    ))
}
