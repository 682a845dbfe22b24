//! Lets a [`Site`] run the missing rounds of a run, and adds their results to the run's results file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dyno_judge::host_differences;
use dyno_lab::{RunOutcome, Spread};
use dyno_store::{AttemptRecord, Ending, HostRecord, StoreError};

use crate::error::ClusterError;
use crate::folder::Folder;
use crate::notice::Notice;
use crate::site::{Site, TaskEvent};

/// Number of attempts at a round before it is given up.
pub const ATTEMPTS_MAX: usize = 3;
/// Time between two polls of the site.
const POLL: Duration = Duration::from_millis(200);

/// Runs the missing rounds of a run on a site, and records how the run ended. `tell` gets messages for the user.
///
/// # Errors
/// The results file cannot be written, the site accepts no tasks, or a round was lost too often. The results file
/// keeps the rounds that were delivered before the error.
pub fn conduct(
    spread: &mut Spread<'_>,
    site: &mut dyn Site,
    folder: &Folder,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Notice),
) -> Result<RunOutcome, ClusterError> {
    let mut conductor = Conductor {
        spread,
        site,
        folder,
        tell,
        pending: BTreeSet::new(),
        losses: BTreeMap::new(),
        given_up: BTreeMap::new(),
        hosts: Vec::new(),
    };
    let ended = conductor.carry_out(stop);
    if !matches!(ended, Ok(Ending::Finished)) {
        conductor.site.cancel();
    }
    let has_losses = !conductor.losses.is_empty() || folder.has_refused();
    let outcome = spread.end(*ended.as_ref().unwrap_or(&Ending::Failed));
    if matches!(ended, Ok(Ending::Finished)) && !has_losses {
        // The run's results file has all results by now. An error is ignored, because a folder that stays behind only
        // takes space.
        let _ = folder.remove();
    }
    ended?;
    Ok(outcome?)
}

/// Renames a delivered file if its contents cannot be added to the run's results. The next attempt needs the file's
/// name. The measurements stay in the renamed file.
fn set_aside(file: &Path) -> Result<(), ClusterError> {
    let names = (1..).map(|number| file.with_extension(format!("refused-{number}.db")));
    let Some(aside) = names.into_iter().find(|name| !name.exists()) else { return Ok(()) };
    match fs::rename(file, &aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ClusterError::Folder { path: aside, source: error })
        }
        _ => Ok(()),
    }
}

struct Conductor<'a, 'b> {
    spread: &'a mut Spread<'b>,
    site: &'a mut dyn Site,
    folder: &'a Folder,
    tell: &'a mut dyn FnMut(&Notice),
    /// Rounds whose results have not arrived.
    pending: BTreeSet<u32>,
    /// For each round, how many of its attempts ended without a result. Attempts that an earlier process counted are
    /// not included.
    losses: BTreeMap<u32, usize>,
    /// The rounds that are not attempted again, because [`ATTEMPTS_MAX`] attempts were lost. The value is the reason
    /// of the last loss.
    given_up: BTreeMap<u32, String>,
    /// The hosts that have delivered rounds, with their facts, in the order of their first delivery.
    hosts: Vec<(String, HostRecord)>,
}

impl Conductor<'_, '_> {
    fn carry_out(&mut self, stop: &AtomicBool) -> Result<Ending, ClusterError> {
        self.folder.create()?;
        loop {
            let rounds = self.spread.rounds_to_run()?;
            if rounds.is_empty() {
                return Ok(Ending::Finished);
            }
            self.hand_out(&rounds)?;
            while !self.pending.is_empty() {
                if stop.load(Ordering::Relaxed) {
                    return Ok(Ending::Interrupted);
                }
                self.look()?;
                thread::sleep(POLL);
            }
            if let Some(reason) = self.given_up.values().next_back().cloned() {
                return Err(ClusterError::RoundsLost {
                    rounds: self.given_up.keys().copied().collect(),
                    attempts: ATTEMPTS_MAX,
                    reason,
                    logs: self.folder.logs(),
                });
            }
        }
    }

    /// Adopts the rounds that an earlier process has submitted, and submits the others.
    fn hand_out(&mut self, rounds: &[u32]) -> Result<(), ClusterError> {
        self.pending.extend(rounds);
        let adopted = self.site.adopt(rounds)?;
        if !adopted.is_empty() {
            (self.tell)(&Notice::Adopted { rounds: adopted.len() });
        }
        let new: Vec<u32> = rounds.iter().copied().filter(|round| !adopted.contains(round)).collect();
        self.submit(&new)
    }

