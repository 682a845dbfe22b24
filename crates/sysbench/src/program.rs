//! The command as a program: real output, real signals.

use std::ffi::{OsStr, OsString};
use std::io::{stderr, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::command;
use crate::log::Console;

/// Base of the exit status of a program that a signal ended. The signal's number is added.
const SIGNALLED: u8 = 128;

/// Whether Dyno was started as `sysbench`, for example through a link. Dyno then acts as sysbench.
pub fn is_called(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("sysbench"))
}

/// Carries out `sysbench ARGUMENTS`, without the program's name, on the process's own streams. The first ^C or
/// `SIGTERM` ends a test with a report of the measurements so far. The second ends the process at once.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let stop = Arc::new(AtomicBool::new(false));
    let signal = Arc::new(AtomicUsize::new(0));
    for number in [SIGINT, SIGTERM] {
        // The order matters. A signal first ends the process if an earlier signal has set the flag `stop`. Otherwise
        // the signal sets the flag. If signals cannot be caught, they end the process as usual.
        let status = i32::from(SIGNALLED) + number;
        let _ = flag::register_conditional_shutdown(number, status, Arc::clone(&stop))
            .and_then(|_| flag::register_usize(number, Arc::clone(&signal), number as usize))
            .and_then(|_| flag::register(number, Arc::clone(&stop)));
    }
    let console = Console { out: &mut stdout(), err: &mut stderr() };
    let status = command::run(arguments, console, &stop);
    match signal.load(Ordering::Relaxed) {
        0 => ExitCode::from(status),
        number => ExitCode::from(SIGNALLED + number as u8),
    }
}
