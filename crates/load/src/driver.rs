//! The lab's end of the load process: starts it, hands it the job, reads its frames.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::frame::{Frame, SliceOrder};
use crate::job::Job;

/// A running load process. Dropping it kills the process; so does the death of the process that started it,
/// since that ends its input.
#[derive(Debug)]
pub struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    frames: Lines<BufReader<ChildStdout>>,
    finished: bool,
}

/// The load process could not be started, or did not keep to its part.
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
    /// It said something that is no frame.
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
        let mut command = Command::new(program);
        command.arg("drive");
        Self::spawn_command(command, job)
    }

    /// Starts any command that ends in a load process, such as `ssh host dyno drive`, and hands it the job.
    ///
    /// # Errors
    /// The command cannot be started or does not read its input.
    pub fn spawn_command(mut command: Command, job: &Job) -> Result<Self, DriverError> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|source| {
            DriverError::Spawn { program: command.get_program().to_string_lossy().into_owned(), source }
        })?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(DriverError::Pipe(std::io::ErrorKind::BrokenPipe.into()));
        };
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        input.write_all(&line)?;
        Ok(Self { child, input: Some(input), frames: BufReader::new(output).lines(), finished: false })
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
        if self.finished {
            return Ok(None);
        }
        let Some(line) = self.frames.next() else {
            return Err(DriverError::Ended(self.child.wait()?));
        };
        let frame: Frame = serde_json::from_str(&line?)?;
        self.finished = matches!(frame, Frame::Finished(_) | Frame::Failed { .. });
        Ok(Some(frame))
    }

    /// The way to order slices of a job that is [`sliced`](Job::sliced); none if it was taken before. Dropping it ends
    /// the job.
    pub fn slice_orders(&mut self) -> Option<SliceOrders> {
        self.input.take().map(SliceOrders)
    }

    /// Asks the process to end early: it hangs up and sends its last frame.
    pub fn stop(&mut self) {
        self.input = None;
    }
}

/// Orders slices of a job. Dropping it ends the job.
#[derive(Debug)]
pub struct SliceOrders(ChildStdin);

impl SliceOrders {
    /// Orders the next slice; the load process answers with a [`Frame::Slice`].
    ///
    /// # Errors
    /// The process is gone.
    pub fn order(&mut self, order: &SliceOrder) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.input = None;
        if !self.finished {
            // A process that has ended already cannot be killed, which is as well.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
