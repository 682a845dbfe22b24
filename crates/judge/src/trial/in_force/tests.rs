use dyno_store::{Configuration, FactorLevel, Run};
use serde_json::json;

use crate::compare::comparison::{Finding, GateOutcome, Undecided};
use crate::sample::{add_step, around, run};
use crate::trial::check::TrialChecks;
use crate::{Claim, ClaimState, ComparedSystem, Rule, analyse, compare};

/// A run of systems that request these numbers of instances of the buffer pool. Their servers report the number
/// `found`. The second system is twice as fast as the first, for another reason.
fn pools(asked: &[&str], found: &str) -> Run {
    let ids: Vec<String> = asked.iter().map(|asked| format!("pool.instances-{asked}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut run = run(1, &ids);
    for (system, asked) in run.systems.iter_mut().zip(asked) {
        system.engine_version = Some("10.4.2-MariaDB".to_owned());
        system.requested_settings = json!({ "innodb_buffer_pool_instances": asked, "sync_binlog": "1" });
        system.variables = [
            ("version", "10.4.2-MariaDB"),
            ("Innodb_buffer_pool_instances", found),
            ("sync_binlog", "1"),
            ("port", asked),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        let level = FactorLevel { factor: "instances".to_owned(), level: (*asked).to_owned() };
        system.configuration = Some(Configuration { sweep: "pool".to_owned(), levels: vec![level] });
    }
    let rates: Vec<(&str, Vec<f64>)> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| (*id, around(if at == 1 { 200.0 } else { 100.0 }, 0.002, 8, at as u64)))
        .collect();
    add_step(&mut run, "writes", "update", 8, &rates);
    run
}

#[test]
fn a_sweep_whose_setting_is_not_in_force_has_no_sensitivity_and_no_verdict() {
    let run = pools(&["1", "8"], "1");
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    assert_eq!(analysis.sensitivity, []);
    let [told] = analysis.not_in_force.as_slice() else { panic!("{:?}", analysis.not_in_force) };
    assert_eq!(
        (told.system.as_str(), &told.same_as),
        (&*run.systems[1].id, &vec![run.systems[0].id.clone()])
    );
    assert_eq!(told.settings[0].to_string(), "innodb_buffer_pool_instances = 8 (the server has 1)");

    let comparison = &analysis.against[0].comparisons[0];
    assert_eq!(comparison.same_for.as_ref(), Some(&told.settings));
    assert_eq!((&comparison.overall, comparison.groups.len()), (&None, 0));
    let test = &comparison.tests[0];
    assert_eq!((test.finding, &test.undecided), (Finding::Unjudged, &Some(Undecided::SameSystem)));
    assert!(test.ratio.is_some_and(|ratio| ratio > 1.9), "the figures stay");
    assert_eq!(analysis.against[0].outcome, GateOutcome::NotDecided);
}

#[test]
fn a_claim_on_two_systems_that_are_the_same_is_inconclusive() {
    let run = pools(&["1", "8"], "1");
    let judge = |claim: &str| Claim::parse(claim).unwrap().judge(&run, &TrialChecks::new()).unwrap();
    let [one, eight] = [&run.systems[0].id, &run.systems[1].id];
    let of_two = judge(&format!("ratio(\"{eight}\", \"{one}\", tps) > 1.5"));
    assert_eq!(of_two.state, ClaimState::Inconclusive);
    assert_eq!(
        of_two.reason.unwrap(),
        format!("{one} and {eight} are the same system: the settings in which they differ are not in force")
    );
    let of_one = judge(&format!("value(\"{eight}\", tps) > 150"));
    assert_eq!((of_one.state, of_one.reason), (ClaimState::Supported, None));
}

#[test]
fn what_is_in_force_is_judged_beside_what_is_not() {
    let mut run = pools(&["1", "2", "8"], "1");
    run.systems[1].variables[1].1 = "2".to_owned();
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    let [sensitivity] = analysis.sensitivity.as_slice() else { panic!("two configurations are in force") };
    let [factor] = sensitivity.factors.as_slice() else { panic!("one factor") };
    let levels: Vec<&str> = factor.levels.iter().map(|level| level.level.as_str()).collect();
    assert_eq!((factor.reference.as_str(), levels.as_slice()), ("1", ["2"].as_slice()));
    let findings = |base: usize| -> Vec<Finding> {
        analysis.against[base].comparisons.iter().map(|comparison| comparison.tests[0].finding).collect()
    };
    assert_eq!(findings(0), [Finding::Improved, Finding::Unjudged]);
    assert_eq!(findings(1), [Finding::Regressed, Finding::Regressed]);
}

#[test]
fn systems_of_two_runs_can_be_the_same_too() {
    let (old, mut new) = (pools(&["1"], "1"), pools(&["8"], "1"));
    new.id = dyno_store::RunId(2);
    let checks = TrialChecks::new();
    let subject = |run| ComparedSystem { run, checks: &checks, system: "pool.instances-1" };
    let candidate = ComparedSystem { run: &new, checks: &checks, system: "pool.instances-8" };
    let judgement = compare(&[(subject(&old), candidate)], &Rule::default());
    assert!(judgement.comparisons[0].same_for.is_some());
    new.systems[0].confinement = Some(json!({ "iops": 500 }));
    let candidate = ComparedSystem { run: &new, checks: &checks, system: "pool.instances-8" };
    let judgement = compare(&[(subject(&old), candidate)], &Rule::default());
    assert_eq!(judgement.comparisons[0].same_for, None, "their limits differ");
}

#[test]
fn a_setting_that_is_not_in_force_anywhere_is_told_and_judges_nothing() {
    let mut run = pools(&["1", "2"], "1");
    run.systems[1].variables[1].1 = "2".to_owned();
    for system in &mut run.systems {
        system.requested_settings["sync_binlog"] = json!("7");
    }
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    let told: Vec<_> = analysis.not_in_force.iter().map(|it| (it.settings.len(), it.same_as.len())).collect();
    assert_eq!(told, [(1, 0), (1, 0)]);
    assert_eq!(analysis.against[0].comparisons[0].tests[0].finding, Finding::Improved);
    assert_eq!(analysis.sensitivity.len(), 1);
}
