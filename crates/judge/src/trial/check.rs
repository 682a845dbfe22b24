//! Checks of a trial, mostly by its rate over time.

use std::collections::BTreeMap;

use dyno_stats::{Level, Steadiness, Variation, busy_share, effective_size, level, steadiness, variation};
use dyno_store::{Phase, Run, SecondRate, Store, StoreError, Trial, TrialId, TrialRecord, UnmetLimit};
use serde::Serialize;

use crate::trial::disturbance::{Disturbance, DisturbanceLimits, disturbance};
use crate::trial::latency::Latencies;
use crate::trial::own_steal::OwnSteal;
use crate::trial::stall::{self, Stall};
use crate::trial::steps::{has_events, joined};

/// A sample, usually the last, is dropped if it is shorter than this share of the first sample, because its rate is
/// too uncertain.
const SAMPLE_SHARE_MIN: f64 = 0.5;

/// Fewest samples from which a variation is computed.
const VARIATION_SAMPLES_MIN: usize = 5;

/// Fewest slices whose rates are used for a trial's checks. With fewer slices, the rates of seconds are used.
const SLICES_MIN: usize = 20;

/// Largest number of samples that are tested for steadiness. The samples of longer trials are averaged, because the
/// trend compares every pair of samples.
const COURSE_SAMPLES_MAX: usize = 1200;

/// Checks of trials, by the trial's id in the results file.
pub type TrialChecks = BTreeMap<TrialId, TrialCheck>;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialCheck {
    /// Class of the throughput series; `None` with fewer than 20 samples.
    pub steadiness: Option<Steadiness>,
    /// Trend of the trial's rate; `None` with fewer than eight samples.
    pub level: Option<Level>,
    /// Variation of the throughput; `None` with fewer than five samples.
    pub variation: Option<Variation>,
    /// Number of slices from which the checks are computed. Without slices, it is the number of complete measured
    /// samples. A sample usually lasts a second.
    pub samples: usize,
    /// Neighbouring samples may resemble each other. This is the number of independent samples whose mean would vary as
    /// much as the mean of this series does.
    pub effective_samples: f64,
    /// The longest stall: a time without finished events that is too long to be chance.
    pub stall: Option<Stall>,
    /// Consistency check by Little's law. `None` in an open loop, for a background load, and for a command that
    /// ends by itself. Also `None` after stalls or unfinished events, because throughput and latency then describe
    /// different events.
    pub little: Option<Little>,
    /// CPU time that neighbours used on the host; `None` if it was not measured.
    pub disturbance: Option<Disturbance>,
    /// Limits of the trial's system that differed from the plan, as the kernel reported them before or after the
    /// trial.
    pub limits: Vec<UnmetLimit>,
    /// Operations per second of each whole measured second. Only trials of a background load whose clients join, and of
    /// the step that it accompanies, have these rates. Empty for other trials.
    #[serde(skip)]
    pub rates: Vec<f64>,
    /// The measured seconds of a trial whose step has events; otherwise empty.
    #[serde(skip)]
    pub course: Vec<SecondRate>,
}

/// Whether clients, throughput and latency are consistent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Little {
    /// Throughput times mean latency, divided by the number of clients.
    pub busy_share: f64,
    pub verdict: LittleVerdict,
}

/// Whether the share of busy clients is plausible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LittleVerdict {
    /// The share is from 0.9 to 1.05, so the figures are consistent.
    Agrees,
    /// The share is below 0.9. Clients spent time outside of requests, for example in their script or in restarts
    /// of events.
    ClientsIdle,
    /// The share is above 1.05, which is impossible. Throughput or latency is measured wrongly.
    Impossible,
}

/// Checks every completed trial of a run, with its seconds from the results file.
///
/// # Errors
/// If the file cannot be read.
pub fn check_trials(store: &Store, run: &Run) -> Result<TrialChecks, StoreError> {
    let own_steal = OwnSteal::of(&run.trials);
    let check = |trial: &Trial| {
        let seconds = store.second_rates(trial.id)?;
        Ok((trial.id, check_trial(run, trial, &seconds, &own_steal.limits(&trial.record))))
    };
    run.trials.iter().filter(|trial| trial.record.is_complete()).map(check).collect()
}

/// Checks a trial of a run. Uses the trial's slices if there are at least 20 of them, which is possible even in a
/// short trial. Otherwise uses `seconds`, which come from [`dyno_store::Store::second_rates`].
pub fn check_trial(
    run: &Run,
    trial: &Trial,
    seconds: &[SecondRate],
    limits: &DisturbanceLimits,
) -> TrialCheck {
    let series = slice_series(&trial.record)
        .or_else(|| served_series(seconds))
        .unwrap_or_else(|| throughput_series(seconds));
    if joined(run, &trial.record.step_id).is_some() {
        // The rate changes when clients join, so changes of the rate say nothing about the system.
        return TrialCheck { rates: series, ..check_series(run, trial, &[], limits) };
    }
    if has_events(run, &trial.record.step_id) {
        // In a step with events, changes of the rate are the result of the events and not a fault of the measurement.
        let measured = seconds.iter().filter(|second| second.phase == Phase::Measure);
        let course = measured.filter(|second| second.seconds > 0.0).copied().collect();
        let check = check_series(run, trial, &[], limits);
        return TrialCheck { course, stall: None, little: None, ..check };
    }
    check_series(run, trial, &series, limits)
}