    fn submit(&mut self, rounds: &[u32]) -> Result<(), ClusterError> {
        if rounds.is_empty() {
            return Ok(());
        }
        self.site.submit(rounds)?;
        (self.tell)(&Notice::Submitted { rounds: rounds.len() });
        Ok(())
    }

    /// Gets the new events from the site, and handles them.
    fn look(&mut self) -> Result<(), ClusterError> {
        let mut again = Vec::new();
        for event in self.site.poll()? {
            match event {
                TaskEvent::Started { round, node } => (self.tell)(&Notice::Started { round, node }),
                TaskEvent::Told(text) => (self.tell)(&Notice::Told(text)),
                TaskEvent::Delivered { round, file } => {
                    if let Err(error) = self.join(round, &file) {
                        // A damaged or foreign file concerns only this round, which is run again. Any other error,
                        // such as a results file that cannot be written, concerns all rounds and ends the run.
                        let reason = reason(&error).ok_or(error)?;
                        set_aside(&file)?;
                        again.extend(self.lose(round, None, reason, false)?);
                    }
                }
                TaskEvent::Lost { round, node, reason, is_requeued } => {
                    again.extend(self.lose(round, node, reason, is_requeued)?);
                }
            }
        }
        self.submit(&again)
    }

    fn join(&mut self, round: u32, file: &Path) -> Result<(), StoreError> {
        let attempt = self.spread.join(file)?;
        self.pending.remove(&round);
        let _ = fs::remove_file(file);
        if let Some(attempt) = attempt {
            let (done, of) = self.spread.progress();
            let node = attempt.name().unwrap_or("another host").to_owned();
            (self.tell)(&Notice::Delivered { round, node: node.clone(), done, of });
            self.compare_host(node, attempt);
        }
        Ok(())
    }

    /// Reports how a host differs from the first host that delivered a round.
    fn compare_host(&mut self, node: String, attempt: AttemptRecord) {
        let Some(host) = attempt.host.filter(|_| self.hosts.iter().all(|(known, _)| *known != node)) else {
            return;
        };
        if let Some((first, facts)) = self.hosts.first() {
            let differences = host_differences(facts, &host);
            if !differences.is_empty() {
                let (node, first) = (node.clone(), first.clone());
                (self.tell)(&Notice::HostDiffers { node, first, differences });
            }
        }
        self.hosts.push((node, host));
    }

    /// Records that an attempt at a round was lost. Returns the round if the caller must submit it again.
    fn lose(
        &mut self,
        round: u32,
        node: Option<String>,
        reason: String,
        is_requeued: bool,
    ) -> Result<Option<u32>, ClusterError> {
        if !self.pending.contains(&round) {
            return Ok(None);
        }
        self.spread.lost(round, node.clone(), reason.clone())?;
        let losses = self.losses.entry(round).or_default();
        *losses += 1;
        let is_tried_again = is_requeued || *losses < ATTEMPTS_MAX;
        (self.tell)(&Notice::Lost { round, node, reason: reason.clone(), is_tried_again });
        if !is_tried_again {
            self.pending.remove(&round);
            self.given_up.insert(round, reason);
        }
        Ok((is_tried_again && !is_requeued).then_some(round))
    }
}

/// Describes what is wrong with a delivered file. Returns `None` if the error has another cause than that file.
fn reason(error: &StoreError) -> Option<String> {
    match error {
        StoreError::Damaged { .. }
        | StoreError::Foreign { .. }
        | StoreError::OtherVersion { .. }
        | StoreError::Empty { .. }
        | StoreError::NotFound { .. }
        | StoreError::NotOfRun { .. } => Some(format!("what it delivered cannot be joined: {error}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_do_not_fit_are_kept_side_by_side() {
        let results = tempfile::tempdir().unwrap();
        let folder = Folder::of(&results.path().join("dyno.db"), "5f");
        let file = folder.round("3");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        assert!(!folder.has_refused());
        for content in ["one", "two"] {
            fs::write(&file, content).unwrap();
            set_aside(&file).unwrap();
        }
        assert!(folder.has_refused() && !file.exists());
        let kept =
            |number: u32| fs::read_to_string(file.with_extension(format!("refused-{number}.db"))).unwrap();
        assert_eq!([kept(1), kept(2)], ["one", "two"]);
        set_aside(&file).expect("a file that is gone is not an error");
    }
}
