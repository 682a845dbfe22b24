//! One test of two systems: its measurements and its verdict.

use std::collections::BTreeMap;

use dyno_stats::{
    Better, Margin, NestedComponents, RatioEstimate, Verdict, median, more_rounds, nested_components,
    rounds_a_side_min, rounds_min, rules_out_regression, verdict,
};
use dyno_store::{Correction, StepRecord, TrialRecord};

use super::alarmed::Alarmed;
use super::course::{NoLevel, counted_stalls, no_level, stalls};
use super::gate::GateVote;
use super::subject::Subject;
use super::system::{System, disturbed_rounds};
use super::{CostRatio, Finding, RoundRatio, TestComparison, TestWarning, Undecided};
use crate::compare::pair::{PairRound, Ratios, SystemTrials};
use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};
use crate::compare::sessions::Replicates;
use crate::trial::disturbance::DisturbedRounds;
use crate::trial::done::Done;
use crate::trial::of_run::pairs;
use crate::trial::quantity::Quantity;

/// The measurements of a test, without verdict.
pub(super) struct Measured<'a> {
    pub(super) step: &'a StepRecord,
    clients: u32,
    base: System<'a>,
    candidate: System<'a>,
    pub(super) alarm_margin: Margin,
    pub(super) ratios: Ratios,
    estimate: Option<RatioEstimate>,
    no_level: Option<NoLevel>,
    /// The system whose quantity is not known exactly in some round: only a lower bound is known.
    only_bounds: Option<&'a str>,
    /// Whether the settings that should distinguish the two systems are not in force, so that the systems are the
    /// same.
    are_same: bool,
    /// Rounds that do not count, because neighbours disturbed a trial of either system.
    disturbed: Option<DisturbedRounds>,
}

impl<'a> Measured<'a> {
    pub(super) fn of(
        step: &'a StepRecord,
        clients: u32,
        subject: &Subject<'a>,
        are_same: bool,
        rule: &Rule,
    ) -> Self {
        let side = |members: &[_]| System::of(members, subject.is_anchored(), &step.id, clients);
        let (base, candidate) = (side(&subject.base), side(&subject.candidate));
        let margin = |side: &System<'_>| side.alarm_margin(&step.id, clients, rule);
        let alarm_margin = margin(&base).max(margin(&candidate));
        let ratios = Ratios::between(&base.sessions(), &candidate.sessions(), rule.quantity);
        let estimate = ratios.estimate(alarm_margin, rule.confidence());
        // A load of data is a fixed amount of work and not a steady state, so its rate may change.
        let is_timed = step.seconds.is_some();
        let no_level = is_timed.then(|| no_level(&base, &candidate)).flatten();
        let has_bounds = |system: &&System<'_>| system.has_only_bounds(rule.quantity);
        let only_bounds = [&base, &candidate].into_iter().find(has_bounds).map(|system| system.id);
        let disturbed = disturbed_rounds(&base, &candidate);
        Self {
            step,
            clients,
            base,
            candidate,
            alarm_margin,
            ratios,
            estimate,
            no_level,
            only_bounds,
            are_same,
            disturbed,
        }
    }

    /// Whether this test of the subject with this index already has an alarm.
    pub(super) fn is_among(&self, alarmed: &Alarmed, subject: usize) -> bool {
        alarmed.has(subject, &self.step.id, self.clients)
    }

    /// The test's p-value without adjustment for the number of looks. `None` if the test cannot be judged.
    pub(super) fn p_of_look(&self, rule: &Rule) -> Option<f64> {
        Some(self.estimate.filter(|_| self.never(rule).is_none())?.p())
    }

    /// The test's p-value, adjusted for the number of looks. `None` if the test cannot be judged.
    pub(super) fn p(&self, rule: &Rule) -> Option<f64> {
        Some(rule.over_looks(self.p_of_look(rule)?))
    }

