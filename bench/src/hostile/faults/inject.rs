//! Injects faults into a run.

use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use dyno_fuzz::Random;

use super::bed::{Ballast, Bed, NoRight};
use super::kind::Kind;
use super::plans::PlanKind;
use super::processes::{self, Process};

/// How long a process is stopped. This is shorter than the timeouts of a run.
pub(super) const STOPPED: Duration = Duration::from_millis(1500);
/// How long a disk stays full, or a folder immutable.
const HELD: Duration = Duration::from_secs(2);
/// How long the disk with the results stays full, unless the fault lasts until the end of the run.
const HELD_SHORT: Duration = Duration::from_secs(1);
/// How long to wait until a target of a fault appears.
const TARGET_PATIENCE: Duration = Duration::from_secs(15);

/// An injected fault and its time.
#[derive(Clone, Debug)]
pub(super) struct Injected {
    pub(super) kind: Kind,
    pub(super) began_ms: i64,
    /// The system that the fault hit; `None` if it hit all systems or an unknown one.
    pub(super) system: Option<&'static str>,
    /// A problem that was found while the fault was injected.
    pub(super) complaint: Option<String>,
    /// Whether the fault makes `dyno` end.
    pub(super) ends_dyno: bool,
}

/// A run in progress.
pub(super) struct Session<'a> {
    pub(super) bed: &'a Bed,
    pub(super) plan: PlanKind,
    pub(super) dyno: &'a mut Child,
}

impl Session<'_> {
    fn pid(&self) -> i32 {
        self.dyno.id().cast_signed()
    }

    pub(super) fn has_ended(&mut self) -> bool {
        self.dyno.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Sleeps while the run continues. Returns whether it still runs.
    pub(super) fn sleep(&mut self, time: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < time && !self.has_ended() {
            thread::sleep(Duration::from_millis(10).min(time));
        }
        !self.has_ended()
    }

    /// Injects a fault. Returns `None` if the run ended before a target appeared.
    pub(super) fn inject(&mut self, kind: Kind, random: &mut Random) -> anyhow::Result<Option<Injected>> {
        let mut injected =
            Injected { kind, began_ms: now_ms(), system: None, complaint: None, ends_dyno: kind.hits_all() };
        match kind {
            Kind::DynoKilled => processes::send(libc::SIGKILL, self.pid()),
            Kind::DynoTerminated => processes::send(libc::SIGTERM, self.pid()),
            Kind::DynoInterrupted => processes::send(libc::SIGINT, -self.pid()),
            Kind::LoadKilled | Kind::LoadStopped | Kind::ServerKilled | Kind::ServerStopped => {
                let Some((process, system)) = self.target(kind, random) else { return Ok(None) };
                injected.began_ms = now_ms();
                injected.system = system;
                if matches!(kind, Kind::LoadKilled | Kind::ServerKilled) {
                    processes::send(libc::SIGKILL, process.pid);
                } else {
                    // Stop all processes of a server together, as when a hypervisor pauses its machine.
                    let below = processes::descendants(process.pid);
                    let all: Vec<i32> =
                        below.iter().map(|process| process.pid).chain([process.pid]).collect();
                    for pid in &all {
                        processes::send(libc::SIGSTOP, *pid);
                    }
                    self.sleep(STOPPED);
                    for pid in &all {
                        processes::send(libc::SIGCONT, *pid);
                    }
                }
            }
            Kind::ResultsDiskFull => self.fill(&self.bed.path("results"), HELD_SHORT)?,
            Kind::ResultsDiskFullForLong => {
                self.fill(&self.bed.path("results"), Duration::from_secs(60))?;
                injected.ends_dyno = true;
            }
            Kind::DataDiskFull => self.fill(&self.bed.path("memory"), HELD)?,
            Kind::VolumeFull => {
                let Some(volume) = self.wait_for(|session| session.bed.volumes().pop()) else {
                    return Ok(None);
                };
                injected.began_ms = now_ms();
                // Filling fails if the volume was removed together with its server.
                if self.fill(&volume, HELD).is_err() {
                    return Ok(None);
                }
            }
            Kind::NoRightToWrite => {
                let runs = self.bed.cache(self.plan).join("runs");
                if self.wait_for(|_| runs.exists().then_some(())).is_none() {
                    return Ok(None);
                }
                let held = NoRight::on(&runs).context("rights cannot be taken")?;
                self.sleep(HELD);
                drop(held);
            }
            Kind::SecondResume => injected.complaint = self.resume_twice()?,
        }
        Ok(Some(injected))
    }

    fn fill(&mut self, folder: &Path, time: Duration) -> anyhow::Result<()> {
        let ballast = Ballast::put(folder)?;
        self.sleep(time);
        drop(ballast);
        Ok(())
    }

    /// Starts a second `dyno` that resumes the run. The second `dyno` must refuse, because the first one is still
    /// executing the run. Returns a complaint if it does not refuse.
    fn resume_twice(&mut self) -> anyhow::Result<Option<String>> {
        let said = self.bed.path("second.txt");
        let mut second = self.bed.start(self.plan, true, &said)?;
        let status = second.wait()?;
        let said = std::fs::read_to_string(&said)?;
        let is_refused =
            ["still in progress", "has no run of it", "is complete"].iter().any(|words| said.contains(words));
        let is_wrong = (status.success() || !is_refused) && !self.has_ended();
        Ok(is_wrong.then(|| format!("a second --resume was not refused: {said}")))
    }

    /// Polls until `look` returns something. Returns `None` after a time limit, or if the run ends.
    fn wait_for<T>(&mut self, mut look: impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        let began = Instant::now();
        while began.elapsed() < TARGET_PATIENCE && !self.has_ended() {
            if let Some(found) = look(self) {
                return Some(found);
            }
            thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// Waits for a random time while a load runs. Then returns a random process to hit, and the system of the
    /// process if it is known.
    fn target(&mut self, kind: Kind, random: &mut Random) -> Option<(Process, Option<&'static str>)> {
        let wants_load = matches!(kind, Kind::LoadKilled | Kind::LoadStopped);
        let is_there = |session: &mut Self| {
            let all = processes::descendants(session.pid());
            all.iter().any(is_load).then_some(all)
        };
        self.wait_for(is_there)?;
        self.sleep(Duration::from_millis(random.below(1200)));
        let all = self.wait_for(is_there)?;
        let mut targets: Vec<(Process, Option<&'static str>)> = Vec::new();
        for process in &all {
            if wants_load && is_load(process) {
                targets.push((process.clone(), None));
            } else if !wants_load && process.parent == self.pid() && system_of(process).is_some() {
                targets.push((process.clone(), system_of(process)));
            }
        }
        if targets.is_empty() {
            return None;
        }
        let (process, system) = targets.swap_remove(random.index(targets.len()));
        // If a server has several processes, kill a random one of them.
        if kind == Kind::ServerKilled {
            let mut below = processes::descendants(process.pid);
            below.push(process);
            return Some((below.swap_remove(random.index(below.len())), system));
        }
        Some((process, system))
    }
}

fn is_load(process: &Process) -> bool {
    process.command.ends_with(" drive ")
}

/// Returns the name that this benchmark's plans give to the system of a server process. `None` for other processes.
fn system_of(process: &Process) -> Option<&'static str> {
    let program = process.command.split(' ').next()?.rsplit('/').next()?;
    match program {
        "mariadbd" | "mysqld" => Some("mariadb"),
        "postgres" => Some("postgres"),
        _ => None,
    }
}

pub(super) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}
