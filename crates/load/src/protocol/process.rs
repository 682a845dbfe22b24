//! Starts a load process, passes the job to it, receives its frames, and orders slices.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyno_printable::printable_lines;

use crate::protocol::frame::{Frame, Order, SliceOrder, Total};
use crate::protocol::job::Job;
use crate::statements::changed_names::ChangedNames;

/// How long to wait for the last line that a process wrote to standard error, after the process has ended.
const LAST_LINE_PATIENCE: Duration = Duration::from_millis(500);
const LAST_LINE_POLL: Duration = Duration::from_millis(5);

/// A frame with the time at which it arrived.
type ReceivedFrame = Result<(Instant, Frame), LoadProcessError>;

/// A source of the frames of a load.
pub trait FrameSource {
    /// Waits for the next frame, and returns it with the time of its arrival; `None` on a timeout. Must not be
    /// called again after the last frame, which is [`Frame::Finished`] or [`Frame::Failed`].
    ///
    /// # Errors
    /// The process died or broke the protocol.
    fn next_frame(&mut self, timeout: Duration) -> Result<Option<(Instant, Frame)>, LoadProcessError>;

    /// Returns a reason and the measurements so far if the processes run but an expected frame has not come. `None` if
    /// frames arrive.
    fn silence(&self) -> Option<(String, Option<Total>)> {
        None
    }

    /// The process id of the load process, with which its CPU time is measured; `None` if the load process runs on
    /// another host.
    fn local_pid(&self) -> Option<u32>;

    /// Sends the order to begin. Only for a job that [awaits](Job::awaits_begin) this order. Called once, after the
    /// [`Frame::Connected`].
    ///
    /// # Errors
    /// The process died.
    fn begin(&mut self) -> Result<(), LoadProcessError>;

    /// Ends the job: the processes disconnect and send their last frames.
    fn end(&mut self);
}

/// A running load process. Dropping this value kills it. If the process that started the load process dies, the input
/// of the load process ends, and the load process then ends itself.
#[derive(Debug)]
pub struct LoadProcess {
    child: Child,
    /// Closing the input ends the job.
    input: Option<ChildStdin>,
    frames: Receiver<ReceivedFrame>,
    reader: Option<JoinHandle<()>>,
    /// Reads standard error if the command pipes it. Otherwise, the command shares this process's standard error.
    stderr: Option<StderrReader>,
    /// Gathers the names of the tables that the load process changes, if they are needed.
    names: Option<ChangedNames>,
}

/// Copies what a process writes to standard error, and keeps the last line.
#[derive(Debug)]
struct StderrReader {
    last: Arc<Mutex<String>>,
    thread: JoinHandle<()>,
}

/// The load process could not be started, or broke its protocol.
#[derive(Debug, thiserror::Error)]
pub enum LoadProcessError {
    /// The program cannot be started.
    #[error("cannot start the load process {program}: {source}")]
    Spawn { program: String, source: std::io::Error },
    #[error("lost the load process: {0}")]
    Pipe(#[from] std::io::Error),
    /// The process wrote a line that is not a frame.
    #[error("the load process wrote a line that is not a frame: {0}")]
    Frame(#[from] serde_json::Error),
    /// The process ended without a last frame.
    #[error("the load process ended without a result ({0})")]
    Ended(std::process::ExitStatus),
    /// The process ended without a last frame. Contains the last line that the process wrote to standard error.
    #[error("{0}")]
    EndedSaying(String),
}

impl LoadProcess {
    /// Starts a command that runs a load process, such as `dyno drive` or `ssh host dyno drive`, and passes it a
    /// job.
    ///
    /// # Errors
    /// The command cannot be started or does not read its input.
    pub fn start(mut command: Command, job: &Job) -> Result<Self, LoadProcessError> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|source| {
            LoadProcessError::Spawn { program: command.get_program().to_string_lossy().into_owned(), source }
        })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take().map(StderrReader::start);
        let (sender, frames) = channel();
        let names = job.target.changed_names.clone();
        if let Some(names) = &names {
            names.begin();
        }
        let gathered = names.clone();
        // Reading blocks, but `next_frame` must return when its timeout has passed, so a thread reads.
        let reader =
            output.map(|output| thread::spawn(move || forward_frames(output, &sender, gathered.as_ref())));
        let mut process = Self { child, input, frames, reader, stderr, names };
        match process.write_line(job) {
            // The process has ended already. Its standard error says why.
            Err(LoadProcessError::Pipe(_)) if process.stderr.is_some() => Err(process.ended()),
            written => written.map(|()| process),
        }
    }

