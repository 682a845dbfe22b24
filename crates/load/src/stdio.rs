//! The load process's own main: a job in, frames out, the end of input stops it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::frame::Frame;
use crate::job::Job;
use crate::run::run_job;

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
/// output. When standard input ends, or the reader of the output is gone, the job is stopped.
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
    std::thread::spawn(move || {
        let _ = io::copy(&mut input.by_ref(), &mut io::sink());
        at_end.store(true, Ordering::Relaxed);
    });
    run_job(job, &stop, &mut |frame| {
        if write_frame(&frame).is_err() {
            stop.store(true, Ordering::Relaxed);
        }
    });
    Ok(())
}

fn write_frame(frame: &Frame) -> io::Result<()> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, frame)?;
    output.write_all(b"\n")?;
    output.flush()
}