    pub(super) fn judge(
        &self,
        p_adjusted: Option<f64>,
        alarm_confidence: f64,
        rule: &Rule,
    ) -> TestComparison {
        let (finding, undecided) = self.finding(p_adjusted, alarm_confidence, rule);
        let interval = self.estimate.and_then(|estimate| estimate.interval);
        let has_replicates = self.ratios.len() >= self.rounds_least(rule);
        let rules_out_regression = has_replicates
            && finding != Finding::Failed
            && rules_out_regression(interval, rule.margin, rule.quantity.better());
        let NestedComponents { between_loads, between_instances } = self.components();
        TestComparison {
            group: self.step.group.clone(),
            step: self.step.id.clone(),
            clients: self.clients,
            operation: self.step.operation,
            finding,
            gate: GateVote::of(
                finding,
                rules_out_regression,
                self.is_base_judgeable(undecided.as_ref(), rule),
            ),
            undecided,
            disturbed: self.disturbed,
            base: self.base.median(rule.quantity),
            candidate: self.candidate.median(rule.quantity),
            base_rounds: self.base.completed(),
            candidate_rounds: self.candidate.completed(),
            ratio: self.estimate.map(|estimate| estimate.ratio),
            interval,
            method: self.estimate.map_or(dyno_stats::Method::None, |estimate| estimate.method),
            replicates: self.ratios.replicates(),
            rounds: self.ratios.rounds().iter().map(RoundRatio::of).collect(),
            margin: rule.margin,
            alarm_margin: self.alarm_margin,
            p: self.p(rule),
            p_adjusted,
            more_rounds: (finding == Finding::NotEnoughEvidence)
                .then(|| self.more_rounds(alarm_confidence, rule))
                .flatten(),
            rules_out_regression,
            between_loads,
            between_instances,
            between_slices: between_slices(self.ratios.rounds()),
            costs: self.costs(rule),
            warnings: self.warnings(rule),
        }
    }

    fn finding(
        &self,
        p_adjusted: Option<f64>,
        alarm_confidence: f64,
        rule: &Rule,
    ) -> (Finding, Option<Undecided>) {
        if let Some(found) = self.never(rule) {
            return found;
        }
        let rounds = self.ratios.len();
        let lacks = |undecided| (Finding::NotEnoughEvidence, Some(undecided));
        let least = self.rounds_least(rule);
        let Some((estimate, p)) = self.estimate.zip(p_adjusted).filter(|_| rounds >= least) else {
            return lacks(self.too_few_rounds(least));
        };
        if p <= rule.alpha {
            let is_above = estimate.p_above < estimate.p_below;
            let is_better = is_above == (rule.quantity.better() == Better::Higher);
            return (if is_better { Finding::Improved } else { Finding::Regressed }, None);
        }
        if verdict(estimate.interval, rule.margin, rule.quantity.better()) == Verdict::Same {
            return (Finding::Same, None);
        }
        let wanted = self.rounds_min(estimate, alarm_confidence, rule);
        lacks(if rounds < wanted { self.too_few_rounds(wanted) } else { Undecided::Interval })
    }

    /// The reason why there are fewer than `wanted` rounds.
    fn too_few_rounds(&self, wanted: usize) -> Undecided {
        let rounds = self.ratios.len();
        let sessions = match &self.ratios {
            Ratios::Sessions(pairs) => Some(pairs.sessions()),
            ratios => (ratios.replicates() == Replicates::AnchoredSessions).then_some(rounds),
        };
        match (self.disturbed, sessions) {
            (Some(disturbed), None) if rounds + disturbed.rounds >= wanted => Undecided::Disturbed(disturbed),
            (Some(disturbed), _) if sessions.unwrap_or(rounds) == 0 => Undecided::Disturbed(disturbed),
            (_, None) => Undecided::TooFewRounds { rounds, wanted },
            (_, Some(sessions)) if sessions < wanted => Undecided::TooFewSessions { sessions, wanted },
            _ => Undecided::NotAlternating { pairs: rounds, wanted },
        }
    }

