//! Builds comparisons of systems of one run or several.

use dyno_settings::NotInForce;
use dyno_store::Correction;

use super::alarmed::Alarmed;
use super::difference::differences;
use super::gate::outcome;
use super::group::{group_means, overall};
use super::shared::adjusted_by_rounds;
use super::stages::judge_in_stages;
use super::subject::Subject;
use super::test::Measured;
use super::{Comparison, Judgement, Side};
use crate::compare::rule::Rule;
use crate::trial::evidence::Evidence;
use crate::trial::member::{ComparedSystem, Member};

/// Compares each candidate with its base. A subject is `(base, candidate)`.
///
/// Rounds are paired within one run, and between two runs that were measured in turns. Other pairs of runs have a
/// verdict only if both contain the same anchor. All tests of all candidates are one family, and alarms are corrected
/// for the number of tests. If the runs have reached different looks, the strictest look applies. The correction is the
/// rule's if the rule has one, and otherwise the runs'.
pub fn compare(subjects: &[(ComparedSystem<'_>, ComparedSystem<'_>)], rule: &Rule) -> Judgement {
    let sides: Vec<_> = subjects.iter().map(|(base, candidate)| (vec![*base], vec![*candidate])).collect();
    compare_sessions(&sides, rule)
}

/// Compares each candidate with its base. Each side may have several sessions, and each run is a session. If a side has
/// several sessions, the sessions are the replicates: each session is paired with a session of the other side that is
/// its neighbour in time, or its figures are divided by the anchor's figures. A subject without a session on one side
/// is left out.
pub fn compare_sessions(
    subjects: &[(Vec<ComparedSystem<'_>>, Vec<ComparedSystem<'_>>)],
    rule: &Rule,
) -> Judgement {
    let mut evidence: Vec<Evidence<'_>> = Vec::new();
    for subject in subjects.iter().flat_map(|(base, candidate)| base.iter().chain(candidate)) {
        if !evidence.iter().any(|known| std::ptr::eq(known.run, subject.run)) {
            evidence.push(Evidence::of(subject.run, subject.checks));
        }
    }
    let subjects: Vec<Subject<'_>> = subjects
        .iter()
        .filter_map(|(base, candidate)| Subject::of(members(base, &evidence), members(candidate, &evidence)))
        .collect();
    judge(&subjects, rule)
}

fn members<'a>(side: &[ComparedSystem<'a>], evidence: &'a [Evidence<'a>]) -> Vec<Member<'a>> {
    side.iter().filter_map(|session| Member::of(*session, evidence)).collect()
}

/// Judges candidates against bases as one family. A test that a run stopped measuring early is judged by the rounds in
/// which it was measured.
pub(crate) fn judge(subjects: &[Subject<'_>], rule: &Rule) -> Judgement {
    let rule = rule.for_runs(subjects.iter().flat_map(Subject::runs));
    judge_in_stages(subjects, &rule).unwrap_or_else(|| judge_together(subjects, &rule, &Alarmed::default()))
}

/// Judges candidates against bases as one family, by all rounds that were measured. Tests that already have an
/// alarm (`alarmed`) no longer belong to the family.
pub(super) fn judge_together(subjects: &[Subject<'_>], rule: &Rule, alarmed: &Alarmed) -> Judgement {
    let mut rule = rule.clone();
    let same: Vec<Option<Vec<NotInForce>>> = subjects.iter().map(Subject::same_for).collect();
    let measured: Vec<Vec<Measured<'_>>> =
        subjects.iter().zip(&same).map(|(subject, same)| subject.measure(same.is_some(), &rule)).collect();
    let family = Family::of(subjects.iter().zip(&measured), alarmed, &rule);
    rule.correction = Some(family.correction);
    let mut adjusted = family.adjusted.iter().copied();
    let comparisons: Vec<Comparison> = subjects
        .iter()
        .zip(&measured)
        .zip(same)
        .enumerate()
        .map(|(at, ((subject, measured), same_for))| {
            let is_control = subject.is_control(&rule);
            let judge = |test: &Measured<'_>| {
                let adjusted = match test.p(&rule) {
                    Some(alone) if is_control => Some(alone),
                    Some(_) if !test.is_among(alarmed, at) => adjusted.next(),
                    _ => None,
                };
                test.judge(adjusted, family.alarm_confidence, &rule)
            };
            Comparison {
                base: side(&subject.base),
                candidate: side(&subject.candidate),
                is_control,
                differences: differences(&subject.base, &subject.candidate),
                anchor: subject.anchor.clone(),
                tests: measured.iter().map(judge).collect(),
                groups: if same_for.is_none() { group_means(measured, &rule) } else { Vec::new() },
                overall: overall(measured, &rule).filter(|_| same_for.is_none()),
                same_for,
            }
        })
        .collect();
    Judgement { outcome: outcome(&comparisons), comparisons, rule }
}

/// The adjusted p-values of all tests that can be judged, except those of controls.
struct Family {
    adjusted: Vec<f64>,
    /// The correction that was applied. If the tests do not share rounds, Holm's correction replaces max-T.
    correction: Correction,
    /// The highest confidence that the correction may require before a test counts as an alarm.
    alarm_confidence: f64,
}

impl Family {
    fn of<'a, 'b: 'a>(
        subjects: impl Iterator<Item = (&'a Subject<'b>, &'a Vec<Measured<'b>>)>,
        alarmed: &Alarmed,
        rule: &Rule,
    ) -> Self {
        let judged = subjects.enumerate().filter(|(_, (subject, _))| !subject.is_control(rule));
        let (tests, p): (Vec<&Measured<'_>>, Vec<f64>) = judged
            .flat_map(|(at, (_, measured))| measured.iter().filter(move |test| !test.is_among(alarmed, at)))
            .filter_map(|test| Some((test, test.p_of_look(rule)?)))
            .unzip();
        let by_rounds = || adjusted_by_rounds(&tests, rule);
        let (adjusted, correction) = match rule.correction() {
            Correction::MaxT => match by_rounds() {
                Some(adjusted) => (adjusted, Correction::MaxT),
                None => (rule.adjust_over_looks(&p), Correction::Holm),
            },
            correction => (rule.adjust_over_looks(&p), correction),
        };
        Self { adjusted, correction, alarm_confidence: rule.confidence_among(correction, p.len()) }
    }
}

/// A side of a comparison, with the system's name and version in its first session.
fn side(members: &[Member<'_>]) -> Side {
    let member = members[0];
    let system = member.run().systems.iter().find(|system| system.id == member.system);
    Side {
        run: member.run().id.0,
        runs: members.iter().map(|member| member.run().id.0).collect(),
        system: member.system.to_owned(),
        name: system.map(|system| system.name.clone()).unwrap_or_default(),
        engine_version: system.and_then(|system| system.engine_version.clone()),
        not_in_force: member.evidence.in_force.not(member.system).to_vec(),
    }
}
