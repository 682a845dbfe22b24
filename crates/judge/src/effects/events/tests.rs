use dyno_store::{EventKind, EventOutcome, Run, SecondRate, StepEventRecord, Timeline, TrialRecord};

use super::figures::figures;
use super::*;
use crate::sample::{add_step, run, seconds};
use crate::trial::check::{TrialChecks, check_trial};
use crate::{DisturbanceLimits, Finding, analyse};

const LENGTH: usize = 30;

/// A timeline of 100 transactions per second. From second 10 on, there are no transactions for `outage` bins, and then
/// 50 transactions per second for another `outage` bins. A bin is 10 ms.
fn timeline(outage: usize) -> Timeline {
    let bins = (0..LENGTH * 100).map(|bin| match bin {
        bin if bin < 1000 => 1,
        bin if bin < 1000 + outage => 0,
        bin if bin < 1000 + 2 * outage => u32::from(bin % 2 == 0),
        _ => 1,
    });
    Timeline { bin_seconds: 0.01, bins: bins.collect() }
}

fn event(id: &str, began: f64, ended: f64) -> StepEventRecord {
    StepEventRecord {
        id: id.to_owned(),
        kind: EventKind::Kill,
        what: "server".to_owned(),
        at_seconds: began,
        began_seconds: Some(began),
        ended_seconds: Some(ended),
        outcome: EventOutcome::Done,
        error: None,
    }
}

fn course(failed: u64) -> Vec<SecondRate> {
    let measured = seconds(&[100.0; LENGTH]).split_off(2);
    let at = |(second, rate): (usize, SecondRate)| SecondRate {
        failed: if second == 10 { failed } else { 0 },
        p99_us: Some(if second == 12 { 90_000.0 } else { 3000.0 }),
        ..rate
    };
    measured.into_iter().enumerate().map(at).collect()
}

fn with_outage(outage: usize) -> TrialRecord {
    TrialRecord {
        step_events: vec![event("kill", 10.0, 11.5)],
        timeline: Some(timeline(outage)),
        ..TrialRecord::default()
    }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-6
}

#[test]
fn a_planted_outage_has_its_depth_length_and_recovery() {
    let found = figures(&with_outage(200), &course(4), 0).unwrap();
    let expected = [
        (EventQuantity::Depth, 1.0),
        (EventQuantity::OutageSeconds, 2.0),
        // The rate has recovered when a window of one second has 95 transactions. The first such window begins 0.1 s
        // before the slow time ends.
        (EventQuantity::RecoverySeconds, 3.9),
        (EventQuantity::LostSeconds, 2.0 + 1.9 / 2.0),
        (EventQuantity::Failed, 4.0),
        (EventQuantity::WorstP99Ms, 90.0),
        (EventQuantity::DurationSeconds, 1.5),
    ];
    for (quantity, value) in expected {
        assert!(near(found[&quantity], value), "{quantity:?}: {found:?}");
    }
}

#[test]
fn an_event_that_nobody_notices_has_no_dip() {
    let found = figures(&with_outage(0), &course(0), 0).unwrap();
    for quantity in [
        EventQuantity::Depth,
        EventQuantity::OutageSeconds,
        EventQuantity::RecoverySeconds,
        EventQuantity::LostSeconds,
        EventQuantity::Failed,
    ] {
        assert!(near(found[&quantity], 0.0), "{quantity:?}: {found:?}");
    }
}

#[test]
fn a_dip_without_an_end_has_no_time_of_recovery() {
    let mut trial = with_outage(0);
    let bins = &mut trial.timeline.as_mut().unwrap().bins;
    bins.iter_mut().skip(1000).for_each(|bin| *bin = 0);
    let found = figures(&trial, &course(0), 0).unwrap();
    assert!(!found.contains_key(&EventQuantity::RecoverySeconds), "{found:?}");
    assert!(near(found[&EventQuantity::OutageSeconds], 20.0), "{found:?}");
}

#[test]
fn without_a_level_or_time_there_is_no_dip_and_the_event_has_its_duration() {
    let slow = |trial: &mut TrialRecord| {
        let bins = &mut trial.timeline.as_mut().unwrap().bins;
        bins.iter_mut().enumerate().for_each(|(at, bin)| *bin = u32::from(at % 6 == 0));
    };
    let late = |trial: &mut TrialRecord| trial.step_events = vec![event("kill", 29.5, 29.9)];
    let early = |trial: &mut TrialRecord| trial.step_events = vec![event("kill", 0.2, 0.9)];
    let silent = |trial: &mut TrialRecord| trial.timeline = None;
    for change in [&slow as &dyn Fn(&mut TrialRecord), &late, &early, &silent] {
        let (mut run, checks) = planted(6, 0);
        run.trials.iter_mut().for_each(|trial| change(&mut trial.record));
        let found = analyse(&run, &checks, &Rule::default()).events;
        let effect = &found[0].systems[1].events[0];
        assert_eq!(effect.not_recovered, 0, "{effect:?}");
        for quantity in [EventQuantity::Depth, EventQuantity::RecoverySeconds, EventQuantity::LostSeconds] {
            assert!(!effect.figures.contains_key(&quantity), "{quantity:?}: {effect:?}");
        }
        assert!(effect.figures.contains_key(&EventQuantity::DurationSeconds), "{effect:?}");
    }
}

