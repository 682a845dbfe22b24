//! Stacks of servers.

use std::collections::HashMap;

use rusqlite::{Transaction, params};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::{RunId, TrialId};

/// Stacks of a server, sampled while a trial's load was repeated without measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackProfile {
    /// Length of the repeated load, in seconds.
    pub seconds: f64,
    /// Operations of the repeated load, as the step counts them.
    pub operations: u64,
    /// Number of samples. Each sample has the stack of every thread.
    pub samples: u32,
    /// The program that took the samples, with its version.
    pub sampler: String,
    /// Median time that a sample took, in ms.
    pub sample_ms_median: f64,
    /// Share of the engine's frames that have no name, from 0 to 1.
    pub unnamed_share: f64,
    /// Why sampling ended before the load ended; `None` if sampling did not end early.
    pub ended_early: Option<String>,
    /// The most frequent stacks first.
    pub stacks: Vec<StackRecord>,
}

/// A stack, with the number of times that it was sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackRecord {
    /// Kind of the thread, such as `connection`.
    pub thread_kind: String,
    /// Whether the thread waits for its client's next request.
    pub is_idle: bool,
    /// The innermost function of the engine on the stack, apart from waits and locks.
    pub function: String,
    /// The functions on the stack, the outermost first, separated by `;`.
    pub frames: String,
    pub count: u32,
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    trial: TrialId,
    profile: &StackProfile,
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO stack_profile (trial_id, seconds, operations, samples, sampler, sample_ms_median, unnamed_share,
                                    ended_early)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            trial.0,
            profile.seconds,
            profile.operations.cast_signed(),
            profile.samples,
            profile.sampler,
            profile.sample_ms_median,
            profile.unnamed_share,
            profile.ended_early,
        ],
    )?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO stack (trial_id, number, thread_kind, is_idle, function, frames, count)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (number, stack) in profile.stacks.iter().enumerate() {
        insert.execute(params![
            trial.0,
            number as i64,
            stack.thread_kind,
            stack.is_idle,
            stack.function,
            stack.frames,
            stack.count,
        ])?;
    }
    Ok(())
}

impl Store {
    /// The stacks of a run, by trial.
    pub(crate) fn stack_profiles(&self, run: RunId) -> Result<HashMap<i64, StackProfile>, StoreError> {
        let profiles = self.rows(
            "SELECT p.* FROM stack_profile p JOIN trial ON trial.id = p.trial_id WHERE run_id = ?1",
            [run.0],
            |row| {
                let profile = StackProfile {
                    seconds: row.get("seconds")?,
                    operations: row.get("operations")?,
                    samples: row.get("samples")?,
                    sampler: row.get("sampler")?,
                    sample_ms_median: row.get("sample_ms_median")?,
                    unnamed_share: row.get("unnamed_share")?,
                    ended_early: row.get("ended_early")?,
                    stacks: Vec::new(),
                };
                Ok((row.get("trial_id")?, profile))
            },
        )?;
        let mut profiles: HashMap<i64, StackProfile> = profiles.into_iter().collect();
        self.for_each_row(
            "SELECT s.* FROM stack s JOIN trial ON trial.id = s.trial_id WHERE run_id = ?1 ORDER BY trial_id, number",
            [run.0],
            |row| {
                let stack = StackRecord {
                    thread_kind: row.get("thread_kind")?,
                    is_idle: row.get("is_idle")?,
                    function: row.get("function")?,
                    frames: row.get("frames")?,
                    count: row.get("count")?,
                };
                // Only a damaged file has stacks without a profile.
                if let Some(profile) = profiles.get_mut(&row.get("trial_id")?) {
                    profile.stacks.push(stack);
                }
                Ok(())
            },
        )?;
        Ok(profiles)
    }
}

#[cfg(test)]
mod tests {
    use crate::run::RunChoice;
    use crate::sample::{File, profile, trial};

    #[test]
    fn stacks_come_back_with_their_trial_and_go_with_its_run() {
        let mut file = File::new();
        file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
        let without = crate::TrialRecord { stacks: None, ..trial("new", 0, 1000) };
        file.store.commit_trial(file.run, &without).unwrap();
        let run = file.store.load_run(RunChoice::Latest).unwrap();
        assert_eq!(run.trials[0].record.stacks, Some(profile()));
        assert_eq!(run.trials[1].record.stacks, None);
        let shares = "SELECT share FROM stack_function WHERE thread_kind = 'connection' ORDER BY share DESC";
        assert_eq!(file.sql::<f64>(shares), [0.75, 0.25]);
        file.store.finish_run(file.run, crate::Ending::Finished, 0).unwrap();
        file.store.delete_run(file.run).unwrap();
        assert_eq!(file.sql::<i64>("SELECT count(*) FROM stack"), [0]);
    }
}
