//! A server's plan for a step's query, and its answer to the query.

use std::collections::HashMap;

use rusqlite::{Transaction, params};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::TrialRecord;
use crate::record::{RunId, TrialId};

/// Largest number of rows of an answer that are stored.
const ROWS_MAX: usize = 1000;

/// A server's plan for a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryPlan {
    /// The query; empty if it could not be explained.
    pub statement: String,
    /// The plan, line by line, as the workload writes it. The server's estimates are in square brackets.
    pub text: String,
}

/// A server's answer to a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryAnswer {
    /// Number of rows.
    pub rows: u64,
    /// The first 1000 rows, one per line, with `|` between values.
    pub text: String,
}

impl QueryAnswer {
    /// An answer of these rows, each with `|` between its values.
    pub fn of(rows: &[String]) -> Self {
        Self { rows: rows.len() as u64, text: rows[..rows.len().min(ROWS_MAX)].join("\n") }
    }
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    trial: TrialId,
    record: &TrialRecord,
) -> rusqlite::Result<()> {
    if let Some(plan) = &record.query_plan {
        transaction.execute(
            "INSERT INTO query_plan (trial_id, statement, plan) VALUES (?1, ?2, ?3)",
            params![trial.0, plan.statement, plan.text],
        )?;
    }
    if let Some(answer) = &record.query_answer {
        transaction.execute(
            "INSERT INTO query_answer (trial_id, rows, answer) VALUES (?1, ?2, ?3)",
            params![trial.0, answer.rows.cast_signed(), answer.text],
        )?;
    }
    Ok(())
}

impl Store {
    /// The plans of a run, by trial.
    pub(crate) fn query_plans(&self, run: RunId) -> Result<HashMap<i64, QueryPlan>, StoreError> {
        let plans = self.rows(
            "SELECT trial_id, statement, plan FROM query_plan JOIN trial ON trial.id = trial_id WHERE run_id = ?1",
            [run.0],
            |row| Ok((row.get(0)?, QueryPlan { statement: row.get(1)?, text: row.get(2)? })),
        )?;
        Ok(plans.into_iter().collect())
    }

    /// The answers of a run, by trial.
    pub(crate) fn query_answers(&self, run: RunId) -> Result<HashMap<i64, QueryAnswer>, StoreError> {
        let answers = self.rows(
            "SELECT trial_id, rows, answer FROM query_answer JOIN trial ON trial.id = trial_id WHERE run_id = ?1",
            [run.0],
            |row| Ok((row.get(0)?, QueryAnswer { rows: row.get(1)?, text: row.get(2)? })),
        )?;
        Ok(answers.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunChoice;
    use crate::sample::{File, trial};

    #[test]
    fn plans_and_answers_come_back_with_their_trial_and_go_with_its_run() {
        let mut file = File::new();
        let plan = QueryPlan { statement: "SELECT 1".to_owned(), text: "a\nb".to_owned() };
        let answer = QueryAnswer::of(&["1|x".to_owned(), "2|NULL".to_owned()]);
        assert_eq!((answer.rows, answer.text.as_str()), (2, "1|x\n2|NULL"));
        let asked = TrialRecord {
            query_plan: Some(plan.clone()),
            query_answer: Some(answer.clone()),
            ..trial("old", 0, 1000)
        };
        file.store.commit_trial(file.run, &asked).unwrap();
        file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
        let run = file.store.load_run(RunChoice::Latest).unwrap();
        let kept: Vec<_> = run
            .trials
            .iter()
            .map(|trial| (trial.record.query_plan.clone(), trial.record.query_answer.clone()))
            .collect();
        assert_eq!(kept, [(Some(plan), Some(answer)), (None, None)]);
        file.store.finish_run(file.run, crate::Ending::Finished, 0).unwrap();
        file.store.delete_run(file.run).unwrap();
        assert_eq!(
            file.sql::<i64>("SELECT (SELECT count(*) FROM query_plan) + count(*) FROM query_answer"),
            [0]
        );
    }

    #[test]
    fn of_a_long_answer_the_first_rows_are_kept() {
        let answer = QueryAnswer::of(&vec!["x".to_owned(); 1500]);
        assert_eq!((answer.rows, answer.text.lines().count()), (1500, 1000));
    }
}
