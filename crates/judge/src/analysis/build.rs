//! Builds the analysis of a run.

use dyno_store::Run;

use super::Analysis;
use super::cell::cell;
use super::replication::replication;
use crate::analysis::test::Test;
use crate::compare::comparison::{Subject, judge};
use crate::compare::rule::Rule;
use crate::cost::price::frontiers;
use crate::effects::events::eventful_tests;
use crate::effects::hosts::hosts;
use crate::effects::joins::joined_tests;
use crate::effects::ladder::ladders;
use crate::effects::lags::lag_tests;
use crate::effects::replays::replays;
use crate::effects::sensitivity::sensitivities;
use crate::trial::check::TrialChecks;
use crate::trial::evidence::Evidence;
use crate::trial::in_force::not_in_force;
use crate::trial::member::Member;
use crate::trial::of_run::tests;

/// Judges a run. In every test, each system is compared with every other system as the base. `checks` are the checks of
/// the run's trials. The rule's look is replaced by the run's. The correction for the number of tests is the rule's if
/// the rule has one, and otherwise the run's.
pub fn analyse(run: &Run, checks: &TrialChecks, rule: &Rule) -> Analysis {
    let rule = Rule { looks: 1, look: None, ..rule.clone() }.for_runs([run]);
    let evidence = Evidence::of(run, checks);
    let member = |system| Member { evidence: &evidence, system };
    let ids = || run.systems.iter().map(|system| system.id.as_str());
    let against = |base| {
        let others = ids().filter(|id| *id != base);
        judge(&others.map(|other| Subject::within(member(base), member(other))).collect::<Vec<_>>(), &rule)
    };
    let against: Vec<_> = ids().map(against).collect();
    let base_at = run.systems.iter().position(|system| system.is_base).unwrap_or(0);
    let is_wanted = |step: &str| rule.steps.is_empty() || rule.steps.iter().any(|wanted| wanted == step);
    let tests: Vec<Test> = tests(run)
        .filter(|(step, _)| is_wanted(&step.id))
        .map(|(step, clients)| Test {
            group: step.group.clone(),
            step: step.id.clone(),
            clients,
            operation: step.operation,
            cells: ids().map(|system| cell(&evidence, step, clients, system, rule.margin)).collect(),
        })
        .collect();
    Analysis {
        replication: replication(&evidence, against.get(base_at)),
        systems: ids().map(str::to_owned).collect(),
        base: ids().nth(base_at).map(str::to_owned),
        not_in_force: not_in_force(run, &evidence.in_force),
        sensitivity: sensitivities(&evidence, &rule),
        joined: joined_tests(&evidence, ids().nth(base_at).unwrap_or_default(), &rule),
        events: eventful_tests(&evidence, ids().nth(base_at).unwrap_or_default(), &rule),
        lags: lag_tests(&evidence, ids().nth(base_at).unwrap_or_default(), &rule),
        replays: replays(&evidence, ids().nth(base_at).unwrap_or_default(), &rule),
        ladders: ladders(&evidence, &rule),
        frontiers: frontiers(run, &tests, &against),
        tests,
        hosts: hosts(run, against.get(base_at), &rule),
        against,
        rule,
    }
}
