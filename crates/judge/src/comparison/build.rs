//! Builds comparisons of systems of one or two runs.

use dyno_settings::NotInForce;
use dyno_store::{Correction, StepRecord};

use super::difference::differences;
use super::gate::outcome;
use super::group::{group_means, overall};
use super::member::Member;
use super::shared::adjusted_by_rounds;
use super::test::Measured;
use super::{ComparedSystem, Comparison, Judgement, Side};
use crate::evidence::Evidence;
use crate::in_force::same_systems;
use crate::noise;
use crate::rule::Rule;
use crate::trials::tests;

/// Compares each candidate with its base: `(base, candidate)`.
///
/// Rounds are paired within one run, and between two runs that were measured in turns. The rounds of other pairs of
/// runs are unpaired. All tests of all candidates are one family, and alarms are corrected for their number. The rule's
/// looks are at least those of the runs, and so is its correction unless it has one.
pub fn compare(subjects: &[(ComparedSystem<'_>, ComparedSystem<'_>)], rule: &Rule) -> Judgement {
    let mut evidence: Vec<Evidence<'_>> = Vec::new();
    for subject in subjects.iter().flat_map(|(base, candidate)| [base, candidate]) {
        if !evidence.iter().any(|known| std::ptr::eq(known.run, subject.run)) {
            evidence.push(Evidence::of(subject.run, subject.checks));
        }
    }
    let members: Vec<(Member<'_>, Member<'_>)> = subjects
        .iter()
        .filter_map(|(base, candidate)| {
            Some((Member::of(*base, &evidence)?, Member::of(*candidate, &evidence)?))
        })
        .collect();
    judge(&members, rule)
}

/// Judges candidates against bases as one family.
pub(crate) fn judge(members: &[(Member<'_>, Member<'_>)], rule: &Rule) -> Judgement {
    let runs = members.iter().flat_map(|(base, candidate)| [base.run(), candidate.run()]);
    let mut rule = rule.for_runs(runs);
    let same: Vec<Option<Vec<NotInForce>>> =
        members.iter().map(|(base, candidate)| same_systems(*base, *candidate)).collect();
    let pairs = members.iter().zip(&same);
    let measured: Vec<Vec<Measured<'_>>> =
        pairs.map(|((base, candidate), same)| measure(*base, *candidate, same.is_some(), &rule)).collect();
    let family = Family::of(members.iter().zip(&measured), &rule);
    rule.correction = Some(family.correction);
    let mut adjusted = family.adjusted.iter().copied();
    let comparisons: Vec<Comparison> = members
        .iter()
        .zip(&measured)
        .zip(same)
        .map(|(((base, candidate), measured), same_for)| {
            let is_control = is_control_pair(*base, *candidate, &rule);
            let judge = |test: &Measured<'_>| {
                let adjusted = match test.p(&rule) {
                    Some(alone) if is_control => Some(alone),
                    Some(_) => adjusted.next(),
                    None => None,
                };
                test.judge(adjusted, family.alarm_confidence, &rule)
            };
            Comparison {
                base: side(*base),
                candidate: side(*candidate),
                is_control,
                differences: differences(base.run(), candidate.run()),
                tests: measured.iter().map(judge).collect(),
                groups: if same_for.is_none() { group_means(measured, &rule) } else { Vec::new() },
                overall: overall(measured, &rule).filter(|_| same_for.is_none()),
                same_for,
            }
        })
        .collect();
    Judgement { outcome: outcome(&comparisons), comparisons, rule }
}

/// The adjusted p-values of all tests that can be judged, without controls.
struct Family {
    adjusted: Vec<f64>,
    /// How they were adjusted: tests that share no rounds by Holm's correction in place of max-T.
    correction: Correction,
    /// Confidence that an alarm needs in the worst case.
    alarm_confidence: f64,
}

impl Family {
    fn of<'a, 'b: 'a>(
        pairs: impl Iterator<Item = (&'a (Member<'b>, Member<'b>), &'a Vec<Measured<'b>>)>,
        rule: &Rule,
    ) -> Self {
        let judged = pairs.filter(|((base, candidate), _)| !is_control_pair(*base, *candidate, rule));
        let (tests, p): (Vec<&Measured<'_>>, Vec<f64>) =
            judged.flat_map(|(_, measured)| measured).filter_map(|test| Some((test, test.p(rule)?))).unzip();
        let correction = rule.correction();
        let by_rounds = (correction == Correction::MaxT).then(|| adjusted_by_rounds(&tests, rule)).flatten();
        match by_rounds {
            Some(adjusted) => Self { adjusted, correction, alarm_confidence: rule.confidence() },
            None => Self {
                adjusted: rule.adjust(&p),
                correction: if correction == Correction::MaxT { Correction::Holm } else { correction },
                alarm_confidence: rule.confidence_among(p.len()),
            },
        }
    }
}

/// Whether one system is the control of the other in a run.
fn is_control_pair(base: Member<'_>, candidate: Member<'_>, rule: &Rule) -> bool {
    let pair = (base.system, candidate.system);
    std::ptr::eq(base.run(), candidate.run())
        && noise::controls(base.run(), rule)
            .any(|(control, original)| [(control, original), (original, control)].contains(&pair))
}

fn measure<'a>(base: Member<'a>, candidate: Member<'a>, are_same: bool, rule: &Rule) -> Vec<Measured<'a>> {
    let is_wanted = |step: &StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
    tests(base.run())
        .filter(|(step, _)| is_wanted(step))
        .map(|(step, clients)| Measured::of(step, clients, base, candidate, are_same, rule))
        .collect()
}

fn side(member: Member<'_>) -> Side {
    let system = member.run().systems.iter().find(|system| system.id == member.system);
    Side {
        run: member.run().id.0,
        system: member.system.to_owned(),
        name: system.map(|system| system.name.clone()).unwrap_or_default(),
        engine_version: system.and_then(|system| system.engine_version.clone()),
        not_in_force: member.evidence.in_force.not(member.system).to_vec(),
    }
}
