use dyno_store::{CounterRecord, Run, StatementPlan};

use super::{Explanation, Question, SettingDifference, TrialEvidence, explain};
use crate::compare::comparison::Finding;
use crate::sample::{add_step, around, run};
use crate::trial::check::TrialChecks;
use crate::{Rule, analyse};

fn counter(name: &str, count: f64) -> CounterRecord {
    CounterRecord {
        name: name.to_owned(),
        is_gauge: false,
        first: 100.0,
        last: 100.0 + count,
        values: Vec::new(),
    }
}

/// Eight rounds of two systems and a control. `new` is half as fast as `old`. The arguments are counters and their
/// amounts per operation.
fn half_as_fast(of_old: &[(&str, f64)], of_new: &[(&str, f64)]) -> (Run, TrialEvidence) {
    let mut run = run(1, &["old", "new", "old.control"]);
    run.systems[2].control_of = Some("old".to_owned());
    let rates = |rate, salt| around(rate, 0.01, 8, salt);
    add_step(
        &mut run,
        "reads",
        "point",
        4,
        &[("old", rates(1000.0, 1)), ("new", rates(500.0, 2)), ("old.control", rates(1000.0, 3))],
    );
    let counters = run.trials.iter().map(|trial| {
        let operations = trial.record.measured.as_ref().unwrap().counts.operations as f64;
        let own = if trial.record.system_id == "new" { of_new } else { of_old };
        let noise = 1.0 + 0.01 * f64::from(trial.record.round % 3);
        let list =
            own.iter().map(|(name, each)| counter(name, (each * operations * noise).round())).collect();
        (trial.id, list)
    });
    let counters = counters.collect();
    (run, TrialEvidence { counters, ..TrialEvidence::default() })
}

fn explained(
    of_old: &[(&str, f64)],
    of_new: &[(&str, f64)],
    settings: Vec<SettingDifference>,
) -> Explanation {
    let (run, evidence) = half_as_fast(of_old, of_new);
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    let question = Question { base: "old", candidate: "new", step: "point", clients: 4 };
    explain(&run, &analysis, &evidence, settings, question).unwrap()
}

fn names(explanation: &Explanation) -> Vec<&str> {
    explanation.counters.iter().map(|change| change.name.as_str()).collect()
}

#[test]
fn counters_that_went_from_none_to_one_an_operation_come_before_rare_ones_that_doubled() {
    let of_old = [("Qcache_inserts", 0.0), ("Uptime", 0.0001), ("Handler_read", 1.0), ("Sort_rows", 2.0)];
    let of_new = [("Qcache_inserts", 0.99), ("Uptime", 0.0002), ("Handler_read", 1.0), ("Sort_rows", 4.0)];
    let explanation = explained(&of_old, &of_new, Vec::new());
    assert_eq!((explanation.finding, explanation.counters_compared), (Finding::Regressed, 4));
    assert_eq!(
        names(&explanation),
        ["Qcache_inserts", "Sort_rows"],
        "time passes whoever is slower: rare events tell little"
    );
    let from_none = &explanation.counters[0];
    assert!(from_none.weight > 0.9 && from_none.is_clear);
    assert_eq!(
        (from_none.base, from_none.ratio, from_none.interval),
        (0.0, None, None),
        "no half event is shown"
    );
}

#[test]
fn what_passes_with_time_explains_nothing() {
    // In 10 s, the faster system does 10000 operations and the slower system 5000.
    let of_old = [("Com_show_status", 0.01), ("Handler_read", 1.0), ("Fsyncs", 0.05)];
    let of_new = [("Com_show_status", 0.02), ("Handler_read", 1.0), ("Fsyncs", 0.1)];
    assert_eq!(
        names(&explained(&of_old, &of_new, Vec::new())),
        ["Fsyncs"],
        "10 a second of a clock's, and 50 a second that may be all that a disk can do"
    );
}

