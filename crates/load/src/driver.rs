//! The lab's end of the load process: starts it, hands it the job, reads its frames.
use std::path::Path;

use crate::frame::Frame;
use crate::job::Job;

/// A running load process. Dropping it kills the process.
#[derive(Debug)]
pub struct Driver {
    child: std::process::Child,
    frames: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
}

/// The load process could not be started, or said something that is no frame.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// It would not start.
    #[error("cannot start the load process {program}: {source}")]
    Spawn {
        /// What was to be run.
        program: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The pipe to it broke.
    #[error("lost the load process: {0}")]
    Pipe(#[from] std::io::Error),
    /// It spoke out of turn.
    #[error("the load process said something that is no frame: {0}")]
    Frame(#[from] serde_json::Error),
    /// It ended without a last frame.
    #[error("the load process ended without a result ({0})")]
    Ended(std::process::ExitStatus),
}

impl Driver {
    /// Starts `program drive` and hands it the job.
    ///
    /// # Errors
    /// The program cannot be started or does not read its input.
    pub fn spawn(program: &Path, job: &Job) -> Result<Self, DriverError> {
        let _ = (program, job);
        unimplemented!()
    }

    /// The process id, to account its CPU.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the next frame; none after the last one.
    ///
    /// # Errors
    /// The process died or broke the protocol.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, DriverError> {
        self.frames.next();
        unimplemented!()
    }

    /// Asks the process to end early: it closes its connections and sends its last frame.
    pub fn stop(&mut self) {
        self.child.stdin.take();
    }
}
