//! Follows a load process until its job ends, the user stops the run, or no event finishes for too long.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dyno_host::{CpuSet, Process, pin_command};
use dyno_load::{Counts, Frame, FrameSource, Job, LoadProcess, LoadProcessError, Slice, SliceOrder, Total};

use crate::run::error::SystemError;

/// When no event finishes, the CPU use of the load process is measured over this time.
const BUSY_WINDOW: Duration = Duration::from_millis(300);
/// A load process that uses less of a core than this share is waiting for the server.
const BUSY_SHARE_MIN: f64 = 0.5;

/// Time between two checks of the conditions that end a job.
const POLL: Duration = Duration::from_millis(50);

/// Why a trial ended early.
#[derive(Debug)]
pub(crate) enum TrialAbort {
    /// The user stopped the run.
    Stopped,
    /// The load process reported an error, or died. `total` has the measurements until then.
    Failed { message: String, total: Option<Box<Total>> },
    /// No event finished for too long.
    Hung(Hang),
}

/// A load in which no event finished for too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hang {
    pub(crate) patience: Duration,
    /// Whether the load process used a core while no event finished. If so, its script was running, and was not
    /// waiting for the server.
    pub(crate) is_busy: bool,
}

impl TrialAbort {
    /// A failure before anything was measured.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), total: None }
    }

    /// Returns the measurements until the abort, if they are known.
    pub(crate) fn total(&self) -> Option<&Total> {
        match self {
            Self::Failed { total, .. } => total.as_deref(),
            Self::Stopped | Self::Hung(_) => None,
        }
    }
}

impl From<SystemError> for TrialAbort {
    fn from(error: SystemError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<LoadProcessError> for TrialAbort {
    fn from(error: LoadProcessError) -> Self {
        Self::failed(error.to_string())
    }
}

/// Starts `program drive` with a job, on the given CPUs or on all.
pub(crate) fn start_load(
    program: &Path,
    job: &Job,
    cpus: Option<&CpuSet>,
) -> Result<LoadProcess, TrialAbort> {
    let mut command = Command::new(program);
    if let Some(cpus) = cpus {
        pin_command(&mut command, cpus);
    }
    // Pressing ^C in a terminal reaches a whole process group. The load has a separate group, so that only the run
    // ends it.
    command.arg("drive").process_group(0);
    Ok(LoadProcess::start(command, job)?)
}

/// When to end a job early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    /// This flag is set when the user stops the run.
    pub(crate) stop: &'a AtomicBool,
    /// If no event finishes for this time, the job counts as hung.
    pub(crate) patience: Duration,
}

impl Watch<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Calls `on_frame` with every frame until the job ends. Calls `meanwhile` after each frame, and every 50 ms if
    /// no frame arrives.
    pub(crate) fn follow(
        self,
        load: &mut dyn FrameSource,
        on_frame: impl FnMut(&Frame),
        meanwhile: impl FnMut() -> Result<(), TrialAbort>,
    ) -> Result<Total, TrialAbort> {
        self.follow_until(load, on_frame, meanwhile, || false)
    }

    /// Like [`follow`](Self::follow), but for a job that does not end by itself. The job is ended when `is_over`
    /// returns true.
    pub(crate) fn follow_until(
        self,
        load: &mut dyn FrameSource,
        mut on_frame: impl FnMut(&Frame),
        mut meanwhile: impl FnMut() -> Result<(), TrialAbort>,
        is_over: impl Fn() -> bool,
    ) -> Result<Total, TrialAbort> {
        let mut progressed_at = Instant::now();
        let mut is_ended = false;
        loop {
            if let Some(frame) = self.next_frame(load)? {
                on_frame(&frame);
                if is_progress(&frame) {
                    progressed_at = Instant::now();
                }
                if let Frame::Finished(total) = frame {
                    return Ok(total);
                }
            }
            meanwhile()?;
            if !is_ended && is_over() {
                is_ended = true;
                load.end();
            }
            self.check_patience(load, progressed_at)?;
        }
    }

