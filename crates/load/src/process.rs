//! A load process, seen from the process that starts it: hands over the job, receives frames, orders slices.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::frame::{Frame, Order, SliceOrder};
use crate::job::Job;

/// A frame with the time at which it arrived.
type ReceivedFrame = Result<(Instant, Frame), LoadProcessError>;

/// A running load process. Dropping it kills the process. If the process that started it dies, its input ends, and it
/// ends itself.
#[derive(Debug)]
pub struct LoadProcess {
    child: Child,
    /// Closing it ends the job.
    input: Option<ChildStdin>,
    frames: Receiver<ReceivedFrame>,
    reader: Option<JoinHandle<()>>,
}

/// The load process could not be started, or broke its protocol.
#[derive(Debug, thiserror::Error)]
pub enum LoadProcessError {
    /// The program cannot be started.
    #[error("cannot start the load process {program}: {source}")]
    Spawn { program: String, source: std::io::Error },
    #[error("lost the load process: {0}")]
    Pipe(#[from] std::io::Error),
    /// It wrote a line that is no frame.
    #[error("the load process wrote a line that is no frame: {0}")]
    Frame(#[from] serde_json::Error),
    /// It ended without a last frame.
    #[error("the load process ended without a result ({0})")]
    Ended(std::process::ExitStatus),
}

impl LoadProcess {
    /// Starts a command that ends in a load process, such as `dyno drive` or `ssh host dyno drive`, and hands it a job.
    ///
    /// # Errors
    /// The command cannot be started or does not read its input.
    pub fn start(mut command: Command, job: &Job) -> Result<Self, LoadProcessError> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|source| {
            LoadProcessError::Spawn { program: command.get_program().to_string_lossy().into_owned(), source }
        })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (sender, frames) = channel();
        // Reading blocks; `next_frame` must not block for longer than asked.
        let reader = output.map(|output| thread::spawn(move || forward_frames(output, &sender)));
        let mut process = Self { child, input, frames, reader };
        process.write_line(job)?;
        Ok(process)
    }

    /// The process id, to account its CPU.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the next frame, which comes with the time of its arrival; none if the time is over. Must not be called
    /// again after the last frame, [`Frame::Finished`] or [`Frame::Failed`].
    ///
    /// # Errors
    /// The process died or broke the protocol.
    pub fn next_frame(&mut self, timeout: Duration) -> Result<Option<(Instant, Frame)>, LoadProcessError> {
        match self.frames.recv_timeout(timeout) {
            Ok(received) => received.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(LoadProcessError::Ended(self.child.wait()?)),
        }
    }

    /// Orders the next slice of a job that is [`sliced`](Job::sliced). The process answers with a [`Frame::Slice`].
    ///
    /// # Errors
    /// The process died.
    pub fn order_slice(&mut self, order: &SliceOrder) -> Result<(), LoadProcessError> {
        self.write_line(&Order::Slice(*order))
    }

    /// Orders a job whose connections [join](Job::joins) to begin to measure. The process answers with a
    /// [`Frame::Measuring`].
    ///
    /// # Errors
    /// The process died.
    pub fn order_measuring(&mut self) -> Result<(), LoadProcessError> {
        self.write_line(&Order::Measure)
    }

    /// Ends the job: the process disconnects and sends its last frame.
    pub fn end(&mut self) {
        self.input = None;
    }

    fn write_line(&mut self, value: &impl serde::Serialize) -> Result<(), LoadProcessError> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        let Some(input) = &mut self.input else {
            return Err(LoadProcessError::Pipe(std::io::ErrorKind::BrokenPipe.into()));
        };
        Ok(input.write_all(&line)?)
    }
}

/// Sends frames to the receiver until the last one, the end of the output, or an error.
fn forward_frames(output: ChildStdout, sender: &Sender<ReceivedFrame>) {
    for line in BufReader::new(output).lines() {
        let frame = line.map_err(LoadProcessError::from).and_then(|line| Ok(serde_json::from_str(&line)?));
        let is_last = matches!(frame, Err(_) | Ok(Frame::Finished(_) | Frame::Failed { .. }));
        if sender.send(frame.map(|frame| (Instant::now(), frame))).is_err() || is_last {
            return;
        }
    }
}

impl Drop for LoadProcess {
    fn drop(&mut self) {
        // Fails if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}