    /// The finding if further rounds cannot change it; `None` if they can.
    fn never(&self, rule: &Rule) -> Option<(Finding, Option<Undecided>)> {
        let unjudged = |undecided| Some((Finding::Unjudged, Some(undecided)));
        let is_unplanned = |it: &&System<'_>| self.step.not_for.iter().any(|id| id == it.id);
        if let Some(system) = [&self.base, &self.candidate].into_iter().find(is_unplanned) {
            return unjudged(Undecided::NotPlanned { system: system.id.to_owned() });
        }
        if self.failed_rounds() > 0 {
            return Some((Finding::Failed, None));
        }
        if self.are_same {
            return unjudged(Undecided::SameSystem);
        }
        if self.base.completed() == 0 && self.base.failed() > 0 {
            return unjudged(Undecided::BaseFailed);
        }
        if self.is_measured_once() {
            return unjudged(Undecided::MeasuredOnce);
        }
        if let Some(system) = self.only_bounds {
            return unjudged(Undecided::OnlyBounds { system: system.to_owned() });
        }
        if let Some(why) = self.nothing_done(rule) {
            return unjudged(why);
        }
        if self.estimate.is_none() && self.base.completed() > 0 && self.candidate.completed() > 0 {
            return unjudged(Undecided::NotMeasured);
        }
        if self.ratios.replicates() == Replicates::OneSession && self.estimate.is_some() {
            return unjudged(Undecided::OneSession);
        }
        let no_level = self.no_level?;
        if let Some(change) = no_level.decay {
            return Some((Finding::Decays, Some(Undecided::Decays { change })));
        }
        let system = if no_level.base_moves_more { &self.base } else { &self.candidate };
        unjudged(Undecided::NoLevel { system: system.id.to_owned() })
    }

    /// Whether the base's own figures could be judged, although the comparison has no verdict for the reason
    /// `undecided`.
    fn is_base_judgeable(&self, undecided: Option<&Undecided>, rule: &Rule) -> bool {
        match undecided {
            Some(Undecided::NoLevel { .. }) => self.no_level.is_none_or(|no_level| no_level.is_base_steady),
            Some(Undecided::OnlyBounds { .. }) => !self.base.has_only_bounds(rule.quantity),
            Some(Undecided::NotMeasured | Undecided::NothingDone { .. }) => {
                self.base.median(rule.quantity).is_some_and(|figure| figure > 0.0)
            }
            Some(
                Undecided::MeasuredOnce
                | Undecided::NothingDue
                | Undecided::BaseFailed
                | Undecided::NotPlanned { .. }
                | Undecided::SameSystem,
            ) => false,
            Some(
                Undecided::TooFewRounds { .. }
                | Undecided::TooFewSessions { .. }
                | Undecided::NotAlternating { .. }
                | Undecided::OneSession
                | Undecided::Disturbed(_)
                | Undecided::Interval
                | Undecided::Decays { .. },
            )
            | None => true,
        }
    }

    /// Why the throughput has no ratio; `None` if it has a ratio. Rounds in which a system finished no operation are
    /// not left out, because they are the system's worst rounds.
    fn nothing_done(&self, rule: &Rule) -> Option<Undecided> {
        if rule.quantity != Quantity::Throughput {
            return None;
        }
        let both = [&self.base, &self.candidate];
        if both.into_iter().all(|system| system.always(|done| done == Done::NothingDue)) {
            return Some(Undecided::NothingDue);
        }
        let parts = self.base.parts().zip(self.candidate.parts());
        let mut paired = parts.flat_map(|(base, own)| pairs(base.trials, own.trials));
        let alone = paired.find_map(|(base, own)| match (Done::of(&base.record), Done::of(&own.record)) {
            (Done::Something, Done::Something) => None,
            (Done::Something, _) => Some(&self.candidate),
            (_, Done::Something) => Some(&self.base),
            _ => None,
        });
        let idle = || both.into_iter().find(|system| system.always(|done| done != Done::Something));
        let system = alone.or_else(idle)?;
        Some(Undecided::NothingDone { system: system.id.to_owned() })
    }

