//! Plans and answers of queries in the first round of a run.

use std::collections::BTreeMap;

use dyno_judge::first_difference;
use dyno_store::{Outcome, QueryAnswer, TrialRecord};

use super::Round;
use super::session::RunSession;
use crate::plan::Explained;
use crate::run::error::PassAbort;
use crate::run::trial::{FinishedTrial, PlannedTrial};
use crate::schedule::Trial;

/// The round in which servers are asked about queries, with the first answer to each step's query.
#[derive(Debug)]
pub(crate) struct QueryRound {
    number: u32,
    answers: BTreeMap<usize, FirstAnswer>,
}

/// The first answer to a query, with which the answers of the other systems are compared.
#[derive(Debug)]
struct FirstAnswer {
    system: String,
    answer: QueryAnswer,
}

impl QueryRound {
    /// Makes the state for the round with this number, in which servers are asked. It is the first round of the run or
    /// of its resumption.
    pub(crate) fn new(number: u32) -> Self {
        Self { number, answers: BTreeMap::new() }
    }

    /// Returns the reason why a system's answer counts as wrong. Returns `None` if it equals the first answer.
    fn objection(&mut self, step: usize, system: &str, answer: &QueryAnswer) -> Option<String> {
        let Some(first) = self.answers.get(&step) else {
            let first = FirstAnswer { system: system.to_owned(), answer: answer.clone() };
            self.answers.insert(step, first);
            return None;
        };
        let difference = first_difference(answer, &first.answer)?;
        Some(format!("its answer differs from that of {}: {difference}", first.system))
    }
}

impl<'a> RunSession<'a> {
    /// Asks the server of a completed trial about the query of the trial's step, if the step wants that. Each system
    /// is asked once. The trial fails if the answer differs from that of another system.
    pub(crate) fn ask(&mut self, round: &mut Round<'a>, trial: &Trial, record: &mut TrialRecord) {
        let planned = PlannedTrial { plan: self.plan, trial, options: self.options };
        let queries = planned.step().queries;
        let is_wanted = (queries.explain == Explained::Query || queries.answers)
            && self.queries.number == trial.round
            && planned.step().clients.first() == Some(&trial.clients)
            && record.outcome == Outcome::Completed
            && !self.is_stopped();
        let Some(slot) = round.slot(trial.system).filter(|_| is_wanted) else { return };
        let objection = match planned.ask(slot) {
            Ok(asked) => {
                let system = &self.plan.systems[trial.system].id;
                let answer = asked.answer.as_ref();
                let objection = answer.and_then(|answer| self.queries.objection(trial.step, system, answer));
                (record.query_plan, record.query_answer) = (asked.plan, asked.answer);
                objection
            }
            Err(PassAbort::Failed(reason)) => Some(reason),
            Err(PassAbort::Stopped) => None,
        };
        if let Some(message) = objection {
            record.outcome = Outcome::failed(message);
        }
    }

    /// Asks the server of a completed trial for the plans of statements that its load recorded. After a replay, also
    /// asks how many rows the server reads for each of these statements.
    pub(crate) fn explain(&mut self, round: &mut Round<'a>, trial: &Trial, finished: &mut FinishedTrial) {
        let is_wanted = !finished.noted.statements.is_empty()
            && finished.record.outcome == Outcome::Completed
            // The step's command `after` may have dropped an index, so that the server would now make other plans.
            && self.plan.steps[trial.step].after.is_none()
            && !self.is_stopped();
        let planned = PlannedTrial { plan: self.plan, trial, options: self.options };
        if let Some(slot) = round.slot(trial.system).filter(|_| is_wanted) {
            let is_replay = finished.record.replay.is_some();
            let explained = planned.explained(&finished.noted, is_replay, slot);
            finished.record.statement_plans = explained.plans;
            for digest in &mut finished.record.replayed {
                digest.rows_examined = explained.rows_examined.get(&digest.statement).copied();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_to_a_step_is_what_others_are_compared_to() {
        let mut round = QueryRound::new(0);
        let answer =
            |rows: &[&str]| QueryAnswer::of(&rows.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(round.objection(1, "a", &answer(&["x|1"])), None);
        assert_eq!(round.objection(1, "b", &answer(&["x|1.0"])), None);
        assert_eq!(round.objection(2, "b", &answer(&["y"])), None, "another step has another answer");
        assert_eq!(
            round.objection(1, "c", &answer(&["x|2"])),
            Some("its answer differs from that of a: row 1 is `x|2` here and `x|1` there".to_owned())
        );
    }
}
