//! A server's plan and answer for a trial's query. Dyno requests both after the trial. A request before the trial
//! would change the caches.

use dyno_load::Frame;
use dyno_store::{QueryAnswer, QueryPlan};

use crate::job;
use crate::plan::Explained;
use crate::run::error::PassAbort;
use crate::run::system::SystemSlot;
use crate::run::trial::planned::PlannedTrial;
use crate::run::trial::watch::TrialAbort;

/// Commands of the workload: `explain` prints the plan of the query, and `answer` prints its answer.
const EXPLAIN: &str = "explain";
const ANSWER: &str = "answer";

/// The plan and the answer of a query, as requested after a trial.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) plan: Option<QueryPlan>,
    pub(crate) answer: Option<QueryAnswer>,
}

impl PlannedTrial<'_> {
    /// Requests the plan and the answer of the step's query, if the step asks for them.
    ///
    /// # Errors
    /// The server gave no answer.
    pub(crate) fn ask(&self, slot: &mut SystemSlot<'_>) -> Result<Asked, PassAbort> {
        let queries = self.step().queries;
        let mut asked = Asked::default();
        if queries.explain == Explained::Query {
            asked.plan = Some(match self.printed_by(EXPLAIN, slot) {
                Ok(lines) => plan(lines),
                Err(PassAbort::Stopped) => return Err(PassAbort::Stopped),
                // The server cannot explain the statement, but may be able to execute it. So this is not an error, and
                // the reason is recorded instead of the plan.
                Err(PassAbort::Failed(reason)) => {
                    QueryPlan { statement: String::new(), text: format!("none: {reason}") }
                }
            });
        }
        if queries.answers {
            let rows = self.printed_by(ANSWER, slot).map_err(|abort| match abort {
                PassAbort::Stopped => PassAbort::Stopped,
                PassAbort::Failed(reason) => {
                    PassAbort::Failed(format!("its answer cannot be read: {reason}"))
                }
            })?;
            asked.answer = Some(QueryAnswer::of(&rows));
        }
        Ok(asked)
    }

    /// Returns the lines that a command of the workload prints.
    fn printed_by(&self, command: &str, slot: &mut SystemSlot<'_>) -> Result<Vec<String>, PassAbort> {
        let mut lines = Vec::new();
        let run = |lines: &mut Vec<String>| {
            let system = slot.system().map_err(TrialAbort::failed)?;
            let mut load =
                self.start_load(&job::printing(self.plan, self.trial, command, system.target()))?;
            let note = |frame: &Frame| {
                if let Frame::Log { text } = frame {
                    lines.push(text.clone());
                }
            };
            self.watch_events().follow(&mut load, note, || Ok(())).map(|_| ())
        };
        match run(&mut lines) {
            Ok(()) => Ok(lines),
            Err(abort) => Err(self.pass_abort(abort, slot)),
        }
    }
}

/// Makes a query plan from printed lines. The first line is the statement.
fn plan(lines: Vec<String>) -> QueryPlan {
    let mut lines = lines.into_iter();
    QueryPlan { statement: lines.next().unwrap_or_default(), text: lines.collect::<Vec<_>>().join("\n") }
}
