//! A server's plans for the statements of a trial. A separate load process requests them after the trial. Therefore
//! no measured event waits for a plan, and no row is changed.

use std::collections::HashMap;
use std::time::Duration;

use dyno_load::{Frame, Noted};
use dyno_store::StatementPlan;

use crate::job;
use crate::run::system::SystemSlot;
use crate::run::trial::planned::PlannedTrial;
use crate::run::trial::watch::{TrialAbort, Watch};

/// If the server does not answer for this time, Dyno sends no more requests to it. Some servers execute parts of a
/// statement to explain it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The server's answers about the statements of a load.
pub(crate) struct Explained {
    pub(crate) plans: Vec<StatementPlan>,
    /// The number of rows that the server reads for each example statement, by the text of the statement.
    pub(crate) rows_examined: HashMap<String, u64>,
}

impl PlannedTrial<'_> {
    /// Returns the plans of a load's statements. A missing plan is not a failure. The reason is returned in its
    /// place. With `counts_rows`, each query is also executed once, to count the rows that the server reads for it.
    pub(crate) fn explained(&self, noted: &Noted, counts_rows: bool, slot: &SystemSlot<'_>) -> Explained {
        let mut answer = Answer::default();
        let asked = slot.system().map_err(TrialAbort::failed).and_then(|system| {
            let mut load =
                self.start_load(&job::explaining(&noted.statements, counts_rows, system.target()))?;
            let note = |frame: &Frame| {
                if let Frame::Log { text } = frame {
                    answer.note(text);
                }
            };
            let watch = Watch { patience: PATIENCE, ..self.watch() };
            watch.follow(&mut load, note, || Ok(())).map(|_| ())
        });
        let ended = asked.err().map(|abort| match abort {
            TrialAbort::Stopped => "the run was stopped".to_owned(),
            TrialAbort::Failed { message, .. } => message,
            TrialAbort::Hung(_) => format!("it did not answer within {} s", PATIENCE.as_secs()),
        });
        Explained { rows_examined: answer.rows_examined(noted), plans: answer.plans(noted, ended.as_deref()) }
    }
}

/// The lines that were printed for the statements. Statements are identified by their numbers, from 1.
#[derive(Debug, Default)]
struct Answer {
    found: Vec<(usize, Result<Vec<String>, String>)>,
    rows_examined: HashMap<usize, u64>,
}

impl Answer {
    /// Processes a line that the function `each` in `workloads/sql/explain.lua` has printed.
    fn note(&mut self, text: &str) {
        let mut parts = text.splitn(3, '\t');
        let (Some(kind), Some(number)) = (parts.next(), parts.next()) else { return };
        let Ok(number) = number.parse() else { return };
        let rest = parts.next().unwrap_or_default().to_owned();
        match (kind, self.found.last_mut()) {
            ("plan", _) => self.found.push((number, Ok(Vec::new()))),
            ("refused", _) => self.found.push((number, Err(rest))),
            ("rows", _) => {
                if let Ok(rows) = rest.parse() {
                    self.rows_examined.insert(number, rows);
                }
            }
            ("line", Some((of, Ok(lines)))) if *of == number => lines.push(rest),
            _ => {}
        }
    }

    fn rows_examined(&self, noted: &Noted) -> HashMap<String, u64> {
        let rows = |(number, statement): (usize, &dyno_load::NotedStatement)| {
            Some((statement.text.clone(), *self.rows_examined.get(&number)?))
        };
        (1..).zip(&noted.statements).filter_map(rows).collect()
    }

    /// Returns the plan of each statement. `ended` is the reason why the last statements may have no plan.
    fn plans(mut self, noted: &Noted, ended: Option<&str>) -> Vec<StatementPlan> {
        let mut plan = |number: usize| {
            let place = self.found.iter().position(|(of, _)| *of == number)?;
            Some(self.found.swap_remove(place).1)
        };
        let missing = || Err(ended.unwrap_or("the server sent no plan").to_owned());
        let of_statement = |(number, statement): (usize, &dyno_load::NotedStatement)| StatementPlan {
            statement: statement.text.clone(),
            plan: plan(number).map_or_else(missing, |found| found.map(|lines| lines.join("\n"))),
        };
        let mut plans: Vec<StatementPlan> = (1..).zip(&noted.statements).map(of_statement).collect();
        if noted.left_out > 0 {
            plans.push(StatementPlan {
                statement: format!("{} more", noted.left_out),
                plan: Err(format!(
                    "a server is asked for the plans of at most {} statements of a trial",
                    plans.len()
                )),
            });
        }
        plans
    }
}

#[cfg(test)]
mod tests {
    use dyno_load::NotedStatement;

    use super::*;

    #[test]
    fn each_statement_has_its_plan_or_the_reason_why_it_has_none() {
        let mut answer = Answer::default();
        for line in [
            "plan\t1",
            "line\t1\tSCAN t",
            "line\t1\t  a\tb",
            "a notice",
            "refused\t2\terror 1064: no",
            "plan\t3",
            "line\t2\tof another",
            "line\tx\t",
            "rows\t1\t20000",
            "rows\t3\tmany",
        ] {
            answer.note(line);
        }
        let statement = |text: &str| NotedStatement { text: text.to_owned(), example: text.to_owned() };
        let statements = ["one", "two", "three", "four"].map(statement).to_vec();
        let noted = Noted { statements, left_out: 7 };
        assert_eq!(answer.rows_examined(&noted), HashMap::from([("one".to_owned(), 20_000)]));
        let plans = answer.plans(&noted, Some("the server died"));
        let found: Vec<(&str, Result<&str, &str>)> = plans
            .iter()
            .map(|it| (it.statement.as_str(), it.plan.as_deref().map_err(String::as_str)))
            .collect();
        assert_eq!(
            found,
            [
                ("one", Ok("SCAN t\n  a\tb")),
                ("two", Err("error 1064: no")),
                ("three", Ok("")),
                ("four", Err("the server died")),
                ("7 more", Err("a server is asked for the plans of at most 4 statements of a trial")),
            ]
        );
    }
}
