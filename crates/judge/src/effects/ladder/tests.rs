use dyno_store::{Correction, LadderRecord, Run, SystemRecord};
use serde_json::json;

use super::*;
use crate::sample::{add_step, around, run};
use crate::trial::check::TrialChecks;
use crate::{Analysis, analyse};

const RUNGS: [&str; 4] = ["fast", "flush", "binlog", "sync"];

/// A ladder of four rungs in two tests. The step to the second rung costs nothing, the step to the third a fifth,
/// and the step to the fourth a half.
fn ladder(rounds: usize) -> Run {
    let mut run = run(1, &RUNGS);
    for clients in [1, 8] {
        let salt = u64::from(clients) * 10;
        let rates = [1000.0, 1000.0, 800.0, 400.0];
        let rates: Vec<(&str, Vec<f64>)> = (0..)
            .zip(RUNGS.into_iter().zip(rates))
            .map(|(at, (system, rate))| (system, around(rate, 0.003, rounds, salt + at)))
            .collect();
        add_step(&mut run, "writes", "update", clients, &rates);
    }
    run.record.ladders = vec![record("innodb", &RUNGS)];
    run
}

fn record(id: &str, systems: &[&str]) -> LadderRecord {
    LadderRecord { id: id.to_owned(), systems: systems.iter().map(|id| (*id).to_owned()).collect() }
}

fn analysis(run: &Run) -> Analysis {
    analyse(run, &TrialChecks::new(), &Rule::default())
}

#[test]
fn each_step_is_judged_against_the_one_before_and_has_its_distance_from_the_first() {
    let found = analysis(&ladder(12)).ladders;
    assert_eq!((found.len(), found[0].id.as_str()), (1, "innodb"));
    let rungs = &found[0].rungs;
    assert_eq!(rungs.iter().map(|rung| rung.system.as_str()).collect::<Vec<_>>(), RUNGS);
    for (rung, clients) in rungs.iter().flat_map(|rung| [(rung, 0), (rung, 1)]) {
        assert_eq!((rung.tests.len(), rung.tests[clients].clients), (2, [1, 8][clients]));
    }
    assert!(rungs[0].tests[0].against_previous.is_none() && rungs[0].tests[0].against_first.is_none());
    let steps: Vec<(Finding, f64, f64)> = rungs[1..]
        .iter()
        .map(|rung| {
            let test = &rung.tests[1];
            let step = test.against_previous.as_ref().unwrap();
            (step.finding, step.ratio.unwrap(), test.against_first.unwrap().ratio)
        })
        .collect();
    let expected =
        [(Finding::Same, 1.0, 1.0), (Finding::Regressed, 0.8, 0.8), (Finding::Regressed, 0.5, 0.4)];
    for ((finding, ratio, whole), (expected, step, from_first)) in steps.into_iter().zip(expected) {
        assert_eq!(finding, expected);
        assert!((ratio / step - 1.0).abs() < 0.01 && (whole / from_first - 1.0).abs() < 0.01);
    }
}

#[test]
fn the_steps_of_a_ladder_in_all_its_tests_are_one_family() {
    // The smallest p-value of six rounds is 2/64. With Holm's correction, it is small enough for one test but not
    // for six.
    let mut run = ladder(6);
    run.record.correction = Correction::Holm;
    let finding = |run: &Run| {
        let last = analysis(run).ladders[0].rungs.last().unwrap().tests[0].against_previous.clone();
        last.unwrap().finding
    };
    assert_eq!(finding(&run), Finding::NotEnoughEvidence);
    run.record.ladders = vec![record("innodb", &["binlog", "sync"])];
    run.steps[0].clients = vec![1];
    assert_eq!(finding(&run), Finding::Regressed);
}

#[test]
fn a_system_that_the_run_does_not_have_is_left_out() {
    let mut run = ladder(3);
    run.record.ladders = vec![record("a", &["fast", "none", "sync"]), record("b", &["fast", "none"])];
    let found = analysis(&run).ladders;
    assert_eq!((found.len(), found[0].rungs.len()), (1, 2));
    run.steps[0].seconds = None;
    assert_eq!(analysis(&run).ladders, [], "a load is no test of a ladder");
}

#[test]
fn a_step_that_failed_says_so_and_has_no_distance() {
    let mut run = ladder(3);
    crate::sample::fail(&mut run, "update", "binlog");
    let rungs = &analysis(&run).ladders[0].rungs;
    let failed = rungs[2].tests[0].against_previous.as_ref().unwrap();
    assert_eq!((failed.finding, failed.ratio), (Finding::Failed, None));
    assert!(rungs[2].tests[0].against_first.is_none());
    let after = rungs[3].tests[0].against_previous.as_ref().unwrap();
    assert_eq!((after.finding, &after.undecided), (Finding::Unjudged, &Some(Undecided::BaseFailed)));
    assert!(rungs[3].tests[0].against_first.is_some());
}

#[test]
fn changes_are_told_by_effective_values_where_both_servers_tell_them() {
    let system = |requested, variables: &[(&str, &str)], confinement| SystemRecord {
        name: "mysql@8.0.33/innodb".to_owned(),
        requested_settings: requested,
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        confinement,
        ..SystemRecord::default()
    };
    let before = system(
        json!({ "sync_binlog": "0", "log-bin": "false", "loose_x": "1", "innodb_doublewrite": "1", "skip_log_bin": "1" }),
        &[
            ("sync_binlog", "0"),
            ("log_bin", "OFF"),
            ("innodb_doublewrite", "ON"),
            ("performance_schema", "ON"),
        ],
        Some(json!({ "iops": 500, "memory": null })),
    );
    let after = system(
        json!({ "sync_binlog": "0", "log-bin": "ON", "innodb_doublewrite": "ON", "performance_schema": "OFF" }),
        &[("sync_binlog", "0"), ("log_bin", "ON"), ("innodb_doublewrite", "ON")],
        Some(json!({ "iops": 1000, "memory": null })),
    );
    let found: Vec<(String, Option<String>, Option<String>)> =
        changes(&before, &after).into_iter().map(|it| (it.name, it.before, it.after)).collect();
    let expected = [
        ("log-bin", Some("OFF"), Some("ON")),
        ("loose_x", Some("1"), None),
        ("performance_schema", Some("ON"), Some("OFF")),
        ("confinement.iops", Some("500"), Some("1000")),
    ]
    .map(|(name, before, after)| (name.to_owned(), before.map(str::to_owned), after.map(str::to_owned)));
    assert_eq!(found, expected);
    let other = SystemRecord { name: "mysql@9.7.4/innodb".to_owned(), ..before.clone() };
    assert_eq!(changes(&before, &other)[0].name, "engine");
    assert_eq!(changes(&before, &before), []);
}
