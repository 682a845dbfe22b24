//! Ends the load process if its parent is gone, whatever its script does.
//!
//! After a request to stop, a job usually ends by itself within about 3 s. But if the script's top level loops or
//! blocks, the thread that would end the job never gets to it. Therefore another thread ends the process.

use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};

/// How long the job may continue after the end of the process's input.
const GRACE: Duration = Duration::from_secs(10);

/// Waits for [`GRACE`], then ends the process.
pub(crate) fn end_after_grace() -> ! {
    thread::sleep(GRACE);
    end_children();
    // SAFETY: takes no pointers. Unlike `exit`, it waits for no lock that the script's thread may hold.
    unsafe { libc::_exit(1) }
}

/// Ends the programs that the script started (`os.execute`), if this process leads a group of its own.
pub(crate) fn end_children() {
    if getpgrp() != getpid() {
        return;
    }
    // SAFETY: ignoring a signal sets no handler. The signal to the group is meant for its other members.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    // This fails if the group has no other process.
    let _ = kill_current_process_group(Signal::TERM);
}
