//! Runs rounds on hosts that are reached by ssh. A host that runs no task gets the next round.
//!
//! The program is the user's own `ssh`, with its configuration, agent and jump hosts. A task's results file arrives
//! on ssh's standard output. A task ends when its standard input is closed, so no task outlives this process.

mod copies;
mod drivers;
mod host;
mod prepare;

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::ClusterError;
use crate::folder::Folder;
use crate::site::{Site, TaskEvent};
use crate::task::{TaskCommand, TaskWords};

pub use self::drivers::SshDrivers;
use self::host::{Ended, Running};
use self::prepare::Prepared;

/// After this many lost attempts in a row, a host gets no more rounds.
const LOSSES_MAX: u32 = 2;
/// Time that tasks have to stop their servers after they were told to end.
const STOP_WITHIN: Duration = Duration::from_secs(30);

/// The `dyno` that hosts run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteDyno {
    /// The running `dyno`, which is copied to the hosts.
    Copied,
    /// A `dyno` that is already on the hosts, by its path.
    At(String),
}

/// A site of hosts that are reached by ssh.
pub struct Ssh {
    folder: Folder,
    task: TaskCommand,
    dyno: RemoteDyno,
    hosts: Vec<Host>,
    /// Rounds that were submitted and not yet given to a host.
    queue: VecDeque<u32>,
    /// Events that the next poll returns.
    told: Vec<TaskEvent>,
}

/// A host of the site, with its current task.
struct Host {
    name: String,
    /// Where the host has the program and the plan. `None` until they are copied.
    prepared: Option<Prepared>,
    running: Option<Running>,
    /// The number of attempts that the host has lost since it last delivered a result.
    losses: u32,
    /// Whether the host gets no more rounds.
    is_out: bool,
}

impl Ssh {
    /// Creates the site without contacting its hosts.
    pub fn new(folder: Folder, task: TaskCommand, hosts: Vec<String>, dyno: RemoteDyno) -> Self {
        let host = |name| Host { name, prepared: None, running: None, losses: 0, is_out: false };
        let hosts = hosts.into_iter().map(host).collect();
        Self { folder, task, dyno, hosts, queue: VecDeque::new(), told: Vec::new() }
    }

    /// Returns the commands that would run this round, to show to users. There is a line for each host.
    pub fn shown(&self, round: u32) -> String {
        let prepared = prepare::expected(&self.task, &self.dyno);
        let command =
            |host: &Host| format!("{}\n", host::shown(&host.name, &self.line(host, &prepared, round)));
        self.hosts.iter().map(command).collect()
    }

    /// Copies the program and the plan to the hosts that lack them. A host that cannot be reached gets no rounds.
    fn prepare(&mut self) {
        let (task, dyno) = (&self.task, &self.dyno);
        let new: Vec<&mut Host> =
            self.hosts.iter_mut().filter(|host| host.prepared.is_none() && !host.is_out).collect();
        let told = thread::scope(|scope| {
            let threads: Vec<_> = new
                .into_iter()
                .map(|host| {
                    scope.spawn(move || match prepare::prepare(&host.name, task, dyno) {
                        Ok(prepared) => {
                            host.prepared = Some(prepared);
                            None
                        }
                        Err(reason) => {
                            host.is_out = true;
                            Some(TaskEvent::Told(format!("warning: {} gets no rounds: {reason}", host.name)))
                        }
                    })
                })
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect::<Vec<_>>()
        });
        self.told.extend(told);
    }

    fn line(&self, host: &Host, prepared: &Prepared, round: u32) -> String {
        self.task.line(&TaskWords {
            program: &prepared.program,
            plan: &prepared.plan,
            round: &round.to_string(),
            node: &dyno_printable::quote(&host.name),
            deliver: "-",
        })
    }

    /// Gives the next rounds to hosts that run no task.
    fn hand_out(&mut self) -> Result<(), ClusterError> {
        for at in 0..self.hosts.len() {
            let host = &self.hosts[at];
            let Some(prepared) = host.prepared.as_ref().filter(|_| !host.is_out && host.running.is_none())
            else {
                continue;
            };
            let Some(round) = self.queue.pop_front() else { break };
            let line = self.line(host, prepared, round);
            let running = Running::start(&host.name, &line, round, &self.folder)?;
            self.told.push(TaskEvent::Started { round, node: host.name.clone() });
            self.hosts[at].running = Some(running);
        }
        Ok(())
    }

    /// Handles tasks that have ended.
    fn look_at_hosts(&mut self) {
        for host in &mut self.hosts {
            let Some(ended) = host.running.as_mut().and_then(Running::ended) else { continue };
            let Some(running) = host.running.take() else { continue };
            let round = running.round;
            let (reason, is_gone) = match ended {
                Ended::Delivered { file } => {
                    host.losses = 0;
                    self.told.push(TaskEvent::Delivered { round, file });
                    continue;
                }
                Ended::Gone { reason } => (reason, true),
                Ended::Failed { reason } => (reason, false),
            };
            host.losses += 1;
            let node = Some(host.name.clone());
            self.told.push(TaskEvent::Lost { round, node, reason: reason.clone(), is_requeued: false });
            if is_gone || host.losses >= LOSSES_MAX {
                host.is_out = true;
                self.told
                    .push(TaskEvent::Told(format!("warning: {} gets no more rounds: {reason}", host.name)));
            }
        }
    }

    fn tell(&mut self) -> Vec<TaskEvent> {
        std::mem::take(&mut self.told)
    }
}

impl Site for Ssh {
    /// Adopts nothing, because tasks end with the process that started them.
    fn adopt(&mut self, _rounds: &[u32]) -> Result<Vec<u32>, ClusterError> {
        Ok(Vec::new())
    }

    fn submit(&mut self, rounds: &[u32]) -> Result<(), ClusterError> {
        self.queue.extend(rounds);
        self.prepare();
        Ok(())
    }

    fn poll(&mut self) -> Result<Vec<TaskEvent>, ClusterError> {
        self.look_at_hosts();
        self.hand_out()?;
        let events = self.tell();
        let is_lost = |event: &TaskEvent| matches!(event, TaskEvent::Lost { .. });
        // If an attempt was just lost, this poll reports the loss, so that it is recorded. A later poll returns the
        // error.
        if !events.iter().any(is_lost) && !self.queue.is_empty() && self.hosts.iter().all(|host| host.is_out)
        {
            let reasons: Vec<String> = events.into_iter().filter_map(told).collect();
            let reason =
                if reasons.is_empty() { "each of them was lost".to_owned() } else { reasons.join("; ") };
            return Err(ClusterError::NoHost { reason });
        }
        Ok(events)
    }

    fn cancel(&mut self) {
        self.queue.clear();
        let mut running: Vec<Running> =
            self.hosts.iter_mut().filter_map(|host| host.running.take()).collect();
        running.iter_mut().for_each(Running::stop);
        let began = Instant::now();
        while began.elapsed() < STOP_WITHIN && !running.iter_mut().all(Running::has_ended) {
            thread::sleep(Duration::from_millis(50));
        }
        running.iter_mut().for_each(Running::kill);
    }
}

fn told(event: TaskEvent) -> Option<String> {
    match event {
        TaskEvent::Told(text) => Some(text.trim_start_matches("warning: ").to_owned()),
        _ => None,
    }
}
