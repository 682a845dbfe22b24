//! Runs one job in a load process, and watches over it.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyno_load::{Driver, DriverError, Frame, Job, Total};
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

/// A load process at work. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Drive {
    pid: u32,
    /// The process itself, not its number, which may be used again.
    handle: Option<OwnedFd>,
    frames: Receiver<Result<Option<Frame>, DriverError>>,
    reader: Option<JoinHandle<()>>,
}

impl Drive {
    /// Starts `program drive` on a job.
    pub(crate) fn start(program: &Path, job: &Job) -> Result<Self, DriverError> {
        let mut command = Command::new(program);
        // ^C on a terminal goes to a whole process group; when the load stops is for the run to say.
        command.arg("drive").process_group(0);
        let mut driver = Driver::spawn_command(command, job)?;
        let pid = driver.pid();
        let handle =
            Pid::from_raw(pid.cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let (sender, frames) = channel();
        // Reading frames blocks; whoever follows them must not.
        let reader = thread::spawn(move || {
            let mut more = true;
            while more {
                let frame = driver.next_frame();
                more = matches!(frame, Ok(Some(_)));
                more &= sender.send(frame).is_ok();
            }
        });
        Ok(Self { pid, handle, frames, reader: Some(reader) })
    }

    /// The load process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Passes on every frame until the job's end.
    pub(crate) fn follow(&self, watch: Watch<'_>, mut on_frame: impl FnMut(&Frame)) -> Result<Total, Cut> {
        let mut moved_at = Instant::now();
        loop {
            if watch.stop.load(Ordering::Relaxed) {
                return Err(Cut::Stopped);
            }
            match self.frames.recv_timeout(GLANCE) {
                Ok(Ok(Some(frame))) => {
                    on_frame(&frame);
                    if is_progress(&frame) {
                        moved_at = Instant::now();
                    }
                    match frame {
                        Frame::Finished(total) => return Ok(total),
                        Frame::Failed { message, total } => {
                            return Err(Cut::Failed { message, total: total.map(Box::new) });
                        }
                        _ => {}
                    }
                }
                Ok(Err(error)) => return Err(Cut::Failed { message: error.to_string(), total: None }),
                Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => {
                    let message = "the load process ended without a result".to_owned();
                    return Err(Cut::Failed { message, total: None });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if moved_at.elapsed() > watch.patience {
                return Err(Cut::Hung(watch.patience));
            }
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
