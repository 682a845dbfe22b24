//! A part, which is one system's trial in a block of slices. Starts the part's load, waits until the load has
//! connected, lets the system rest, and ends the load.

use dyno_host::{OwnCores, ThreadTimes};
use dyno_load::LoadProcess;

use super::Round;
use super::calibration::SliceLengths;
use super::rest::Rest;
use super::session::RunSession;
use crate::job;
use crate::run::error::Stopped;
use crate::run::record::{Meter, SliceRecording, Tally, Work};
use crate::run::trial::{FinishedTrial, PlannedTrial, TrialAbort, note_client_cpus, note_pinned};
use crate::schedule::Trial;

/// One system's trial in a block of slices, while its load is connecting. The loads of the block's other systems are
/// started meanwhile.
pub(super) struct ConnectingPart {
    pub(super) trial: Trial,
    finished: FinishedTrial,
    load: LoadProcess,
}

/// One system's trial in a block of slices, after its load has connected.
pub(super) struct Part {
    pub(super) trial: Trial,
    /// The trial without its measurements, which `recording` collects.
    pub(super) finished: FinishedTrial,
    pub(super) load: LoadProcess,
    /// CPU times of the server's threads before the load; `None` if threads are not to be pinned.
    pub(super) thread_times: Option<ThreadTimes>,
    own_cores: Option<OwnCores>,
    /// The rests while other systems have their slices.
    pub(super) rest: Rest,
    pub(super) recording: SliceRecording,
    /// The reason why the trial ended early, if it did.
    pub(super) abort: Option<TrialAbort>,
}

impl Part {
    /// Calls `record` while the server is thawed, because recording needs an answer of the server.
    pub(super) fn awake<T>(&mut self, record: impl FnOnce(&mut SliceRecording) -> T) -> T {
        self.rest.end();
        let recorded = record(&mut self.recording);
        self.rest.begin();
        recorded
    }

    /// Ends the last rest, and records the total time of thaws.
    pub(super) fn end_rests(&mut self) {
        self.finished.record.thaw_us = self.rest.thaw_us();
        self.rest = Rest::default();
    }

    /// Pins the server's busiest threads, as many as there are clients, and the load to separate cores.
    ///
    /// Without pinning, Linux moves these threads between idle cores in some trials but not in others. With one
    /// client on two cores, MariaDB answered between 24,000 and 40,000 point queries per second. Ratios of equal
    /// servers varied by 8%. With pinned threads, they varied by 3%.
    pub(super) fn pin(&mut self) {
        let Some(since) = &self.thread_times else { return };
        self.own_cores = OwnCores::give(&since.busiest(self.trial.clients as usize), self.load.pid());
        if let Some(own_cores) = &self.own_cores {
            note_pinned(&mut self.finished.record, own_cores.server_cpus());
        }
    }
}

impl<'a> RunSession<'a> {
    /// Makes a system ready and runs the step's command `before`. Returns the finished trial if this failed.
    pub(super) fn begin(
        &mut self,
        round: &mut Round<'a>,
        trial: Trial,
    ) -> Result<Result<FinishedTrial, FinishedTrial>, Stopped> {
        if let Err(failed) = self.make_ready(round, &trial)? {
            return Ok(Err(failed));
        }
        let planned = PlannedTrial { plan: self.plan, trial: &trial, options: self.options };
        planned.begin(round.ready_slot(trial.system))
    }

    /// Starts a system's load, which then connects. Returns the finished trial if the start failed.
    pub(super) fn start_load(
        &self,
        round: &mut Round<'a>,
        trial: Trial,
        mut begun: FinishedTrial,
    ) -> Result<Result<ConnectingPart, FinishedTrial>, Stopped> {
        let planned = PlannedTrial { plan: self.plan, trial: &trial, options: self.options };
        let slot = round.ready_slot(trial.system);
        let target = slot.system().map(|system| system.target_at(planned.step().endpoint));
        let target = target.map_err(TrialAbort::failed);
        match target.and_then(|target| planned.start_load(&job::sliced(self.plan, &trial, target))) {
            Ok(load) => {
                note_client_cpus(&mut begun.record, planned.cpus(), load.pid());
                Ok(Ok(ConnectingPart { trial, finished: begun, load }))
            }
            Err(abort) => planned.fail(begun, abort, slot).map(Err),
        }
    }

    /// Waits until a load is connected, and lets the system rest. Returns the finished trial if this failed.
    pub(super) fn await_connected(
        &self,
        round: &mut Round<'a>,
        part: ConnectingPart,
    ) -> Result<Result<Part, FinishedTrial>, Stopped> {
        let ConnectingPart { trial, finished, mut load } = part;
        let planned = PlannedTrial { plan: self.plan, trial: &trial, options: self.options };
        let slot = round.ready_slot(trial.system);
        let mut begin = || {
            planned.watch().until_measuring(&mut load)?;
            let system = slot.system().map_err(TrialAbort::failed)?;
            let work = system.work();
            let meter = Meter::new(work, system.pooler(), Some(load.pid()), system.data());
            let tally = Tally::new(system.counters());
            let thread_times = match work {
                Work::Server(pid) if self.pins_threads && planned.may_pin_threads() => {
                    Some(ThreadTimes::read(pid))
                }
                _ => None,
            };
            let rest = if self.plan.freeze.0 { Rest::frozen(work) } else { Rest::default() };
            Ok((thread_times, rest, SliceRecording::new(planned.step().operation, meter, tally)))
        };
        match begin() {
            Ok((thread_times, rest, recording)) => {
                let (own_cores, abort) = (None, None);
                Ok(Ok(Part { trial, finished, load, thread_times, own_cores, rest, recording, abort }))
            }
            Err(abort) => {
                // The server is examined after the load's connections are closed.
                drop(load);
                planned.fail(finished, abort, slot).map(Err)
            }
        }
    }

    /// Ends one system's trial in slices, because the block is repeated as trials without slices. The step's command
    /// `before` has run, so its command `after` runs too. The load process has ended.
    pub(super) fn withdraw(&mut self, round: &mut Round<'a>, trial: &Trial) -> Result<(), Stopped> {
        let planned = PlannedTrial { plan: self.plan, trial, options: self.options };
        let Some(slot) = round.slot(trial.system) else { return Ok(()) };
        let Ok(system) = slot.system() else { return Ok(()) };
        match planned.run_after(system) {
            Err(TrialAbort::Stopped) => Err(Stopped),
            // If the command fails here, it also fails in the trial without slices, which reports the failure.
            _ => Ok(()),
        }
    }

    /// Ends one system's trial in slices, together with its load.
    pub(super) fn end_part(
        &mut self,
        round: &mut Round<'a>,
        part: Part,
        lengths: SliceLengths,
    ) -> Result<(Trial, FinishedTrial), Stopped> {
        let Part { trial, mut finished, load, own_cores, recording, abort, .. } = part;
        drop(own_cores);
        let planned = PlannedTrial { plan: self.plan, trial: &trial, options: self.options };
        let slot = round.ready_slot(trial.system);
        finished.record = recording.finish(finished.record, lengths.lead_seconds, lengths.slice_seconds);
        let measured = match abort {
            Some(abort) => {
                drop(load);
                Err(abort)
            }
            None => planned.watch().finish(load).map(|total| finished.noted = total.noted),
        };
        let mut finished = planned.end(finished, measured, slot)?;
        self.follow_up(round, &trial, &mut finished);
        Ok((trial, finished))
    }
}
