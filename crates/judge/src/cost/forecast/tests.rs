use dyno_store::{Origin, Run};
use serde_json::json;

use super::*;
use crate::analysis::analyse;
use crate::compare::rule::Rule;
use crate::sample::{add_step, around, run};
use crate::trial::check::TrialChecks;

const IOPS: [u64; 5] = [1000, 2000, 4000, 8000, 16_000];

/// A run with one system for each limit in [`IOPS`], all on two CPUs. An operation takes 5 reads and 40 µs of CPU.
fn swept(rate: impl Fn(f64) -> f64) -> Run {
    let ids: Vec<String> = IOPS.iter().map(|iops| format!("db.iops-{iops}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut run = run(1, &ids);
    for (system, iops) in run.systems.iter_mut().zip(IOPS) {
        system.confinement = Some(json!({ "server_cpus": "0-1", "read_iops": iops, "write_iops": iops }));
    }
    let rates: Vec<(&str, Vec<f64>)> =
        ids.iter().zip(IOPS).map(|(id, iops)| (*id, around(rate(iops as f64), 0.01, 8, iops))).collect();
    add_step(&mut run, "writes", "update", 64, &rates);
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let operations = record.measured.as_ref().unwrap().counts.operations;
        record.usage.device_reads = Some(operations * 5);
    }
    run
}

fn forecast_for(run: &Run, cpus: &[u64], iops: &[u64]) -> Forecast {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let wanted = WantedHardware { cpus: cpus.to_vec(), iops: iops.to_vec() };
    let mut forecasts = forecasts(run, &analysis, "update", &[64], &wanted);
    assert_eq!(forecasts.len(), 1);
    forecasts.remove(0)
}

/// The rate in operations per second: nine tenths of what the limit of reads allows (5 reads per operation), but at
/// most 1800.
fn saturating(iops: f64) -> f64 {
    f64::min(0.9 * iops / 5.0, 1800.0)
}

#[test]
fn iops_between_those_that_were_measured_are_predicted() {
    let found = forecast_for(&swept(saturating), &[], &[3000, 16_000]);
    assert_eq!(found.left_out.len(), 5);
    let outside: Vec<bool> = found.left_out.iter().map(|it| it.is_outside).collect();
    assert_eq!(outside, [true, false, false, false, true]);
    let [prediction] = &found.predictions[..] else { panic!("what was measured is not predicted") };
    let Predicted::Rate { operations_per_second, interval, is_outside, error_max } = prediction.predicted
    else {
        panic!("{:?}", prediction.predicted)
    };
    assert!((operations_per_second / 540.0 - 1.0).abs() < 0.03, "{operations_per_second}");
    assert!(interval.low < 540.0 && 540.0 < interval.high && !is_outside && error_max < 0.2);
    let reads =
        found.used.iter().find(|used| used.system == "db.iops-1000" && used.resource == Resource::ReadIops);
    assert!((reads.unwrap().share - 0.9).abs() < 0.02);
}

#[test]
fn what_the_law_allows_more_of_the_demand_of_cpu_does_not() {
    // The measured rate is linear in IOPS, so the fitted law alone would predict any rate. But an operation takes 400
    // µs of CPU, so two CPUs allow only 5000 operations per second.
    let mut run = swept(|iops| iops * 0.19);
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        record.usage.server_user_cpu_us = record.measured.as_ref().map(|it| it.counts.operations * 390);
    }
    let found = forecast_for(&run, &[], &[32_000]);
    let Predicted::Rate { operations_per_second, interval, is_outside, .. } = found.predictions[0].predicted
    else {
        panic!("{:?}", found.predictions[0])
    };
    assert!(is_outside);
    assert!(
        (operations_per_second - 5000.0).abs() < 1.0 && interval.high <= 5000.1,
        "{operations_per_second}"
    );
}

#[test]
fn what_was_the_same_everywhere_has_a_bound_only() {
    let found = forecast_for(&swept(saturating), &[1], &[2000]);
    let Predicted::AtMost { operations_per_second, resource, because } = &found.predictions[0].predicted
    else {
        panic!("{:?}", found.predictions[0])
    };
    assert_eq!(
        (*resource, because),
        (Resource::ReadIops, &Unpredicted::NotVaried { resource: Resource::Cpus })
    );
    assert!((operations_per_second - 400.0).abs() < 1.0, "2000 reads a second, five an operation");
}

#[test]
fn a_family_that_does_not_predict_itself_predicts_nothing() {
    let erratic = |iops: f64| if (3000.0..5000.0).contains(&iops) { 3000.0 } else { saturating(iops) };
    let mut run = swept(erratic);
    let found = forecast_for(&run, &[], &[3000]);
    let is_refused = |predicted: &Predicted| matches!(predicted, Predicted::AtMost { because: Unpredicted::LeaveOneOut { error_max }, .. } if *error_max > 0.2);
    assert!(is_refused(&found.predictions[0].predicted), "{found:?}");
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        record.usage = dyno_store::Usage::default();
    }
    let found = forecast_for(&run, &[], &[3000]);
    assert!(matches!(found.predictions[0].predicted, Predicted::Nothing { .. }));
}

#[test]
fn two_systems_are_too_few() {
    let mut run = swept(saturating);
    run.systems.truncate(2);
    run.trials.retain(|trial| ["db.iops-1000", "db.iops-2000"].contains(&trial.record.system_id.as_str()));
    let found = forecast_for(&run, &[], &[1500]);
    let Predicted::AtMost { because, .. } = &found.predictions[0].predicted else { panic!("{found:?}") };
    assert_eq!(because, &Unpredicted::TooFew { systems: 2, wanted: 3 });
    assert!(found.left_out.is_empty());
}

#[test]
fn another_proportion_of_reads_and_writes_has_a_bound_only() {
    let mut run = swept(saturating);
    for (system, iops) in run.systems.iter_mut().zip(IOPS) {
        system.confinement = Some(json!({ "server_cpus": "0-1", "read_iops": iops, "write_iops": iops / 2 }));
    }
    let found = forecast_for(&run, &[], &[3000]);
    let Predicted::AtMost { because, .. } = &found.predictions[0].predicted else { panic!("{found:?}") };
    assert_eq!(because, &Unpredicted::NotVaried { resource: Resource::WriteIops });
}

#[test]
fn volumes_with_burst_credits_and_other_builds_are_no_family() {
    let families = |run: &Run| -> Vec<String> {
        let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
        let found = forecasts(run, &analysis, "update", &[64], &WantedHardware::default());
        found.into_iter().map(|it| it.family).collect()
    };
    let mut run = swept(saturating);
    run.systems[0].confinement = Some(json!({ "read_iops": 1000, "write_iops": 1000, "burst_iops": 3000 }));
    assert_eq!(families(&run), ["db.iops-2000"]);
    run.systems.iter_mut().for_each(|system| system.origin = Origin::Basedir);
    assert_eq!(families(&run).len(), 4, "each may be a build of its own");
}

#[test]
fn other_settings_are_another_family() {
    let mut run = swept(saturating);
    run.systems[0].requested_settings = json!({ "cache": "1G" });
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    let found = forecasts(&run, &analysis, "update", &[64], &WantedHardware::default());
    let families: Vec<&str> = found.iter().map(|it| it.family.as_str()).collect();
    assert_eq!(families, ["db.iops-1000", "db.iops-2000"]);
    assert!(found.iter().all(|it| it.predictions.is_empty()), "nothing was asked for");
}