    /// Number of rounds in which the candidate failed and the base did not. If rounds are unpaired, it is the number of
    /// the candidate's failed rounds, or 0 if the candidate did not fail in a larger share of rounds than the base.
    fn failed_rounds(&self) -> usize {
        if !matches!(self.ratios, Ratios::Paired(_)) {
            let share = |system: &System<'_>| system.failed() as f64 / system.tried().max(1) as f64;
            let is_worse = self.base.completed() > 0 && share(&self.candidate) > share(&self.base);
            return if is_worse { self.candidate.failed() } else { 0 };
        }
        let of_base = self.base.parts().flat_map(|part| part.trials);
        let completed = |round: &&u32| of_base.clone().any(|trial| trial.record.round == **round);
        self.candidate.failed_in_first().iter().filter(completed).count()
    }

    /// Whether the test is a load of data that cannot be judged, because it is measured in only some rounds. In the
    /// other rounds, the data is restored. If sessions are the replicates, a load can be judged, because every session
    /// measures it.
    fn is_measured_once(&self) -> bool {
        let is_so = self.step.command == "prepare" && self.base.has_more_rounds_than(self.step);
        let is_by_session =
            matches!(self.ratios.replicates(), Replicates::PairedSessions | Replicates::AnchoredSessions);
        is_so && !is_by_session
    }

    /// The fewest rounds or pairs of sessions that allow any verdict. For unpaired values, the fewest values of each
    /// system.
    fn rounds_least(&self, rule: &Rule) -> usize {
        match self.ratios {
            Ratios::Paired(_) | Ratios::Sessions(_) => ROUNDS_WITH_VERDICT_MIN,
            Ratios::Unpaired(_) => rounds_a_side_min(rule.confidence()),
        }
    }

    /// Fewest rounds for the verdict that the estimate suggests. If the estimate lies beyond the margin of alarms, that
    /// verdict is an alarm, which is corrected for the number of tests. Otherwise the verdict is "the same", which is
    /// judged for each test alone.
    fn rounds_min(&self, estimate: RatioEstimate, alarm_confidence: f64, rule: &Rule) -> usize {
        let confidence = self.confidence_wanted(estimate, alarm_confidence, rule);
        let is_by_reversals = rule.correction() == Correction::MaxT && self.is_beyond(estimate);
        match (&self.ratios, estimate.method) {
            (Ratios::Unpaired(_), _) => rounds_a_side_min(confidence),
            (_, dyno_stats::Method::Exact) => rounds_min(confidence),
            _ if is_by_reversals => rounds_min(confidence),
            _ => ROUNDS_WITH_VERDICT_MIN,
        }
    }

    fn confidence_wanted(&self, estimate: RatioEstimate, alarm_confidence: f64, rule: &Rule) -> f64 {
        if self.is_beyond(estimate) { alarm_confidence } else { rule.confidence() }
    }

    fn is_beyond(&self, estimate: RatioEstimate) -> bool {
        estimate.ratio > self.alarm_margin.high() || estimate.ratio < self.alarm_margin.low()
    }

    fn more_rounds(&self, alarm_confidence: f64, rule: &Rule) -> Option<usize> {
        let rounds = self.ratios.len();
        let confidence = self
            .estimate
            .map_or(rule.confidence(), |estimate| self.confidence_wanted(estimate, alarm_confidence, rule));
        let least = match self.ratios {
            Ratios::Paired(_) => rounds_min(confidence),
            Ratios::Sessions(_) => rounds_min(confidence).max(ROUNDS_WITH_VERDICT_MIN),
            Ratios::Unpaired(_) => rounds_a_side_min(confidence),
        };
        // With one round, the estimate is not used: its interval does not hold for other instances of the systems.
        let estimate = self.ratios.estimate(self.alarm_margin, confidence).filter(|_| rounds > 1);
        let is_beyond = self.estimate.is_some_and(|estimate| self.is_beyond(estimate));
        let margin = if is_beyond { self.alarm_margin } else { rule.margin };
        more_rounds(
            estimate.map_or(1.0, |estimate| estimate.ratio),
            estimate.and_then(|estimate| estimate.interval),
            rounds,
            least,
            margin,
        )
    }

