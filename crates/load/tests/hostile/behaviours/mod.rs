//! More than sixty ways in which a server can misbehave, for each protocol. Each job must end within its time
//! limit, with a one-line error or with the outcome that the behaviour states. The password must never reach the
//! server, whatever the server asks for.
//!
//! The servers have an address of this host outside the loopback interface, because the client would trust servers
//! on the loopback interface.

mod mysql;
mod pgsql;

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use dyno_engine::testing::{Authority, own_address};
use dyno_load::{Address, Job, Protocol, Scheduler, TlsMode};

use crate::job::{PASSWORD, Story, job, run};
use crate::listener::{Ear, Listener, Play};

/// Number of behaviours that are tested at the same time. Most of them only wait.
const AT_ONCE: usize = 12;

/// Smallest number of behaviours of each protocol.
const BEHAVIOURS_MIN: usize = 60;

/// Limit on the peak memory of the process, in MiB: a few results of the largest size, and their copies.
const MEMORY_MIB_MAX: u64 = 3 * 1024;

/// A script that reads all rows of a query.
pub(crate) const READS: &str = "
   local result = con:query('SELECT 1')
   for _ = 1, result.nrows do result:fetch_row() end
";
/// Like [`READS`], but with a second statement, which fails if a row could not be read.
pub(crate) const READS_ON: &str = "
   local result = con:query('SELECT 1')
   for _ = 1, result.nrows do result:fetch_row() end
   con:query('SELECT 2')
";
/// A script that prepares a statement with a parameter, executes it, and reads all rows.
pub(crate) const PREPARES: &str = "
   local statement = con:prepare('SELECT ?')
   local parameter = statement:bind_create(sysbench.sql.type.INT)
   statement:bind_param(parameter)
   parameter:set(1)
   local result = statement:execute()
   for _ = 1, result.nrows do result:fetch_row() end
";

/// Like [`PREPARES`], but the statement is executed once more.
pub(crate) const PREPARES_ON: &str = "
   local statement = con:prepare('SELECT ?')
   local parameter = statement:bind_create(sysbench.sql.type.INT)
   statement:bind_param(parameter)
   parameter:set(1)
   local result = statement:execute()
   for _ = 1, result.nrows do result:fetch_row() end
   statement:execute()
";

/// The expected outcome of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// The job fails with one line that contains these words.
    Fails(&'static str),
    /// The job fails because the login is not complete in time.
    IsLate,
    /// The job fails because the login never ends. The message says that the login is not complete in time or, on a
    /// fast machine, that it has too many bytes.
    IsEndless,
    /// The job ends when its time is over, and the event in flight is not finished.
    IsUnfinished,
    /// The job ends without an error.
    Finishes,
}

/// One way in which a server misbehaves.
pub(crate) struct Behaviour {
    pub(crate) name: &'static str,
    pub(crate) tls: TlsMode,
    pub(crate) script: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) play: Play,
}

impl Behaviour {
    /// Creates a behaviour without TLS. The client runs the script [`READS`].
    pub(crate) fn new(name: &'static str, outcome: Outcome, play: Play) -> Self {
        Self { name, tls: TlsMode::Disabled, script: READS, outcome, play }
    }

    /// Like [`new`](Self::new), but the client runs another script.
    pub(crate) fn of_script(script: &'static str, name: &'static str, outcome: Outcome, play: Play) -> Self {
        Self { script, ..Self::new(name, outcome, play) }
    }

    /// Creates a behaviour with TLS. The client does not verify the server.
    pub(crate) fn with_tls(name: &'static str, outcome: Outcome, play: Play) -> Self {
        Self { tls: TlsMode::Required, ..Self::new(name, outcome, play) }
    }
}

#[test]
fn mysql_servers_that_misbehave() {
    meet_all(Protocol::Mysql, mysql::all());
}

#[test]
fn postgres_servers_that_misbehave() {
    meet_all(Protocol::Pgsql, pgsql::all());
}

