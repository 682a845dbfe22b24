//! Plans of the statements that a trial executes.

use std::collections::HashMap;

use rusqlite::{Transaction, params};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::{RunId, TrialId};

/// A server's plan for a statement of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPlan {
    /// The statement's text, with `?` in place of values.
    pub statement: String,
    /// The plan, line by line, with estimates in square brackets. `Err` has the reason if there is no plan.
    pub plan: Result<String, String>,
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    trial: TrialId,
    plans: &[StatementPlan],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO statement_plan (trial_id, number, statement, plan, refusal) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (number, StatementPlan { statement, plan }) in plans.iter().enumerate() {
        insert.execute(params![
            trial.0,
            number as i64,
            statement,
            plan.as_ref().ok(),
            plan.as_ref().err()
        ])?;
    }
    Ok(())
}

impl Store {
    /// The plans of a run's statements, by trial. A trial's statements are in the order in which it first executed
    /// them.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn statement_plans(&self, run: RunId) -> Result<HashMap<TrialId, Vec<StatementPlan>>, StoreError> {
        let mut by_trial: HashMap<TrialId, Vec<StatementPlan>> = HashMap::new();
        self.rows(
            "SELECT trial_id, statement, plan, refusal FROM statement_plan JOIN trial ON trial.id = trial_id
             WHERE run_id = ?1 ORDER BY trial_id, number",
            [run.0],
            |row| {
                let plan: Option<String> = row.get(2)?;
                let refusal: Option<String> = row.get(3)?;
                let plan = StatementPlan {
                    statement: row.get(1)?,
                    plan: plan.ok_or_else(|| refusal.unwrap_or_default()),
                };
                by_trial.entry(TrialId(row.get(0)?)).or_default().push(plan);
                Ok(())
            },
        )?;
        Ok(by_trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TrialRecord;
    use crate::sample::{File, trial};

    #[test]
    fn plans_come_back_in_order_and_go_with_their_run() {
        let mut file = File::new();
        let plan = |statement: &str, plan: Result<&str, &str>| StatementPlan {
            statement: statement.to_owned(),
            plan: plan.map(str::to_owned).map_err(str::to_owned),
        };
        let plans = vec![plan("b", Ok("SCAN t")), plan("a", Ok("")), plan("c", Err("refused"))];
        let record = TrialRecord { statement_plans: plans.clone(), ..trial("old", 0, 1000) };
        let id = file.store.commit_trial(file.run, &record).unwrap();
        file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
        assert_eq!(file.store.statement_plans(file.run).unwrap(), HashMap::from([(id, plans)]));
        file.store.finish_run(file.run, crate::Ending::Finished, 0).unwrap();
        file.store.delete_run(file.run).unwrap();
        assert_eq!(file.sql::<i64>("SELECT count(*) FROM statement_plan"), [0]);
    }
}