fn check_series(run: &Run, trial: &Trial, series: &[f64], limits: &DisturbanceLimits) -> TrialCheck {
    TrialCheck {
        steadiness: course(series),
        level: level(&series.iter().filter(|rate| **rate > 0.0).map(|rate| rate.ln()).collect::<Vec<_>>()),
        variation: (series.len() >= VARIATION_SAMPLES_MIN).then(|| variation(series)).flatten(),
        samples: series.len(),
        effective_samples: effective_size(series),
        stall: stall::longest(&trial.record),
        little: little(run, &trial.record),
        disturbance: disturbance(&trial.record, limits),
        limits: limit_differences(&trial.record).to_vec(),
        rates: Vec::new(),
        course: Vec::new(),
    }
}

/// Limits of a trial's system that differed from the plan.
pub(crate) fn limit_differences(trial: &TrialRecord) -> &[UnmetLimit] {
    trial.limits.as_ref().map_or(&[], |limits| &limits.differences)
}

/// Operations per second of each slice; `None` with too few slices.
fn slice_series(trial: &TrialRecord) -> Option<Vec<f64>> {
    let slices = trial.slices.iter().filter(|slice| slice.seconds > 0.0);
    let series: Vec<f64> = slices.map(|slice| slice.operations / slice.seconds).collect();
    (series.len() >= SLICES_MIN).then_some(series)
}

/// Operations per second of each measured sample. An incomplete sample at the end is left out.
pub fn throughput_series(seconds: &[SecondRate]) -> Vec<f64> {
    let measured = || seconds.iter().filter(|second| second.phase == Phase::Measure && second.seconds > 0.0);
    let usual = measured().next().map_or(0.0, |second| second.seconds);
    measured()
        .filter(|second| second.seconds >= SAMPLE_SHARE_MIN * usual)
        .map(|second| second.operations as f64 / second.seconds)
        .collect()
}

/// The finished events of each measured sample as a share of its due events. Samples without due events are left
/// out. `None` if the load has no planned rate.
fn served_series(seconds: &[SecondRate]) -> Option<Vec<f64>> {
    let measured = || seconds.iter().filter(|second| second.phase == Phase::Measure);
    let share =
        |second: &SecondRate| second.due.filter(|due| *due > 0).map(|due| second.events as f64 / due as f64);
    measured().any(|second| second.due.is_some()).then(|| measured().filter_map(share).collect())
}

/// The steadiness of a series. The values of a long series are averaged.
fn course(series: &[f64]) -> Option<Steadiness> {
    let bucket = series.len().div_ceil(COURSE_SAMPLES_MAX).max(1);
    let means: Vec<f64> =
        series.chunks_exact(bucket).map(|part| part.iter().sum::<f64>() / bucket as f64).collect();
    Some(match steadiness(&means)? {
        Steadiness::Sawtooth { period } => Steadiness::Sawtooth { period: period * bucket },
        other => other,
    })
}

