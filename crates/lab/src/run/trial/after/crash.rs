//! Crashes a system under a step's load. After each crash, the script checks the data.

use std::cell::Cell;

use dyno_load::{Frame, Job};

use crate::job;
use crate::run::record::Work;
use crate::run::system::SystemSlot;
use crate::run::trial::planned::PlannedTrial;
use crate::run::trial::watch::TrialAbort;

/// Time limit of a load that will be crashed, in seconds. The crash ends the load about a second after the load began.
const LOAD_SECONDS: f64 = 3600.0;

impl PlannedTrial<'_> {
    /// Kills the system under the step's load, starts it again, and checks the data, as often as the step asks for.
    /// A server that Dyno did not start is not killed.
    pub(crate) fn crash_and_check(&self, slot: &mut SystemSlot<'_>) -> Result<(), TrialAbort> {
        if !slot.is_ours() {
            return Ok(());
        }
        for number in 1..=self.step().crashes {
            self.crash(slot)?;
            slot.recover().map_err(|error| {
                TrialAbort::failed(format!("the server does not start after crash {number}: {error}"))
            })?;
            let system = slot.system().map_err(TrialAbort::failed)?;
            self.check_data(system).map_err(|abort| match abort {
                TrialAbort::Failed { message, total } => {
                    TrialAbort::Failed { message: format!("after crash {number}: {message}"), total }
                }
                abort => abort,
            })?;
        }
        Ok(())
    }

    /// Runs the step's load for about a second, and then kills the system.
    fn crash(&self, slot: &SystemSlot<'_>) -> Result<(), TrialAbort> {
        let system = slot.system().map_err(TrialAbort::failed)?;
        // A step that ends after a number of events might end before the crash, so the load has no such number.
        let job = Job {
            events: None,
            seconds: Some(LOAD_SECONDS),
            ..job::job(self.plan, self.trial, LOAD_SECONDS, system.target())
        };
        let mut load = self.start_load(&job)?;
        let pid = load.pid();
        let is_killed = Cell::new(false);
        let on_frame = |frame: &Frame| {
            if matches!(frame, Frame::Tick(_)) {
                is_killed.set(true);
                match system.work() {
                    Work::InClient => kill(pid),
                    _ => system.kill(),
                }
            }
        };
        match self.watch().follow(&mut load, on_frame, || Ok(())) {
            Err(TrialAbort::Stopped) => Err(TrialAbort::Stopped),
            // The load failed because its server was killed.
            _ if is_killed.get() => Ok(()),
            Err(abort) => Err(abort),
            Ok(_) => Err(TrialAbort::failed("the load ended before the crash")),
        }
    }
}

/// Kills the load process, in which SQLite runs.
fn kill(pid: u32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed()) {
        // The process may have ended by itself, so an error is ignored.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}
