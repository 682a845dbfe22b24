//! A load that runs while a benchmark does something to its server.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use dyno_load::{Frame, FrameSource as _, Job, LoadProcess};

use crate::support::server;

/// Time limit for the next frame. Ticks come at least each second.
const FRAME_PATIENCE: Duration = Duration::from_secs(60);

/// A load process: a child process that executes this program.
pub(crate) struct BackgroundLoad(LoadProcess);

impl BackgroundLoad {
    /// Starts a job, and waits until the load measures. `patience` is the time limit for opening the connections.
    pub(crate) fn start(job: &Job, patience: Duration) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("drive");
        let mut load = Self(LoadProcess::start(command, job)?);
        while !matches!(load.next_within(patience)?.1, Frame::Measuring) {}
        Ok(load)
    }

    /// Returns the CPU time that the load process has used, in µs.
    pub(crate) fn cpu_us(&self) -> anyhow::Result<u64> {
        server::process_cpu_us(self.0.pid())
    }

    /// Returns the next frame, and when it arrived.
    pub(crate) fn next(&mut self) -> anyhow::Result<(Instant, Frame)> {
        self.next_within(FRAME_PATIENCE)
    }

    fn next_within(&mut self, patience: Duration) -> anyhow::Result<(Instant, Frame)> {
        match self.0.next_frame(patience)?.context("the load is silent")? {
            (_, Frame::Failed { message, .. }) => bail!(message),
            frame => Ok(frame),
        }
    }

    /// Lets the load run for a time, and discards its frames.
    pub(crate) fn go_on(&mut self, time: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + time;
        while self.next()?.0 < until {}
        Ok(())
    }

    /// Ends the load. Returns an error if the load has failed at any time.
    pub(crate) fn end(mut self) -> anyhow::Result<()> {
        self.0.end();
        while !matches!(self.next()?.1, Frame::Finished(_)) {}
        Ok(())
    }
}
