//! Runs one job in a load process, and watches over it.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyno_host::{CpuSet, pin_command};
use dyno_load::{Driver, DriverError, Frame, Job, Slice, SliceOrder, SliceOrders, Total};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How often a running job is looked at between its frames.
const GLANCE: Duration = Duration::from_millis(50);

/// What ends a job before its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    /// Someone wants the run to stop.
    pub(crate) stop: &'a AtomicBool,
    /// How long nothing may be finished.
    pub(crate) patience: Duration,
}

impl Watch<'_> {
    /// Whether someone wants the run to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A job that did not come to its end.
#[derive(Debug)]
pub(crate) enum Cut {
    /// Someone stopped the run.
    Stopped,
    /// It failed by its own account; some of it may have been measured.
    Failed { message: String, total: Option<Box<Total>> },
    /// Nothing was finished for so long.
    Hung(Duration),
}

impl Cut {
    /// A failure of which nothing was measured.
    pub(crate) fn failed(message: String) -> Self {
        Self::Failed { message, total: None }
    }
}

/// What a load process said, and when.
pub(crate) type Heard = (Instant, Result<Option<Frame>, DriverError>);

/// A load process at work. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Drive {
    pid: u32,
    /// The process itself, not its number, which may be used again.
    handle: Option<OwnedFd>,
    frames: Receiver<Heard>,
    /// Of a job in slices.
    orders: Option<SliceOrders>,
    reader: Option<JoinHandle<()>>,
}

impl Drive {
    /// Starts `program drive` on a job, on some CPUs or on all.
    pub(crate) fn start(program: &Path, job: &Job, cpus: Option<&CpuSet>) -> Result<Self, DriverError> {
        let mut command = Command::new(program);
        if let Some(cpus) = cpus {
            pin_command(&mut command, cpus);
        }
        // ^C on a terminal goes to a whole process group; when the load stops is for the run to say.
        command.arg("drive").process_group(0);
        let mut driver = Driver::spawn_command(command, job)?;
        let pid = driver.pid();
        // The end of its input ends a job, so only one whose slices are ordered gives its input away.
        let orders = if job.sliced { driver.slice_orders() } else { None };
        let handle =
            Pid::from_raw(pid.cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let (sender, frames) = channel();
        // Reading frames blocks; whoever follows them must not.
        let reader = thread::spawn(move || {
            let mut more = true;
            while more {
                let frame = driver.next_frame();
                more = matches!(frame, Ok(Some(_)));
                more &= sender.send((Instant::now(), frame)).is_ok();
            }
        });
        Ok(Self { pid, handle, frames, orders, reader: Some(reader) })
    }

    /// The load process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Passes on every frame until the job's end, and looks in on `meanwhile` between them.
    pub(crate) fn follow(
        &self,
        watch: Watch<'_>,
        mut on_frame: impl FnMut(&Frame),
        mut meanwhile: impl FnMut() -> Result<(), Cut>,
    ) -> Result<Total, Cut> {
        let mut moved_at = Instant::now();
        loop {
            if let Some(frame) = self.next(watch)? {
                on_frame(&frame);
                if is_progress(&frame) {
                    moved_at = Instant::now();
                }
                if let Frame::Finished(total) = frame {
                    return Ok(total);
                }
            }
            meanwhile()?;
            if moved_at.elapsed() > watch.patience {
                return Err(Cut::Hung(watch.patience));
            }
        }
    }

    /// Waits until warming up is over.
    pub(crate) fn until_measuring(&self, watch: Watch<'_>) -> Result<(), Cut> {
        let started_at = Instant::now();
        loop {
            if let Some(Frame::Measuring) = self.next(watch)? {
                return Ok(());
            }
            if started_at.elapsed() > watch.patience {
                return Err(Cut::Hung(watch.patience));
            }
        }
    }

    /// Has the load run one slice, and waits until its connections rest again.
    pub(crate) fn slice(&mut self, order: &SliceOrder, watch: Watch<'_>) -> Result<Slice, Cut> {
        if let Some(orders) = &mut self.orders
            && let Err(error) = orders.order(order)
        {
            return Err(self.last_words(watch, &error));
        }
        let started_at = Instant::now();
        loop {
            match self.next(watch)? {
                Some(Frame::Slice(slice)) => return Ok(slice),
                Some(Frame::Finished(_)) => return Err(Cut::failed("the load ended by itself".to_owned())),
                _ if started_at.elapsed() > watch.patience => return Err(Cut::Hung(watch.patience)),
                _ => {}
            }
        }
    }

    /// Why the load process is gone, in its own words if it left any.
    fn last_words(&self, watch: Watch<'_>, error: &dyn std::fmt::Display) -> Cut {
        loop {
            match self.next(watch) {
                Ok(Some(_)) => {}
                Ok(None) => return Cut::failed(format!("lost the load process: {error}")),
                Err(cut) => return cut,
            }
        }
    }

    /// Ends a job in slices: it hangs up.
    pub(crate) fn finish(mut self, watch: Watch<'_>) -> Result<(), Cut> {
        self.orders = None;
        self.follow(watch, |_| (), || Ok(())).map(|_| ())
    }

    /// What was said meanwhile, without waiting for more.
    pub(crate) fn heard(&self) -> Option<Heard> {
        self.frames.try_recv().ok()
    }

    /// Waits for the next frame for a while. A job that failed is an error.
    fn next(&self, watch: Watch<'_>) -> Result<Option<Frame>, Cut> {
        if watch.is_stopped() {
            return Err(Cut::Stopped);
        }
        match self.frames.recv_timeout(GLANCE).map(|(_, frame)| frame) {
            Ok(Ok(Some(Frame::Failed { message, total }))) => {
                Err(Cut::Failed { message, total: total.map(Box::new) })
            }
            Ok(Ok(Some(frame))) => Ok(Some(frame)),
            Ok(Err(error)) => Err(Cut::Failed { message: error.to_string(), total: None }),
            Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => Err(Cut::Failed {
                message: "the load process ended without a result".to_owned(),
                total: None,
            }),
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            // A process that has ended already needs no killing.
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Whether something went on; the load process ticks even when its server hangs.
fn is_progress(frame: &Frame) -> bool {
    match frame {
        Frame::Tick(tick) => tick.counts != dyno_load::Counts::default(),
        _ => true,
    }
}
