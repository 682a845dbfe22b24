//! The load process's own main: a job in, frames out, the end of input stops it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use crate::frame::Frame;
use crate::job::Job;
use crate::run::run_sliced_job;

/// Why the load process cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// Standard input broke.
    #[error("cannot read the job: {0}")]
    Input(#[from] io::Error),
    /// What came is no job.
    #[error("standard input holds no job (this command is for dyno itself): {0}")]
    Job(#[from] serde_json::Error),
}

/// Reads a [`Job`] as one line of JSON from standard input, runs it, and writes a [`Frame`] a line to standard
/// output. For a job that is [`sliced`](Job::sliced), each further line of the input is a [`SliceOrder`]. When standard input ends, or the reader of the output is gone, the job is stopped.
///
/// # Errors
/// What came in is no job. Everything that goes wrong later is a [`Frame::Failed`].
pub fn drive_stdio() -> Result<(), StdioError> {
    let mut input = BufReader::new(io::stdin());
    let mut line = String::new();
    input.read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;
    drop(line);
    let stop = Arc::new(AtomicBool::new(false));
    let at_end = Arc::clone(&stop);
    let (sender, orders) = channel();
    let listener = std::thread::spawn(move || {
        // What is no order ends the job, as the end of input does.
        let orders = input.lines().map_while(Result::ok).map_while(|line| serde_json::from_str(&line).ok());
        for order in orders {
            let _ = sender.send(order);
        }
        at_end.store(true, Ordering::Relaxed);
    });
    let mut output = claim_stdout()?;
    run_sliced_job(job, &stop, &orders, &mut |frame| {
        if write_frame(&mut output, &frame).is_err() {
            stop.store(true, Ordering::Relaxed);
        }
    });
    // Whoever reads the last frame may want this process's own accounts too, so it stays until they hang up.
    drop(output);
    let _ = listener.join();
    Ok(())
}

/// Standard output, for frames alone: what a script writes past its host (`io.write`, `os.execute`) goes to
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