    /// Waits until the warm-up has ended.
    pub(crate) fn until_measuring(self, load: &mut LoadProcess) -> Result<(), TrialAbort> {
        self.until(load, |frame| matches!(frame, Frame::Measuring))
    }

    /// Waits for a frame for which `is_it` returns true.
    pub(crate) fn until(
        self,
        load: &mut dyn FrameSource,
        is_it: impl Fn(&Frame) -> bool,
    ) -> Result<(), TrialAbort> {
        let started_at = Instant::now();
        while !self.next_frame(load)?.as_ref().is_some_and(&is_it) {
            self.check_patience(load, started_at)?;
        }
        Ok(())
    }

    /// Runs one slice, and waits until the load's connections rest again.
    pub(crate) fn slice(self, load: &mut LoadProcess, order: &SliceOrder) -> Result<Slice, TrialAbort> {
        if let Err(error) = load.order_slice(order) {
            return Err(self.last_error(load).unwrap_or_else(|| error.into()));
        }
        let ordered_at = Instant::now();
        // The load sends no frame during a slice, so the slice's own length is added to the limit.
        let own = Duration::try_from_secs_f64(order.lead_seconds + order.seconds).unwrap_or(Duration::MAX);
        let watch = Self { patience: self.patience.saturating_add(own), ..self };
        loop {
            match self.next_frame(load)? {
                Some(Frame::Slice(slice)) => return Ok(slice),
                Some(Frame::Finished(_)) => return Err(TrialAbort::failed("the load ended by itself")),
                _ => watch.check_patience(load, ordered_at)?,
            }
        }
    }

    /// Ends a load that works in slices, which closes its connections.
    pub(crate) fn finish(self, mut load: LoadProcess) -> Result<Total, TrialAbort> {
        load.end();
        self.follow(&mut load, |_| (), || Ok(()))
    }

    /// Returns the error that a load process reported before it died, if there is one.
    fn last_error(self, load: &mut LoadProcess) -> Option<TrialAbort> {
        loop {
            match self.next_frame(load) {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(abort) => return Some(abort),
            }
        }
    }

    fn check_patience(self, load: &dyn FrameSource, progressed_at: Instant) -> Result<(), TrialAbort> {
        if progressed_at.elapsed() <= self.patience {
            return Ok(());
        }
        if let Some((message, total)) = load.silence() {
            return Err(TrialAbort::Failed { message, total: total.map(Box::new) });
        }
        let is_busy = load.local_pid().and_then(busy_share).is_some_and(|share| share > BUSY_SHARE_MIN);
        Err(TrialAbort::Hung(Hang { patience: self.patience, is_busy }))
    }

    /// Waits up to 50 ms for the next frame. Returns an error if the job has failed.
    fn next_frame(self, load: &mut dyn FrameSource) -> Result<Option<Frame>, TrialAbort> {
        if self.is_stopped() {
            return Err(TrialAbort::Stopped);
        }
        match load.next_frame(POLL)? {
            Some((_, Frame::Failed { message, total, .. })) => {
                Err(TrialAbort::Failed { message, total: total.map(Box::new) })
            }
            frame => Ok(frame.map(|(_, frame)| frame)),
        }
    }
}

/// Measures the share of a core that a process uses; `None` if the process has ended.
fn busy_share(pid: u32) -> Option<f64> {
    let mut process = Process::open(pid).ok()?;
    let (before, began) = (process.sample().ok()?, Instant::now());
    std::thread::sleep(BUSY_WINDOW);
    let used = process.sample().ok()?.since(&before);
    Some((used.user_cpu_us + used.system_cpu_us) as f64 / 1e6 / began.elapsed().as_secs_f64())
}

/// Whether a frame shows progress: events finished, or no event was due. Ticks alone show nothing, because the load
/// process sends them even if its server hangs.
fn is_progress(frame: &Frame) -> bool {
    match frame {
        Frame::Tick(tick) => tick.is_idle || tick.counts != Counts::default(),
        _ => true,
    }
}
