//! Two systems that are compared, each in one session or several.

use dyno_settings::NotInForce;
use dyno_store::{Run, StepRecord};

use super::test::Measured;
use crate::compare::anchor::{self, SharedAnchor};
use crate::compare::noise;
use crate::compare::rule::Rule;
use crate::trial::evidence::Evidence;
use crate::trial::in_force::same_systems;
use crate::trial::member::Member;
use crate::trial::of_run::tests;

/// A candidate and its base. Each run is a session.
pub(crate) struct Subject<'a> {
    /// The base, once for each session in which it was measured. There is at least one.
    pub(super) base: Vec<Member<'a>>,
    /// The candidate, once for each session in which it was measured. There is at least one.
    pub(super) candidate: Vec<Member<'a>>,
    /// The anchor that the sessions share. `None` within one run, where rounds are paired, and if the anchor itself
    /// is compared.
    pub(super) anchor: Option<SharedAnchor>,
}

impl<'a> Subject<'a> {
    /// Two systems of one run.
    pub(crate) fn within(base: Member<'a>, candidate: Member<'a>) -> Self {
        Self { base: vec![base], candidate: vec![candidate], anchor: None }
    }

    /// The same two systems, with other evidence from the same run.
    pub(super) fn on<'b>(&self, evidence: &'b Evidence<'b>) -> Subject<'b>
    where
        'a: 'b,
    {
        let (base, candidate) = self.first();
        let member = |system| Member { evidence, system };
        Subject::within(member(base.system), member(candidate.system))
    }

    /// Two systems in their sessions. `None` if a side has no session.
    pub(super) fn of(base: Vec<Member<'a>>, candidate: Vec<Member<'a>>) -> Option<Self> {
        let (first, of_candidate) = (*base.first()?, *candidate.first()?);
        if base.len() + candidate.len() == 2 && std::ptr::eq(first.run(), of_candidate.run()) {
            return Some(Self::within(first, of_candidate));
        }
        let all = || base.iter().chain(&candidate);
        let is_anchor = |member: &Member<'_>| {
            anchor::of_run(member.run()).is_some_and(|anchor| anchor.id == member.system)
        };
        let others: Vec<&Run> = all().skip(1).map(|member| member.run()).collect();
        let anchor = SharedAnchor::of(first.run(), &others).filter(|_| !all().any(is_anchor));
        Some(Self { base, candidate, anchor })
    }

    /// Base and candidate in their first sessions.
    pub(super) fn first(&self) -> (Member<'a>, Member<'a>) {
        (self.base[0], self.candidate[0])
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &'a Run> + use<'a, '_> {
        self.base.iter().chain(&self.candidate).map(|member| member.run())
    }

    /// Whether figures are divided by the anchor's figures.
    pub(super) fn is_anchored(&self) -> bool {
        self.anchor.as_ref().is_some_and(SharedAnchor::is_used)
    }

    /// Whether one system is the control of the other in a run.
    pub(super) fn is_control(&self, rule: &Rule) -> bool {
        let (base, candidate) = self.first();
        let pair = (base.system, candidate.system);
        std::ptr::eq(base.run(), candidate.run())
            && noise::controls(base.run(), rule)
                .any(|(control, original)| [(control, original), (original, control)].contains(&pair))
    }

    /// The settings that should distinguish the two systems but are not in force, if the systems are the same because
    /// of this; `None` otherwise.
    pub(super) fn same_for(&self) -> Option<Vec<NotInForce>> {
        let (base, candidate) = self.first();
        same_systems(base, candidate)
    }

    /// Collects the measurements of both systems, for each test of the base's first run.
    pub(super) fn measure(&self, are_same: bool, rule: &Rule) -> Vec<Measured<'a>> {
        let is_wanted = |step: &StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
        tests(self.first().0.run())
            .filter(|(step, _)| is_wanted(step))
            .map(|(step, clients)| Measured::of(step, clients, self, are_same, rule))
            .collect()
    }
}
