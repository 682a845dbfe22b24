//! Finds the causes of a difference, one after the other.

use super::effect::{Goal, Shows};
use super::narrow::Narrowed;
use super::{
    Cause, OrProbe, Probe, ProbeEffect, Proof, ProofEnding, ProofQuestion, Proving, Relation, Supply,
};

/// After causes have been found, the changes that are not among them may have an effect too. The search continues if
/// this effect is at least this share of the difference. The effect counts as small if its whole interval is below this
/// share.
const REST_SHARE_MIN: f64 = 0.2;

impl Proving {
    /// Finds the changes that cause the effect of all changes together. If an effect remains without these changes,
    /// finds the changes that cause this effect, and so on.
    pub(super) fn explain(
        &self,
        of_all: ProbeEffect,
        all: Vec<usize>,
        mut proof: Proof,
        supply: Supply,
    ) -> OrProbe<Proof> {
        let margin = self.question.margin;
        let (mut left, mut of_left) = (all, of_all);
        loop {
            let goal = Goal::part_of(of_left);
            let mut narrowed = self.narrow(&left, goal, supply)?;
            if self.is_everything(&narrowed.changes) {
                // So far, only the candidate has shown the difference. The candidate may differ from the base in
                // ways that are not among the changes, so the base with all changes is measured.
                match self.shows(&narrowed.changes, goal, supply)? {
                    Shows::Yes => {}
                    Shows::No => {
                        let all_changes = self.effect_of(&narrowed.changes, supply)?;
                        return Ok(Proof { all_changes, ..proof });
                    }
                    Shows::Unresolved => narrowed.is_smallest = false,
                }
            }
            if !narrowed.is_smallest && !proof.causes.is_empty() {
                proof.ending = ProofEnding::Partly;
                return Ok(proof);
            }
            left.retain(|change| !narrowed.changes.contains(change));
            let mut cause = self.cause(narrowed, &left, of_left, supply)?;
            if proof.causes.is_empty() {
                self.look_for_more(&mut cause, of_all, &mut proof, supply)?;
            }
            let (without, is_smallest) = (cause.without, cause.is_smallest);
            proof.causes.push(cause);
            proof.rest = without;
            if !is_smallest {
                proof.ending = ProofEnding::NotNarrowed;
                return Ok(proof);
            }
            let matters = |rest: &ProbeEffect| {
                rest.is_beyond(margin)
                    && rest.is_like(of_all.ratio)
                    && rest.share_of(&of_all) >= REST_SHARE_MIN
            };
            let Some(rest) = without.filter(matters) else {
                let is_small = |rest: ProbeEffect| {
                    rest.is_within(margin)
                        || rest.share_max(&of_all).is_some_and(|share| share < REST_SHARE_MIN)
                };
                let is_known = left.is_empty() || without.is_some_and(is_small);
                if !is_known {
                    self.repeat(&Probe::Changes(left), supply)?;
                }
                proof.ending = if is_known { ProofEnding::Proven } else { ProofEnding::Partly };
                return Ok(proof);
            };
            of_left = rest;
        }
    }

    /// If the effects of the first cause and of the remaining changes do not add up to the candidate's difference,
    /// finds out why. Either the cause and the remaining changes interact, or the candidate also differs from the base
    /// in other ways. A probe of all changes on the base shows which of the two is true.
    fn look_for_more(
        &self,
        cause: &mut Cause,
        of_candidate: ProbeEffect,
        proof: &mut Proof,
        supply: Supply,
    ) -> OrProbe<()> {
        let is_whole = |relation: Option<Relation>| {
            !matches!(relation, Some(Relation::MoreTogether | Relation::LessTogether))
        };
        let ProofQuestion { changes, margin, is_all, .. } = self.question;
        let Some(without) = cause.without.filter(|_| is_all && cause.is_smallest) else { return Ok(()) };
        if is_whole(cause.relation_to_rest) {
            return Ok(());
        }
        let all: Vec<usize> = (0..changes).collect();
        if let Some(on_base) = self.effect_of(&all, supply)? {
            cause.relation_to_rest = Some(Relation::of(&[cause.together, Some(without)], on_base, margin));
            let is_candidate = is_whole(Some(Relation::of(&[Some(on_base)], of_candidate, margin)));
            proof.all_changes = Some(on_base).filter(|_| !is_candidate);
        }
        Ok(())
    }

    /// Measures the effect of a cause as a whole, the effect of each of its changes alone, and the effect of the
    /// remaining changes.
    fn cause(
        &self,
        narrowed: Narrowed,
        left: &[usize],
        of_left: ProbeEffect,
        supply: Supply,
    ) -> OrProbe<Cause> {
        let margin = self.question.margin;
        let Narrowed { changes, is_smallest } = narrowed;
        let as_candidate = self.is_everything(&changes).then_some(of_left);
        let together = self.effect_of(&changes, supply)?.or(as_candidate);
        let without = if left.is_empty() { None } else { self.effect_of(left, supply)? };
        let mut alone = Vec::new();
        if changes.len() > 1 {
            for change in &changes {
                // A cause that was not narrowed has too many changes to measure each alone, so no probes are made for
                // it.
                let supply = if is_smallest { supply } else { Supply::Spent };
                alone.push(self.effect_of(&[*change], supply)?);
            }
        }
        let joint = together.filter(|_| changes.len() > 1 && is_smallest);
        let relation = joint.map(|joint| Relation::of(&alone, joint, margin));
        let relation_to_rest = without.map(|rest| Relation::of(&[together, Some(rest)], of_left, margin));
        Ok(Cause { changes, is_smallest, together, alone, relation, without, relation_to_rest })
    }
}
