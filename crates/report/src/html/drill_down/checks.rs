//! A trial's check, for the drill-down.

use dyno_judge::{DisturbanceLimits, Little, LittleVerdict, TrialCheck};
use dyno_stats::Steadiness;
use serde::Serialize;
use serde_json::Value;

use crate::html::drill_down::series::number;
use crate::wording::words;

/// A trial's check. Shares have two or three significant digits. Figures that are 0 or unknown are left out.
#[derive(Debug, Serialize)]
pub(crate) struct CheckData {
    /// How throughput develops: `flat`, `warming`, `slowing`, `sawtooth` or `unsteady`.
    #[serde(skip_serializing_if = "Option::is_none")]
    course: Option<&'static str>,
    /// Change of throughput from the start to the end of the trial, as a share of the median.
    #[serde(skip_serializing_if = "Value::is_null")]
    change: Value,
    /// Length of a sawtooth's period, in samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<usize>,
    #[serde(skip_serializing_if = "Value::is_null")]
    variation: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    worst: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    stalled: Option<usize>,
    /// Length of the longest stall (a time in which no event finished), in seconds.
    #[serde(skip_serializing_if = "Value::is_null")]
    stall: Value,
    /// Throughput times mean latency, divided by the number of clients. By Little's law, this is about 1.
    #[serde(skip_serializing_if = "Value::is_null")]
    busy: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    steal: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    others: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    disturbed: Option<bool>,
    /// The limits that were in force and differ from the plan's limits, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<String>,
    /// Names of the checks that give a warning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    odd: Vec<&'static str>,
}

impl CheckData {
    pub(crate) fn of(check: &TrialCheck) -> Self {
        let (course, change, period) = match check.steadiness {
            None => (None, None, None),
            Some(Steadiness::Flat) => (Some("flat"), None, None),
            Some(Steadiness::Warming { change }) => (Some("warming"), Some(change), None),
            Some(Steadiness::Slowing { change }) => (Some("slowing"), Some(change), None),
            Some(Steadiness::Sawtooth { period }) => (Some("sawtooth"), None, Some(period)),
            Some(Steadiness::Unsteady) => (Some("unsteady"), None, None),
        };
        Self {
            course,
            change: number(change, 2),
            period,
            variation: number(check.variation.map(|variation| variation.coefficient), 2),
            worst: number(check.variation.map(|variation| variation.worst), 2),
            stalled: check.variation.map(|variation| variation.stalled).filter(|stalled| *stalled > 0),
            stall: number(check.stall.map(|stall| stall.seconds), 2),
            busy: number(check.little.map(|little| little.busy_share), 3),
            steal: number(check.disturbance.map(|disturbance| disturbance.steal_share), 2),
            others: number(check.disturbance.map(|disturbance| disturbance.others_share), 2),
            disturbed: check.disturbance.map(|disturbance| disturbance.is_disturbed).filter(|is_so| *is_so),
            limits: (!check.limits.is_empty()).then(|| words::limits(&check.limits)),
            odd: odd(check),
        }
    }

    /// Makes a shorter form for large runs, with only the variation and the names of the checks that give a warning.
    pub(crate) fn brief(check: &TrialCheck) -> Self {
        let agrees = |little: &Little| little.verdict == LittleVerdict::Agrees;
        let is_level = |course: &Steadiness| matches!(course, Steadiness::Flat);
        Self {
            worst: Value::Null,
            ..Self::of(&TrialCheck {
                steadiness: check.steadiness.filter(|course| !is_level(course)),
                little: check.little.filter(|little| !agrees(little)),
                disturbance: check.disturbance.filter(|disturbance| disturbance.is_disturbed),
                ..check.clone()
            })
        }
    }
}

fn odd(check: &TrialCheck) -> Vec<&'static str> {
    let is_moving = !matches!(check.steadiness, None | Some(Steadiness::Flat | Steadiness::Sawtooth { .. }));
    let limits = DisturbanceLimits::default();
    let odd = [
        ("course", is_moving),
        ("stalled", check.variation.is_some_and(|variation| variation.stalled > 0)),
        ("stall", check.stall.is_some()),
        ("limits", !check.limits.is_empty()),
        ("busy", check.little.is_some_and(|little| little.verdict != LittleVerdict::Agrees)),
        ("steal", check.disturbance.is_some_and(|found| found.steal_share > limits.steal_max)),
        ("others", check.disturbance.is_some_and(|found| found.others_share > limits.others_max)),
    ];
    odd.into_iter().filter(|(_, is_odd)| *is_odd).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn json(trial: (&str, &str, u32, u32), of: fn(&TrialCheck) -> CheckData) -> String {
        let run = sample::run(7);
        let is_it = |record: &dyno_store::TrialRecord| {
            (&*record.step_id, &*record.system_id, record.clients, record.round) == trial
        };
        let trial = run.trials.iter().find(|trial| is_it(&trial.record)).unwrap();
        serde_json::to_string(&of(&sample::checks(&run)[&trial.id])).unwrap()
    }

    #[test]
    fn a_check_has_what_was_measured() {
        assert_eq!(
            json(("read-only", "maria", 1, 0), CheckData::of),
            r#"{"course":"flat","variation":0.034,"worst":0.86,"busy":0.993,"steal":0.002,"others":0.011}"#
        );
    }

    #[test]
    fn a_limit_that_was_another_is_there_with_both_values() {
        let limits = vec![dyno_store::UnmetLimit {
            limit: "memory".to_owned(),
            asked: "256M".to_owned(),
            found: "512M".to_owned(),
        }];
        let run = sample::run(7);
        let check = TrialCheck { limits, ..sample::checks(&run)[&run.trials[0].id].clone() };
        let json = serde_json::to_string(&CheckData::brief(&check)).unwrap();
        assert!(json.contains(r#""limits":"memory was 512M, not 256M""#), "{json}");
        assert!(json.contains(r#""odd":["limits"]"#), "{json}");
    }

    #[test]
    fn a_brief_one_has_the_variation_and_what_is_odd() {
        assert_eq!(json(("read-only", "maria", 1, 0), CheckData::brief), r#"{"variation":0.034}"#);
        assert_eq!(
            json(("point-query", "maria", 1, 2), CheckData::brief),
            r#"{"variation":0.034,"steal":0.07,"others":0.011,"disturbed":true,"odd":["steal"]}"#
        );
        assert_eq!(
            json(("read-write", "myrocks", 4, 5), CheckData::brief),
            r#"{"course":"slowing","change":-0.12,"variation":0.14,"stalled":1,"odd":["course","stalled"]}"#
        );
    }
}
