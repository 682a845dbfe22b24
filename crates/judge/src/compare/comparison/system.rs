//! A side of a test: a system in each of its sessions.

use std::collections::{BTreeMap, BTreeSet};

use dyno_stats::{Margin, median};
use dyno_store::{StepRecord, Trial};

use crate::compare::anchor;
use crate::compare::noise;
use crate::compare::pair::SystemTrials;
use crate::compare::rule::Rule;
use crate::compare::sessions::Session;
use crate::trial::disturbance::{Disturbance, DisturbedRounds};
use crate::trial::done::Done;
use crate::trial::member::Member;
use crate::trial::quantity::Quantity;

pub(super) struct System<'a> {
    /// The system's id in its first session.
    pub(super) id: &'a str,
    sessions: Vec<OfSession<'a>>,
}

struct OfSession<'a> {
    member: Member<'a>,
    trials: Session<'a>,
    /// Rounds in which the system's trial failed.
    failed: &'a [u32],
    /// Rounds that do not count, because neighbours disturbed the system's trial or the anchor's trial.
    disturbed: Vec<(u32, Disturbance)>,
}

impl<'a> System<'a> {
    /// A system in a test. If `is_anchored`, its figures are divided by the anchor's figures.
    pub(super) fn of(members: &[Member<'a>], is_anchored: bool, step: &str, clients: u32) -> Self {
        let session = |member: &Member<'a>| {
            let evidence = member.evidence;
            let anchor = anchor::of_run(evidence.run).filter(|_| is_anchored).map(|it| it.id.as_str());
            let part = |system| SystemTrials::of(evidence, step, clients, system);
            let disturbed = |system| evidence.trials.disturbed(step, clients, system).iter().copied();
            OfSession {
                member: *member,
                trials: Session { part: part(member.system), anchor: anchor.map(part) },
                failed: evidence.trials.failed(step, clients, member.system),
                disturbed: [member.system].into_iter().chain(anchor).flat_map(disturbed).collect(),
            }
        };
        let id = members.first().map_or("", |member| member.system);
        Self { id, sessions: members.iter().map(session).collect() }
    }

    pub(super) fn sessions(&self) -> Vec<Session<'a>> {
        self.sessions.iter().map(|session| session.trials).collect()
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = SystemTrials<'a>> + Clone + use<'a, '_> {
        self.sessions.iter().map(|session| session.trials.part)
    }

    /// The system's completed trials in all sessions.
    fn trials(&self) -> impl Iterator<Item = (SystemTrials<'a>, &'a Trial)> {
        self.parts().flat_map(|part| part.trials.iter().map(move |trial| (part, *trial)))
    }

    /// The rounds of the first session in which this system's trial failed.
    pub(super) fn failed_in_first(&self) -> &[u32] {
        self.sessions.first().map_or(&[], |session| session.failed)
    }

    pub(super) fn failed(&self) -> usize {
        self.sessions.iter().map(|session| session.failed.len()).sum()
    }

    pub(super) fn completed(&self) -> usize {
        self.parts().map(|part| part.trials.len()).sum()
    }

    pub(super) fn tried(&self) -> usize {
        self.completed() + self.failed()
    }

    /// Whether there is a completed round in which only a lower bound of a quantity is known. If so, the test is not
    /// judged: without these rounds, the system's worst rounds would be missing.
    pub(super) fn has_only_bounds(&self, quantity: Quantity) -> bool {
        let mut bounds = self.trials().filter_map(|(part, trial)| part.evidence.bound(trial, quantity));
        bounds.any(|figure| figure.is_lower_bound)
    }

    /// Median of the system's figures over rounds. With several sessions, it is the median of the sessions'
    /// medians.
    pub(super) fn median(&self, quantity: Quantity) -> Option<f64> {
        let of_session = |part: SystemTrials<'_>| {
            let figures = part.trials.iter().filter_map(|trial| part.evidence.figure(trial, quantity));
            median(&figures.collect::<Vec<_>>())
        };
        median(&self.parts().filter_map(of_session).collect::<Vec<_>>())
    }

    /// Whether the system completed at least one trial, and `is_so` holds for all completed trials.
    pub(super) fn always(&self, is_so: fn(Done) -> bool) -> bool {
        self.completed() > 0 && self.trials().all(|(_, trial)| is_so(Done::of(&trial.record)))
    }

    /// The margin of alarms in a test. If the system was measured in several runs, it is the largest margin of any of
    /// them.
    pub(super) fn alarm_margin(&self, step: &str, clients: u32, rule: &Rule) -> Margin {
        let margins = self.sessions.iter().map(|session| session.member.evidence);
        let margins = margins.map(|evidence| noise::alarm_margin(evidence, step, clients, rule));
        margins.fold(rule.margin, Margin::max)
    }

    /// Whether one of the system's runs has rounds in which this step is not measured.
    pub(super) fn has_more_rounds_than(&self, step: &StepRecord) -> bool {
        self.sessions.iter().any(|session| session.member.run().record.rounds > step.rounds)
    }

    /// Whether one instance was used in several rounds of a session.
    pub(super) fn lives_on(&self) -> bool {
        self.sessions.iter().any(|session| {
            session.trials.part.trials.len() > 1 && !session.member.evidence.is_fresh(session.member.system)
        })
    }
}

/// Rounds in which a trial of either system was disturbed. If the trials of both systems were disturbed in a round,
/// the larger disturbance counts. `None` if no round was disturbed.
pub(super) fn disturbed_rounds(base: &System<'_>, candidate: &System<'_>) -> Option<DisturbedRounds> {
    let mut by_round: BTreeMap<(usize, u32), Disturbance> = BTreeMap::new();
    let mut measured: BTreeSet<(usize, u32)> = BTreeSet::new();
    for (at, session) in [base, candidate].into_iter().flat_map(|side| side.sessions.iter().enumerate()) {
        measured.extend(session.trials.part.trials.iter().map(|trial| (at, trial.record.round)));
        for (round, found) in &session.disturbed {
            measured.insert((at, *round));
            let strongest = by_round.entry((at, *round)).or_insert(*found);
            if found.others_share + found.steal_share > strongest.others_share + strongest.steal_share {
                *strongest = *found;
            }
        }
    }
    DisturbedRounds::of(&by_round.into_values().collect::<Vec<_>>(), measured.len())
}
