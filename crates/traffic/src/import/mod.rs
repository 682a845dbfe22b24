//! Imports logs and captures into a traffic file.

mod clients;
mod counts;
mod recorder;
mod sessions;
mod shapes;
mod source;
mod templates;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use self::recorder::{Recorder, Rules};
use self::source::Source;
use crate::capture::Capture;
use crate::error::TrafficError;
use crate::file::{Place, SourceCounts};
use crate::input::Input;
use crate::log::{LogFormat, See};

/// Number of lines or packets after which the stop flag is checked and progress is reported.
const LINES_PER_LOOK: u64 = 1 << 14;

/// What an import reads and writes, and its options.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Path of the traffic file to write.
    pub out: &'a Path,
    /// Whether the file may replace an existing one.
    pub overwrite: bool,
    /// The format of all logs. If this is `None`, the format of each log is detected from its start.
    pub format: Option<LogFormat>,
    /// Whether values are replaced by their lengths.
    pub redact: bool,
    /// Whether names of users are kept. Otherwise hashes replace them.
    pub keep_users: bool,
    pub stop: &'a AtomicBool,
}

/// Progress of an import.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub name: &'a str,
    pub read_bytes: u64,
    /// Size of the log; `None` if it is not a regular file.
    pub total_bytes: Option<u64>,
    /// Number of statements in all logs so far.
    pub statements: u64,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub statements: u64,
    pub sessions: u64,
    /// Number of log entries that could not be read.
    pub lost: u64,
}

/// Imports logs in the given order. `-` is standard input.
///
/// # Errors
/// A log cannot be read or has no known format, the file cannot be written, or the caller asked to stop. No file is
/// left behind.
pub fn import(
    logs: &[PathBuf],
    options: &Options<'_>,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Imported, TrafficError> {
    let place = Place::new(options.out, options.overwrite)?;
    let unwritable = |error: rusqlite::Error| TrafficError::Unwritable {
        path: options.out.to_owned(),
        reason: error.to_string(),
    };
    let connection = Connection::open(place.temporary()).map_err(unwritable)?;
    let imported = record(logs, options, &connection, progress)?;
    connection.close().map_err(|(_, error)| unwritable(error))?;
    place.keep()?;
    Ok(imported)
}

/// Records the contents of logs in an empty file.
fn record(
    logs: &[PathBuf],
    options: &Options<'_>,
    connection: &Connection,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Imported, TrafficError> {
    let mut recorder: Option<Recorder<'_>> = None;
    let mut capture: Option<Capture> = None;
    for (place, log) in (1..).zip(logs) {
        let name = log.display().to_string();
        let Input { compression, total_bytes, read_bytes, content } = Input::open(log)?;
        let before = recorder.as_ref().map(Recorder::dialect);
        let (mut source, format) = Source::open(content, options.format, before, &name)?;
        let recorder = match &mut recorder {
            Some(recorder) if recorder.dialect() != format.dialect() => {
                return Err(TrafficError::Mixed { name, format });
            }
            Some(recorder) => recorder,
            none => {
                let Options { out, redact, keep_users, .. } = *options;
                none.insert(Recorder::new(connection, Rules { out, redact, keep_users }, format.dialect())?)
            }
        };
        recorder.begin_source();
        let look = &mut |recorder: &Recorder<'_>| {
            let read_bytes = read_bytes.load(Ordering::Relaxed);
            progress(&Progress { name: &name, read_bytes, total_bytes, statements: recorder.statements() });
            if options.stop.load(Ordering::Relaxed) { Err(TrafficError::Stopped) } else { Ok(()) }
        };
        let capture = capture.get_or_insert_with(|| Capture::new(format.dialect()));
        capture.begin_file();
        loop {
            if source.number().is_multiple_of(LINES_PER_LOOK) {
                look(recorder)?;
            }
            if !source.step(capture, &name, &mut |number, event| recorder.see(number, event))? {
                break;
            }
        }
        look(recorder)?;
        if place == logs.len() {
            capture.end(&mut |number, event| recorder.see(number, event))?;
        }
        recorder.end_source(&SourceCounts {
            name: &name,
            format: format.name(),
            compression: compression.name(),
            bytes: read_bytes.load(Ordering::Relaxed),
            lines: source.number(),
            statements: 0,
        })?;
    }
    recorder.map_or_else(|| Err(TrafficError::Nothing { told: String::new() }), Recorder::finish)
}

/// Reads an uncompressed log or capture. Calls `see` with each event, and with the line on which the event begins
/// or the number of its packet. Returns the format.
///
/// # Errors
/// The format is unknown, reading fails, or `see` fails.
pub fn read_log(
    content: impl io::Read + 'static,
    format: Option<LogFormat>,
    see: See<'_>,
) -> Result<LogFormat, TrafficError> {
    const NAME: &str = "the log";
    let (mut source, format) = Source::open(Box::new(content), format, None, NAME)?;
    let mut capture = Capture::new(format.dialect());
    while source.step(&mut capture, NAME, see)? {}
    capture.end(see)?;
    Ok(format)
}
