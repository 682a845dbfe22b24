//! Processes that use CPUs from time to time, like other processes on a shared machine.

use std::process::{ChildStdin, Command, Stdio};

use anyhow::{Context as _, ensure};

/// How the processes of a neighbour use CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Number of processes. Each uses one CPU while it is busy.
    processes: u32,
    /// The share of the time in which a process is busy.
    share: f64,
    /// Mean length of a busy and an idle phase together, in seconds. The lengths are random.
    period_seconds: f64,
    /// Whether the processes preempt others, as other guests of a hypervisor do (`SCHED_FIFO`; needs root).
    is_real_time: bool,
}

/// Alternates busy and idle phases of random lengths until standard input ends. The script forks, and the parent
/// process ends immediately. Therefore the busy process is not a descendant of the benchmark, and counts as a
/// neighbour.
const SCRIPT: &str = "
import os, random, select, sys, time
share, period, real_time = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == '1'
if os.fork():
    os._exit(0)
if real_time:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
idle = 0
while not select.select([0], [], [], idle)[0]:
    length = period * 2 * random.random()
    until = time.monotonic() + length * share
    while time.monotonic() < until: pass
    idle = length * (1 - share)
";

/// The absence of a neighbour.
pub(crate) const QUIET: Kind = Kind::new("none", 0, 0.0);

impl Kind {
    const fn new(name: &'static str, processes: u32, share: f64) -> Self {
        Self { name, processes, share, period_seconds: 0.1, is_real_time: false }
    }

    /// First no neighbour, then neighbours that use 5 to 100% of one CPU or of two CPUs, then one neighbour with long
    /// phases, and two with real-time priority.
    pub(crate) const ALL: [Self; 14] = [
        QUIET,
        Self::new("5% of a CPU", 1, 0.05),
        Self::new("10% of a CPU", 1, 0.1),
        Self::new("25% of a CPU", 1, 0.25),
        Self::new("50% of a CPU", 1, 0.5),
        Self::new("a CPU", 1, 1.0),
        Self::new("5% of two CPUs", 2, 0.05),
        Self::new("10% of two CPUs", 2, 0.1),
        Self::new("25% of two CPUs", 2, 0.25),
        Self::new("50% of two CPUs", 2, 0.5),
        Self::new("two CPUs", 2, 1.0),
        Self { period_seconds: 1.0, ..Self::new("half a CPU, long phases", 1, 0.5) },
        Self { is_real_time: true, ..Self::new("5% of a CPU, first", 1, 0.05) },
        Self { is_real_time: true, ..Self::new("25% of a CPU, first", 1, 0.25) },
    ];
}

/// The processes of a neighbour. Dropping it closes their standard input, which ends them.
pub(crate) struct Neighbour {
    _inputs: Vec<ChildStdin>,
}

impl Neighbour {
    /// Starts the processes of a neighbour.
    ///
    /// # Errors
    /// Python is missing, or the rights do not suffice for real-time priority.
    pub(crate) fn start(kind: Kind) -> anyhow::Result<Self> {
        let real_time = u8::from(kind.is_real_time).to_string();
        let words = [kind.share.to_string(), kind.period_seconds.to_string(), real_time];
        let mut inputs = Vec::new();
        for _ in 0..kind.processes {
            let mut command = Command::new("python3");
            let command = command.args(["-c", SCRIPT]).args(&words).stdin(Stdio::piped());
            let mut parent = command.spawn().context("cannot start a busy neighbour")?;
            inputs.extend(parent.stdin.take());
            ensure!(parent.wait()?.success(), "the busy neighbour did not start");
        }
        Ok(Self { _inputs: inputs })
    }
}