#[test]
fn costs_are_all_there_and_clear_only_if_they_changed() {
    let explanation = explained(&[], &[], Vec::new());
    let cpu = explanation.costs.iter().find(|cost| cost.name == "server CPU µs").unwrap();
    assert!((cpu.ratio.unwrap() - 1.0).abs() < 0.01 && !cpu.is_clear && cpu.is_same, "{cpu:?}");
    assert!(explanation.costs.iter().all(|cost| cost.name != "fsyncs"), "not measured");
}

#[test]
fn what_takes_no_cpu_is_waiting_unless_clients_idle() {
    let (mut run, counters) = half_as_fast(&[], &[]);
    let waiting = |run: &Run| {
        let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
        let question = Question { base: "old", candidate: "new", step: "point", clients: 4 };
        let explanation = explain(run, &analysis, &counters, Vec::new(), question).unwrap();
        explanation.costs.into_iter().find(|cost| cost.name == "waiting µs")
    };
    // Four clients do 1000 operations per second on one system and 500 on the other. So an operation takes 4 or 8 ms of
    // clients' time. The server uses the CPU for 40 µs of this time.
    let found = waiting(&run).unwrap();
    assert!((found.base - 3960.0).abs() < 100.0 && (found.ratio.unwrap() - 2.0).abs() < 0.05, "{found:?}");
    assert!(found.is_clear);
    run.steps[0].rate = Some("100".to_owned());
    assert_eq!(waiting(&run), None);
}

#[test]
fn settings_that_act_on_what_changed_come_first() {
    let setting = |name: &str, acts_on: &[&str]| SettingDifference {
        name: name.to_owned(),
        base: Some("0".to_owned()),
        candidate: Some("1".to_owned()),
        about: None,
        acts_on: acts_on.iter().map(|pattern| (*pattern).to_owned()).collect(),
    };
    let settings = vec![
        setting("sort_buffer_size", &["Sort_*"]),
        setting("wait_timeout", &[]),
        setting("query_cache_type", &["Qcache_*"]),
    ];
    let of_old = [("Qcache_inserts", 0.0), ("Sort_rows", 2.0)];
    let explanation = explained(&of_old, &[("Qcache_inserts", 0.9), ("Sort_rows", 2.0)], settings);
    let order: Vec<(&str, usize)> = explanation
        .settings
        .iter()
        .map(|suspect| (suspect.setting.name.as_str(), suspect.evidence.len()))
        .collect();
    assert_eq!(order, [("query_cache_type", 1), ("sort_buffer_size", 0), ("wait_timeout", 0)]);
}

#[test]
fn plans_of_the_step_are_compared_whatever_the_number_of_clients() {
    let (mut run, mut evidence) = half_as_fast(&[], &[]);
    add_step(&mut run, "reads", "other", 4, &[("old", vec![10.0]), ("new", vec![10.0])]);
    for trial in &run.trials {
        let is_new = trial.record.system_id == "new";
        let text = if is_new { "SCAN t" } else { "SEARCH t USING INDEX k_1 (k=?)" };
        let statement = format!("SELECT {}", trial.record.step_id);
        evidence.plans.insert(trial.id, vec![StatementPlan { statement, plan: Ok(text.to_owned()) }]);
    }
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    let question = Question { base: "old", candidate: "new", step: "point", clients: 4 };
    let found = explain(&run, &analysis, &evidence, Vec::new(), question).unwrap().plans;
    assert_eq!((found.compared, found.changes.len()), (1, 1));
    assert_eq!(found.changes[0].statement, "SELECT point");
}

#[test]
fn a_test_that_was_not_compared_is_not_explained() {
    let (run, evidence) = half_as_fast(&[], &[]);
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    for (candidate, step, clients) in [("other", "point", 4), ("new", "range", 4), ("new", "point", 8)] {
        let question = Question { base: "old", candidate, step, clients };
        assert_eq!(explain(&run, &analysis, &evidence, Vec::new(), question), None);
    }
}