    /// The process id, to measure its CPU.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Orders the next slice of a job that is [`sliced`](Job::sliced). The process answers with a [`Frame::Slice`].
    ///
    /// # Errors
    /// The process died.
    pub fn order_slice(&mut self, order: &SliceOrder) -> Result<(), LoadProcessError> {
        self.write_line(&Order::Slice(*order))
    }

    /// Sends the order to measure. Only for a job whose connections [join](Job::joins) at different times. The process
    /// answers with a [`Frame::Measuring`].
    ///
    /// # Errors
    /// The process died.
    pub fn order_measuring(&mut self) -> Result<(), LoadProcessError> {
        self.write_line(&Order::Measure)
    }

    /// Returns the error that explains why there are no more frames.
    fn ended(&mut self) -> LoadProcessError {
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return error.into(),
        };
        let last = self.stderr.as_ref().map(StderrReader::last_line).filter(|line| !line.is_empty());
        last.map_or(LoadProcessError::Ended(status), LoadProcessError::EndedSaying)
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

impl FrameSource for LoadProcess {
    fn next_frame(&mut self, timeout: Duration) -> Result<Option<(Instant, Frame)>, LoadProcessError> {
        match self.frames.recv_timeout(timeout) {
            Ok(received) => received.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    fn local_pid(&self) -> Option<u32> {
        Some(self.pid())
    }

    fn begin(&mut self) -> Result<(), LoadProcessError> {
        self.write_line(&Order::Begin)
    }

    fn end(&mut self) {
        self.input = None;
    }
}

impl StderrReader {
    fn start(stderr: ChildStderr) -> Self {
        let last = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&last);
        let thread = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                eprintln!("{}", printable_lines(&line));
                if !line.trim().is_empty() {
                    line.trim().clone_into(&mut kept.lock().unwrap_or_else(PoisonError::into_inner));
                }
            }
        });
        Self { last, thread }
    }

    /// The last line that an ended process wrote to standard error. Waits only [`LAST_LINE_PATIENCE`] for the pipe's
    /// end, because a child of the process may keep the pipe open.
    fn last_line(&self) -> String {
        let until = Instant::now() + LAST_LINE_PATIENCE;
        while !self.thread.is_finished() && Instant::now() < until {
            thread::sleep(LAST_LINE_POLL);
        }
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sends frames to the receiver until the last frame, the end of the output, or an error. If `names` is given, the
/// words of [`Frame::Names`] are added to it, and these frames are not sent.
fn forward_frames(output: ChildStdout, sender: &Sender<ReceivedFrame>, names: Option<&ChangedNames>) {
    for line in BufReader::new(output).lines() {
        let frame = line.map_err(LoadProcessError::from).and_then(|line| Ok(serde_json::from_str(&line)?));
        if let (Ok(Frame::Names { words }), Some(names)) = (&frame, names) {
            names.add(words.clone());
            continue;
        }
        let is_last = matches!(frame, Err(_) | Ok(Frame::Finished(_) | Frame::Failed { .. }));
        if sender.send(frame.map(|frame| (Instant::now(), frame))).is_err() || is_last {
            return;
        }
    }
}

impl Drop for LoadProcess {
    fn drop(&mut self) {
        // This fails if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        if let Some(names) = &self.names {
            names.end();
        }
    }
}
