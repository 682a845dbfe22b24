//! The main function of the load process: it reads a job, writes frames, and stops at the end of its input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use crate::machine::parent_watch;
use crate::protocol::frame::Frame;
use crate::protocol::job::Job;
use crate::run::run_ordered_job;

/// Why the load process failed before it had a job.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("cannot read the job: {0}")]
    Input(#[from] io::Error),
    /// The process could not give up the rights of root.
    #[error("cannot run the load without the rights of root: {0}")]
    Rights(io::Error),
    /// The first line is not a job.
    #[error("standard input contains no job (this command is for dyno itself): {0}")]
    Job(#[from] serde_json::Error),
}

/// Reads a [`Job`] as one line of JSON from standard input, runs it, and writes [`Frame`]s to standard output, one
/// per line. Each further line of input is an [`Order`](crate::Order). The job stops when standard input ends or
/// standard output is closed. The process ends 10 s after the end of input, whatever the script does.
///
/// `before` is called with the job before any of its script runs. At that time, the caller's thread is the only
/// thread of the process.
///
/// # Errors
/// The first line is not a job, or `before` failed. Later errors are a [`Frame::Failed`].
pub fn drive_stdio(before: impl FnOnce(&Job) -> io::Result<()>) -> Result<(), StdioError> {
    let mut input = BufReader::new(io::stdin());
    let mut line = String::new();
    input.read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;
    drop(line);
    before(&job).map_err(StdioError::Rights)?;
    let stop = Arc::new(AtomicBool::new(false));
    let at_end = Arc::clone(&stop);
    let (sender, orders) = channel();
    let listener = std::thread::spawn(move || {
        // An invalid order ends the job, like the end of input.
        let orders = input.lines().map_while(Result::ok).map_while(|line| serde_json::from_str(&line).ok());
        for order in orders {
            let _ = sender.send(order);
        }
        at_end.store(true, Ordering::Relaxed);
        // The grace period passes on another thread, because this thread must end at once: the process waits for it
        // when the job is done.
        std::thread::spawn(|| parent_watch::end_after_grace());
    });
    let mut output = claim_stdout()?;
    run_ordered_job(job, &stop, &orders, &mut |frame| {
        if write_frame(&mut output, &frame).is_err() {
            stop.store(true, Ordering::Relaxed);
        }
    });
    // The process lives until its input ends, because the reader may want to read its CPU time after the last
    // frame.
    drop(output);
    let _ = listener.join();
    parent_watch::end_children();
    Ok(())
}

/// Reserves standard output for frames. Output of scripts (`io.write`, `os.execute`) goes to
/// standard error from here on.
fn claim_stdout() -> io::Result<File> {
    let frames = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open, and dup2 takes no pointers.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(frames))
}

fn write_frame(output: &mut File, frame: &Frame) -> io::Result<()> {
    let mut line = serde_json::to_vec(frame)?;
    line.push(b'\n');
    output.write_all(&line)
}