fn meet_all(driver: Protocol, behaviours: Vec<Behaviour>) {
    let Some(host) = own_address() else { return };
    let names: BTreeSet<_> = behaviours.iter().map(|behaviour| behaviour.name).collect();
    assert_eq!(names.len(), behaviours.len(), "two behaviours have one name");
    assert!(names.len() >= BEHAVIOURS_MIN, "{} behaviours", names.len());
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let left = Mutex::new(behaviours);
    let findings = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().pop();
                    let Some(behaviour) = next else { break };
                    let found = meet(driver, &behaviour, host, &authority.cert);
                    findings.lock().unwrap().extend(found);
                }
            });
        }
    });
    let findings = findings.into_inner().unwrap();
    assert!(findings.is_empty(), "{driver:?}: {} findings:\n{}", findings.len(), findings.join("\n"));
    assert!(memory_mib_max() < MEMORY_MIB_MAX, "{} MiB", memory_mib_max());
}

/// Runs a behaviour with both schedulers. Returns how the outcomes of the two jobs differ from the expected outcome.
fn meet(driver: Protocol, behaviour: &Behaviour, host: Ipv4Addr, ca: &Path) -> Vec<String> {
    let (listener, ear) = Listener::at(host, behaviour.play);
    let address = &listener.addresses[0];
    let run_by = |scheduler: Scheduler| {
        let mut job = job_of(driver, behaviour, address, scheduler);
        job.target.tls.ca = behaviour.tls.verifies().then(|| ca.to_owned());
        let story = run(job);
        let wrong = fault(behaviour, &story, &ear)?;
        Some(format!("{}, {scheduler:?}: {wrong}", behaviour.name))
    };
    thread::scope(|scope| {
        let both = [Scheduler::Event, Scheduler::Thread].map(|way| {
            let run_by = &run_by;
            scope.spawn(move || run_by(way))
        });
        both.into_iter()
            .filter_map(|way| way.join().unwrap_or_else(|_| Some(format!("{}: it panics", behaviour.name))))
            .collect()
    })
}

fn job_of(driver: Protocol, behaviour: &Behaviour, address: &Address, scheduler: Scheduler) -> Job {
    let mut job = job(driver, address, scheduler);
    job.target.tls.mode = behaviour.tls;
    job.script.source = format!(
        "function thread_init() con = sysbench.sql.driver():connect() end\nfunction event() {} end",
        behaviour.script
    );
    match behaviour.outcome {
        Outcome::IsLate | Outcome::IsEndless => job.target.connect_seconds_max = Some(1.0),
        Outcome::IsUnfinished => job.seconds = Some(1.0),
        // There is no time limit, because on a busy machine the job might exceed it and fail with another message.
        Outcome::Fails(_) | Outcome::Finishes => {}
    }
    job
}

const LATE: &str = "did not complete the login within";

fn fault(behaviour: &Behaviour, story: &Story, ear: &Ear) -> Option<String> {
    let heard = ear.heard();
    if heard.windows(PASSWORD.len()).any(|bytes| bytes == PASSWORD.as_bytes()) {
        return Some("the server has heard the password".to_owned());
    }
    let failure = story.failure.as_deref();
    if let Some(message) = failure
        && (message.contains(char::is_control) || message.contains(PASSWORD) || message.len() > 10_000)
    {
        return Some(format!("not a line that can be shown: {message:?}"));
    }
    let is_right = match behaviour.outcome {
        Outcome::Fails(words) => failure.is_some_and(|message| message.contains(words)),
        Outcome::IsLate => failure.is_some_and(|message| message.contains(LATE)),
        Outcome::IsEndless => {
            failure.is_some_and(|message| message.contains(LATE) || message.contains("larger than the limit"))
        }
        Outcome::IsUnfinished => {
            failure.is_none() && story.total.as_ref().is_some_and(|total| total.unfinished == 1)
        }
        Outcome::Finishes => failure.is_none() && story.total.is_some(),
    };
    let total = story.total.as_ref().map(|total| (total.counts.events, total.unfinished));
    (!is_right).then(|| format!("{:?} expected, not {failure:?}, {total:?}", behaviour.outcome))
}

/// The most memory that this process has used.
fn memory_mib_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).expect("a number") / 1024
}
