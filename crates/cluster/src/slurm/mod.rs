//! Slurm: the rounds are an array job on exclusive nodes.

mod queue;
mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use crate::error::ClusterError;
use crate::folder::{Folder, last_line};
use crate::site::{Site, TaskEvent};
use crate::task::TaskCommand;
use crate::tool;

use self::queue::{Line, State};

/// Time between two queries of Slurm's queue. It is longer than the time between two polls, because Slurm's
/// controller also serves other users. Results files are checked at every poll.
const QUEUE_EVERY: Duration = Duration::from_secs(5);

/// The user's options for Slurm. Everything else can be set by `sbatch`'s own environment variables
/// (`SBATCH_ACCOUNT`, …).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmOptions {
    /// Largest number of tasks at the same time, each on a node of its own.
    pub nodes: Option<u32>,
    pub partition: Option<String>,
}

/// A site that runs rounds as array jobs on a cluster. All nodes of the cluster must see `folder`.
pub struct Slurm {
    folder: Folder,
    task: TaskCommand,
    options: SlurmOptions,
    /// The array task of each round whose result is awaited.
    rounds: BTreeMap<u32, Round>,
    /// Names of the start files that were already read. Each is handled only once.
    seen: BTreeSet<String>,
    asked_at: Option<Instant>,
    is_silent: bool,
}

/// An awaited round.
struct Round {
    /// The number of the array job to which the round's task belongs.
    job: u64,
    /// The node on which the round's task began. `None` while the task waits.
    node: Option<String>,
    /// Whether Slurm's last answer reported the task as ended. Over a network file system, the task's results file
    /// may become visible a little later. The task therefore counts as lost only if the next answer also reports it
    /// as ended.
    has_ended: bool,
}

impl Slurm {
    /// Prepares the tasks of a run. Nothing is submitted yet.
    pub fn new(folder: Folder, task: TaskCommand, options: SlurmOptions) -> Self {
        Self {
            folder,
            task,
            options,
            rounds: BTreeMap::new(),
            seen: BTreeSet::new(),
            asked_at: None,
            is_silent: false,
        }
    }

    /// Returns the `sbatch` command for rounds, and the script that it submits, to show to users.
    pub fn shown(&self, rounds: &[u32]) -> String {
        let words: Vec<String> =
            self.submission(rounds).iter().map(|word| dyno_printable::quote(word)).collect();
        format!(
            "# {}\n\nsbatch {}\n\n# the script\n\n{}",
            self.folder.script().display(),
            words.join(" "),
            self.script()
        )
    }

    fn job_name(&self) -> String {
        format!("dyno-{}", self.task.spread_id)
    }

    fn ask(&self) -> Result<Vec<Line>, ClusterError> {
        let arguments = [
            "--noheader".to_owned(),
            "--array".to_owned(),
            "--states=all".to_owned(),
            format!("--name={}", self.job_name()),
            format!("--format={}", queue::FORMAT),
        ];
        Ok(queue::parse(&tool::output("squeue", &arguments)?))
    }

    /// Reports which tasks have begun, according to their start files.
    fn look_for_starts(&mut self, events: &mut Vec<TaskEvent>) {
        for start in self.starts() {
            // A start file without a node's name is still being written.
            if start.node.is_empty() || !self.seen.insert(start.name) {
                continue;
            }
            let Some(round) = self.rounds.get_mut(&start.round) else { continue };
            if let Some(node) = round.node.replace(start.node.clone()) {
                let reason = "Slurm ran it again".to_owned();
                let (round, node) = (start.round, Some(node));
                events.push(TaskEvent::Lost { round, node, reason, is_requeued: true });
            }
            events.push(TaskEvent::Started { round: start.round, node: start.node });
        }
    }

