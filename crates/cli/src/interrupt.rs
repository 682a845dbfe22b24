//! Handles ^C: the first ^C requests a stop, the second ends Dyno at once.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// 128 plus the number of `SIGINT`, by the convention of shells.
const INTERRUPTED: u8 = 130;

/// A flag that ^C sets. `SIGTERM` and `SIGHUP` set it too.
pub(crate) fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters. The handler that exits if the flag is set must run before the handler that sets the
        // flag.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("cannot listen for ^C")?;
    }
    Ok(stop)
}

/// The exit status after ^C.
pub(crate) fn exit_code() -> ExitCode {
    ExitCode::from(INTERRUPTED)
}