    /// How much log ratios vary between separate loads of the data and between instances, as standard deviations.
    fn components(&self) -> NestedComponents {
        let evidence = self.base.parts().next().map(|part| part.evidence);
        let mut loads: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for round in self.ratios.rounds() {
            let load = evidence.map_or(0, |evidence| evidence.load_of(round.round));
            loads.entry(load).or_default().push(round.ln_ratio);
        }
        let errors = self.ratios.rounds().iter().filter_map(|round| round.slices?.standard_error);
        nested_components(&loads.into_values().collect::<Vec<_>>(), &errors.collect::<Vec<_>>())
    }

    fn costs(&self, rule: &Rule) -> BTreeMap<Quantity, CostRatio> {
        let others = Quantity::ALL.iter().map(|(_, quantity)| *quantity);
        others
            .filter(|quantity| *quantity != rule.quantity)
            .filter(|quantity| {
                ![&self.base, &self.candidate].into_iter().any(|system| system.has_only_bounds(*quantity))
            })
            .filter_map(|quantity| {
                let ratios = Ratios::between(&self.base.sessions(), &self.candidate.sessions(), quantity);
                let found = ratios.estimate(rule.margin, rule.confidence())?;
                let RatioEstimate { ratio, interval, method, .. } = found;
                Some((quantity, CostRatio { ratio, interval, method }))
            })
            .collect()
    }

    fn warnings(&self, rule: &Rule) -> Vec<TestWarning> {
        let mut warnings: Vec<TestWarning> = Vec::new();
        let rounds = self.ratios.rounds();
        warnings.extend(stalls(rounds, rule.margin).map(|whole_ratio| TestWarning::Stalls { whole_ratio }));
        warnings
            .extend(counted_stalls(rounds).map(|sliced_ratio| TestWarning::StallsCounted { sliced_ratio }));
        let rounds = self.failed_rounds();
        if rounds > 0 {
            warnings.push(TestWarning::CandidateFailed { rounds, of: self.base.completed() });
        }
        if self.base.failed() > 0 {
            let rounds = self.base.failed();
            warnings.push(TestWarning::BaseFailed { rounds, of: self.base.tried() });
        }
        for system in [&self.base, &self.candidate] {
            if system.lives_on() {
                warnings.push(TestWarning::NotFresh { system: system.id.to_owned() });
            }
        }
        for (system, other) in [(&self.base, &self.candidate), (&self.candidate, &self.base)] {
            let parts = system.parts().zip(other.parts());
            let rounds = parts.map(|(own, other)| rounds_pinned_alone(own, other)).sum();
            if rounds > 0 {
                warnings.push(TestWarning::PinnedAlone { system: system.id.to_owned(), rounds });
            }
        }
        warnings
    }
}

/// Number of rounds of a run in which the threads of `one` were pinned to cores and those of `other` were not. Rounds
/// in which `other` is an in-process engine do not count, because such an engine has no client threads that could be
/// pinned. The record of an in-process engine has no CPU time of clients.
fn rounds_pinned_alone(one: SystemTrials<'_>, other: SystemTrials<'_>) -> usize {
    if !one.is_of_run(other) {
        return 0;
    }
    let is_free = |trial: &TrialRecord| !trial.is_pinned() && trial.usage.client_user_cpu_us.is_some();
    pairs(other.trials, one.trials)
        .filter(|(other, one)| one.record.is_pinned() && is_free(&other.record))
        .count()
}

/// Standard deviation of log ratios between neighbouring slices: the median over rounds.
fn between_slices(rounds: &[PairRound]) -> Option<f64> {
    let of_slices = rounds.iter().filter_map(|round| round.slices?.between_slices);
    median(&of_slices.collect::<Vec<_>>())
}