    /// Returns the starts that were not seen before. They are sorted by round, and by time within a round.
    fn starts(&self) -> Vec<Start> {
        let entries = fs::read_dir(self.folder.starts()).into_iter().flatten().flatten();
        let mut starts: Vec<Start> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                if self.seen.contains(&name) {
                    return None;
                }
                let node = fs::read_to_string(entry.path()).ok()?.trim().to_owned();
                Start::parse(name, node)
            })
            .collect();
        starts.sort_by_key(|start| (start.round, start.job, start.restart));
        starts
    }

    fn look_for_files(&mut self, events: &mut Vec<TaskEvent>) {
        let folder = &self.folder;
        self.rounds.retain(|&round, _| {
            let file = folder.round(&round.to_string());
            let is_there = file.exists();
            if is_there {
                events.push(TaskEvent::Delivered { round, file });
            }
            !is_there
        });
    }

    /// Reports which tasks Slurm has ended or requeued.
    fn look_at_queue(&mut self, events: &mut Vec<TaskEvent>) {
        let lines = match self.ask() {
            Ok(lines) => lines,
            Err(error) => {
                // The tasks continue without Slurm's controller, so wait until the controller answers again.
                if !self.is_silent {
                    events.push(TaskEvent::Told(format!("warning: {error}; waiting for Slurm")));
                }
                self.is_silent = true;
                return;
            }
        };
        self.is_silent = false;
        let mut ended = Vec::new();
        for (&number, round) in &mut self.rounds {
            let line = lines.iter().find(|line| line.job == round.job && line.round == number);
            match line.map_or(State::Ended, |line| line.state) {
                State::Waiting if round.node.is_some() => {
                    let node = round.node.take();
                    let reason = requeued(node.as_deref());
                    events.push(TaskEvent::Lost { round: number, node, reason, is_requeued: true });
                }
                State::Waiting | State::Running => round.has_ended = false,
                State::Ended if !round.has_ended => round.has_ended = true,
                State::Ended => ended.push((number, line.map(|line| line.word.clone()))),
            }
        }
        for (number, word) in ended {
            let Some(round) = self.rounds.remove(&number) else { continue };
            let word = word.unwrap_or_else(|| "Slurm does not know it".to_owned());
            let log = self.folder.logs().join(format!("round-{number}.{}.log", round.job));
            let last = last_line(&log).map(|line| format!("; its log ends with: {line}")).unwrap_or_default();
            events.push(TaskEvent::Lost {
                round: number,
                node: round.node,
                reason: format!("{word}{last}"),
                is_requeued: false,
            });
        }
    }
}

impl Site for Slurm {
    fn adopt(&mut self, rounds: &[u32]) -> Result<Vec<u32>, ClusterError> {
        let lines = self.ask()?;
        for &round in rounds {
            let mut of_round = lines.iter().filter(|line| line.round == round && line.state != State::Ended);
            let is_delivered = self.folder.round(&round.to_string()).exists();
            if let Some(line) = of_round.next_back() {
                self.rounds.insert(round, Round { job: line.job, node: None, has_ended: false });
            } else if is_delivered {
                self.rounds.insert(round, Round { job: 0, node: None, has_ended: true });
            }
        }
        for start in self.starts() {
            if let Some(round) = self.rounds.get_mut(&start.round) {
                round.node = Some(start.node);
            }
            self.seen.insert(start.name);
        }
        Ok(self.rounds.keys().copied().collect())
    }

    fn submit(&mut self, rounds: &[u32]) -> Result<(), ClusterError> {
        let path = self.folder.script();
        fs::write(&path, self.script()).map_err(|source| ClusterError::Folder { path, source })?;
        let told = tool::output("sbatch", &self.submission(rounds))?;
        let job = script::job_id(&told).ok_or_else(|| ClusterError::Tool {
            program: "sbatch",
            reason: format!("it said: {}", told.trim()),
        })?;
        for &round in rounds {
            self.rounds.insert(round, Round { job, node: None, has_ended: false });
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<Vec<TaskEvent>, ClusterError> {
        let mut events = Vec::new();
        self.look_for_starts(&mut events);
        // Files are checked before the queue, because Slurm forgets a task some time after it has delivered.
        self.look_for_files(&mut events);
        if self.asked_at.is_none_or(|at| at.elapsed() >= QUEUE_EVERY) {
            self.look_at_queue(&mut events);
            self.asked_at = Some(Instant::now());
        }
        Ok(events)
    }

    fn cancel(&mut self) {
        let jobs: BTreeSet<u64> =
            self.rounds.values().map(|round| round.job).filter(|job| *job > 0).collect();
        if !jobs.is_empty() {
            let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
            // An error is ignored: if Slurm does not answer, users can still cancel the jobs by name with
            // `scancel`.
            let _ = tool::output("scancel", &jobs);
        }
        self.rounds.clear();
    }
}

/// Returns the reason why a task waits again, with the state of its node as Slurm reports it.
fn requeued(node: Option<&str>) -> String {
    let state = node.and_then(|node| {
        let arguments = ["--noheader".to_owned(), format!("--nodes={node}"), "--format=%T".to_owned()];
        let told = tool::output("sinfo", &arguments).ok()?;
        Some(format!(", the node is {}", told.lines().next()?.trim()))
    });
    format!("Slurm has put it back into its queue{}", state.unwrap_or_default())
}

/// A start of a task, as its start file describes it.
struct Start {
    /// The name of the start file.
    name: String,
    round: u32,
    /// The job id that Slurm gave to this one array task.
    job: u64,
    restart: u32,
    node: String,
}

impl Start {
    /// Reads the name `ROUND.JOB.RESTART`.
    fn parse(name: String, node: String) -> Option<Self> {
        let mut parts = name.split('.');
        let round = parts.next()?.parse().ok()?;
        let job = parts.next()?.parse().ok()?;
        let restart = parts.next()?.parse().ok()?;
        Some(Self { name, round, job, restart, node })
    }
}
