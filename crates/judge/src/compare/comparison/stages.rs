//! Judges a run that stopped measuring some tests before the run's end. Each of these tests is judged by the rounds in
//! which it was measured.
//!
//! A run stops measuring a test only after a look (an interim analysis), and every look has its part of the error
//! probability. A test that stopped without an alarm still counts in the correction at later looks, with the rounds
//! that it has. A test that stopped with an alarm no longer counts if the correction is a step-down correction.
//! [`max_t`](dyno_stats::max_t) explains why the probability of a false alarm then stays within the bound. For Holm's
//! correction, this follows from each test's own p-value.

use std::collections::BTreeSet;

use dyno_store::{Correction, Run};

use super::alarmed::Alarmed;
use super::build::judge_together;
use super::gate::outcome;
use super::subject::Subject;
use super::{Finding, Judgement, TestComparison};
use crate::compare::rule::Rule;

/// Judges the systems of a run that stopped measuring some tests before the run's end. `None` if all tests were
/// measured to the end, if the run has a single look, or if several runs are compared.
pub(super) fn judge_in_stages(subjects: &[Subject<'_>], rule: &Rule) -> Option<Judgement> {
    let evidence = subjects.first()?.first().0.evidence;
    let run = evidence.run;
    let is_of_run = |subject: &Subject<'_>| subject.runs().all(|other| std::ptr::eq(other, run));
    if run.left_tests.is_empty() || rule.looks < 2 || !subjects.iter().all(is_of_run) {
        return None;
    }
    let goes_step_by_step = matches!(rule.correction(), Correction::MaxT | Correction::Holm);
    let ends: BTreeSet<u32> = run.left_tests.iter().map(|left| left.last_round).collect();
    let mut alarmed = Alarmed::default();
    let mut judged: Vec<(usize, TestComparison)> = Vec::new();
    let mut first_stage = None;
    for end in ends {
        let evidence = evidence.until(end);
        let until: Vec<Subject<'_>> = subjects.iter().map(|subject| subject.on(&evidence)).collect();
        let stage = judge_together(&until, &rule.at(run, end), &alarmed);
        for (at, comparison) in stage.comparisons.iter().enumerate() {
            for test in comparison.tests.iter().filter(|test| is_left(run, test, end)) {
                let has_alarm = matches!(test.finding, Finding::Improved | Finding::Regressed);
                if has_alarm && goes_step_by_step && !comparison.is_control {
                    alarmed.add(at, &test.step, test.clients);
                }
                judged.push((at, test.clone()));
            }
        }
        first_stage.get_or_insert(stage);
    }
    let mut judgement = judge_together(subjects, rule, &alarmed);
    for (at, test) in judged {
        let tests = &mut judgement.comparisons[at].tests;
        if let Some(place) = tests.iter_mut().find(|it| (&it.step, it.clients) == (&test.step, test.clients))
        {
            *place = test;
        }
    }
    // Means over tests use only the rounds in which all tests were measured. Later rounds would bias the means, because
    // they lack the tests that were decided first, which are the tests with the largest differences.
    for (comparison, first) in
        judgement.comparisons.iter_mut().zip(first_stage.into_iter().flat_map(|it| it.comparisons))
    {
        (comparison.groups, comparison.overall) = (first.groups, first.overall);
    }
    judgement.outcome = outcome(&judgement.comparisons);
    Some(judgement)
}

/// Whether this round was the last in which the test was measured.
fn is_left(run: &Run, test: &TestComparison, last_round: u32) -> bool {
    let mut left = run.left_tests.iter();
    left.any(|left| (&left.step, left.clients, left.last_round) == (&test.step, test.clients, last_round))
}
