//! A load that goes on while something is done to its server.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use dyno_load::{Frame, FrameSource as _, Job, LoadProcess};

use crate::support::server;

/// Longest wait for a frame. Ticks come at least each second.
const FRAME_PATIENCE: Duration = Duration::from_secs(60);

/// A load process, with this program as its program.
pub(crate) struct BackgroundLoad(LoadProcess);

impl BackgroundLoad {
    /// Starts a job, and waits until it measures. `patience` is the time limit for its connections.
    pub(crate) fn start(job: &Job, patience: Duration) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("drive");
        let mut load = Self(LoadProcess::start(command, job)?);
        while !matches!(load.next_within(patience)?.1, Frame::Measuring) {}
        Ok(load)
    }

    /// CPU time that it has used, in µs.
    pub(crate) fn cpu_us(&self) -> anyhow::Result<u64> {
        server::process_cpu_us(self.0.pid())
    }

    /// The next frame, with the time of its arrival.
    pub(crate) fn next(&mut self) -> anyhow::Result<(Instant, Frame)> {
        self.next_within(FRAME_PATIENCE)
    }

    fn next_within(&mut self, patience: Duration) -> anyhow::Result<(Instant, Frame)> {
        match self.0.next_frame(patience)?.context("the load is silent")? {
            (_, Frame::Failed { message, .. }) => bail!(message),
            frame => Ok(frame),
        }
    }

    /// Lets it go on for a time, and passes over its frames.
    pub(crate) fn go_on(&mut self, time: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + time;
        while self.next()?.0 < until {}
        Ok(())
    }

    /// Ends it. An error if it failed at any time.
    pub(crate) fn end(mut self) -> anyhow::Result<()> {
        self.0.end();
        while !matches!(self.next()?.1, Frame::Finished(_)) {}
        Ok(())
    }
}