fn little(run: &Run, trial: &TrialRecord) -> Option<Little> {
    let step = run.steps.iter().find(|step| step.id == trial.step_id)?;
    let measured = trial.measured.as_ref().filter(|measured| measured.seconds > 0.0)?;
    // The record of a background load's trial has the number of clients of the step that it accompanies, and not of the
    // background load itself.
    let is_own = step.background_of.is_none();
    let has_rate = step.rate.is_some() || step.find.is_some();
    let is_closed_loop = is_own && !has_rate && step.seconds.is_some() && trial.clients > 0;
    let all_ended = trial.latency_censored.is_none() && stall::longest(trial).is_none();
    let latency_us = Latencies::of([trial]).filter(|_| is_closed_loop && all_ended)?.mean().us;
    let share = busy_share(measured.counts.events as f64 / measured.seconds, latency_us, trial.clients);
    let verdict = match share {
        share if share > 1.05 => LittleVerdict::Impossible,
        share if share < 0.9 => LittleVerdict::ClientsIdle,
        _ => LittleVerdict::Agrees,
    };
    Some(Little { busy_share: share, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{add_step, around, run, seconds, slice};

    fn check(run: &Run, rates: &[f64]) -> TrialCheck {
        check_trial(run, &run.trials[0], &seconds(rates), &DisturbanceLimits::default())
    }

    fn one_trial() -> Run {
        let mut run = run(1, &["db"]);
        add_step(&mut run, "reads", "point", 4, &[("db", vec![1000.0])]);
        run
    }

    #[test]
    fn a_trial_s_course_is_judged_without_its_warm_up() {
        let run = one_trial();
        let flat = check(&run, &around(1000.0, 0.02, 60, 1));
        assert_eq!(flat.steadiness, Some(Steadiness::Flat));
        assert!(flat.variation.unwrap().worst > 0.9 && flat.effective_samples > 20.0);
        let rising: Vec<f64> = (0..60).map(|at| 1000.0 + 5.0 * f64::from(at)).collect();
        assert!(matches!(check(&run, &rising).steadiness, Some(Steadiness::Warming { .. })));
        assert_eq!(check(&run, &[]).steadiness, None);
    }

    #[test]
    fn a_remainder_at_the_end_is_left_out() {
        let mut cut = seconds(&[100.0, 100.0, 100.0]);
        cut[4].seconds = 0.01;
        assert_eq!(throughput_series(&cut), [100.0, 100.0]);
    }

    #[test]
    fn at_a_rate_the_course_is_of_what_was_due() {
        let at_a_rate = |due: &[u64], served: &[f64]| -> Vec<SecondRate> {
            let second = |(due, served): (&u64, &f64)| {
                let events = (*due as f64 * served) as u64;
                SecondRate {
                    phase: Phase::Measure,
                    seconds: 1.0,
                    operations: 10 * events,
                    events,
                    due: Some(*due),
                    failed: 0,
                    p99_us: None,
                }
            };
            due.iter().zip(served).map(second).collect()
        };
        let found = |seconds: &[SecondRate]| {
            check_trial(&one_trial(), &one_trial().trials[0], seconds, &DisturbanceLimits::default())
        };
        let ramp: Vec<u64> = (1..=60).map(|second| 100 * second).collect();
        let kept = found(&at_a_rate(&ramp, &[1.0; 60]));
        assert_eq!(kept.steadiness, Some(Steadiness::Flat), "the plan's rate rises, not the system's");
        assert!(kept.level.is_none_or(|level| level.has_level()));
        let decaying: Vec<f64> = (0..60).map(|second| 1.0 - f64::from(second) / 80.0).collect();
        let decays = found(&at_a_rate(&[1000; 60], &decaying));
        assert!(decays.level.is_some_and(|level| !level.has_level() && level.change < 0.5));
        let rare: Vec<u64> = (0..60).map(|second| u64::from(second % 5 == 0)).collect();
        let rare = found(&at_a_rate(&rare, &[1.0; 60]));
        assert_eq!((rare.samples, rare.variation.unwrap().stalled), (12, 0), "nothing was due in the others");
        assert_eq!(found(&at_a_rate(&[0; 60], &[1.0; 60])).samples, 0);
    }

    #[test]
    fn a_few_samples_have_neither_course_nor_variation() {
        let short = check(&one_trial(), &[100.0, 90.0, 110.0, 100.0]);
        assert_eq!((short.samples, short.steadiness, short.variation), (4, None, None));
        assert!(check(&one_trial(), &[100.0, 90.0, 110.0, 100.0, 100.0]).variation.is_some());
    }

    #[test]
    fn slices_show_the_course_of_a_trial_that_is_short() {
        let mut run = one_trial();
        let rising: Vec<f64> = (0..40).map(|at| 10_000.0 + 100.0 * f64::from(at)).collect();
        slice(&mut run.trials[0].record, &rising);
        let found = check(&run, &[1000.0; 4]);
        assert_eq!(found.samples, 40);
        assert!(matches!(found.steadiness, Some(Steadiness::Warming { .. })));
        assert!(found.level.is_some_and(|level| !level.has_level() && (level.change - 1.4).abs() < 0.02));
        slice(&mut run.trials[0].record, &rising[..19]);
        assert_eq!(check(&run, &[1000.0; 4]).samples, 4, "too few slices");
    }

    #[test]
    fn a_trial_of_hours_is_judged_too_and_its_period_counts_samples() {
        let teeth: Vec<f64> = around(1000.0, 0.02, 6000, 1)
            .iter()
            .enumerate()
            .map(|(at, rate)| if at % 300 < 100 { rate / 2.0 } else { *rate })
            .collect();
        let found = check(&one_trial(), &teeth);
        let Some(Steadiness::Sawtooth { period }) = found.steadiness else { panic!("{found:?}") };
        assert!(period.is_multiple_of(300), "{period}");
        assert_eq!(found.samples, 6000);
    }

    #[test]
    fn a_limit_that_was_not_as_asked_is_told_with_both_values() {
        let mut run = one_trial();
        assert_eq!(check(&run, &[]).limits, []);
        let changed = crate::sample::memory_limit("512M");
        run.trials[0].record.limits = Some(changed.clone());
        assert_eq!(check(&run, &[]).limits, changed.differences);
    }

    #[test]
    fn clients_throughput_and_latency_have_to_agree() {
        let mut run = one_trial();
        let verdict = |run: &Run| check(run, &[]).little.map(|little| little.verdict);
        assert_eq!(verdict(&run), Some(LittleVerdict::Agrees));
        run.trials[0].record.clients = 8;
        assert_eq!(verdict(&run), Some(LittleVerdict::ClientsIdle));
        run.trials[0].record.clients = 2;
        assert_eq!(verdict(&run), Some(LittleVerdict::Impossible));
        run.steps[0].rate = Some("1000".to_owned());
        assert_eq!(verdict(&run), None);
    }
}