#[test]
fn events_after_each_other_have_figures_of_their_own() {
    let mut trial = with_outage(200);
    trial.step_events.insert(0, event("early", 5.0, 5.1));
    trial.step_events.push(StepEventRecord { outcome: EventOutcome::Cut, ..event("late", 20.0, 30.0) });
    trial.step_events.push(StepEventRecord { began_seconds: None, ..event("never", 40.0, 41.0) });
    let outages: Vec<f64> =
        (0..3).map(|at| figures(&trial, &course(0), at).unwrap()[&EventQuantity::OutageSeconds]).collect();
    assert!(near(outages[0], 0.0) && near(outages[1], 2.0) && near(outages[2], 0.0), "{outages:?}");
    let late = figures(&trial, &course(0), 2).unwrap();
    assert!(!late.contains_key(&EventQuantity::DurationSeconds), "it was cut: {late:?}");
    assert_eq!(figures(&trial, &course(0), 3), None);
}

/// A run with events. The candidate's outages are `longer` bins longer than the base's.
fn planted(rounds: usize, longer: usize) -> (Run, TrialChecks) {
    let mut run = run(1, &["old", "new"]);
    add_step(&mut run, "events", "kill", 8, &[("old", vec![100.0; rounds]), ("new", vec![100.0; rounds])]);
    for trial in &mut run.trials {
        let record = &mut trial.record;
        let noise = (record.round as usize * 7) % 5;
        let outage = 150 + noise + if record.system_id == "new" { longer } else { noise % 2 };
        record.step_events = vec![event("kill", 10.0, 11.5)];
        record.timeline = Some(timeline(outage));
    }
    let limits = DisturbanceLimits::default();
    let check = |trial: &dyno_store::Trial| {
        let mut check = check_trial(&run, trial, &seconds(&[100.0; LENGTH]), &limits);
        check.course = course(3);
        (trial.id, check)
    };
    let checks = run.trials.iter().map(check).collect();
    (run, checks)
}

#[test]
fn a_longer_outage_is_a_regression_and_equal_ones_are_not() {
    let (run, checks) = planted(8, 100);
    let found = analyse(&run, &checks, &Rule::default()).events;
    let [test] = &found[..] else { panic!("{found:?}") };
    assert_eq!((test.step.as_str(), test.events[0].id.as_str()), ("kill", "kill"));
    let [old, new] = &test.systems[..] else { panic!("{test:?}") };
    let outage = |system: &EventfulSystem| system.events[0].figures[&EventQuantity::OutageSeconds].clone();
    assert!(outage(old).against_base.is_none());
    let ratio = outage(new).against_base.unwrap();
    assert_eq!((ratio.finding, ratio.rounds), (Finding::Regressed, 8), "{ratio:?}");
    assert!((1.6..1.72).contains(&ratio.ratio), "{ratio:?}");
    let failed = new.events[0].figures[&EventQuantity::Failed].clone();
    assert!(near(failed.median, 3.0));
    assert_ne!(failed.against_base.unwrap().finding, Finding::Regressed);
    assert_eq!(new.seconds.len(), LENGTH);
    assert!(near(new.seconds[12].p99_ms.unwrap(), 90.0) && near(new.seconds[10].failed, 3.0));

    let (run, checks) = planted(8, 0);
    let found = analyse(&run, &checks, &Rule::default()).events;
    let effect = &found[0].systems[1].events[0];
    let alarms = effect
        .figures
        .values()
        .filter_map(|figure| figure.against_base)
        .filter(|ratio| matches!(ratio.finding, Finding::Improved | Finding::Regressed));
    assert_eq!(alarms.count(), 0, "{effect:?}");
}

#[test]
fn few_rounds_have_no_verdict_and_a_failed_event_has_its_reason() {
    let (mut run, checks) = planted(3, 100);
    let record = &mut run.trials.last_mut().unwrap().record;
    record.outcome = Outcome::failed("event `kill` failed: no");
    record.step_events[0].outcome = EventOutcome::Failed;
    record.step_events[0].error = Some("no".to_owned());
    let found = analyse(&run, &checks, &Rule::default()).events;
    let effect = &found[0].systems[1].events[0];
    assert_eq!(effect.failures, ["no"]);
    let ratio = effect.figures[&EventQuantity::OutageSeconds].against_base.unwrap();
    assert_eq!((ratio.finding, ratio.rounds, ratio.p_adjusted), (Finding::NotEnoughEvidence, 2, None));
    let check = checks.values().next().unwrap();
    assert_eq!((check.steadiness, check.stall), (None, None), "a dip that was ordered is no warning");
}
