//! A pass after a trial. The trial's load is repeated without measurement, while the call stacks of the server are
//! sampled.

use std::cell::Cell;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::{Family, FoldedStack, fold_stacks};
use dyno_host::{StackError, StackSampler, StackTool};
use dyno_load::{Frame, Total};
use dyno_store::{Outcome, StackProfile, StackRecord};

use crate::job;
use crate::plan::StackSampling;
use crate::run::error::{PassAbort, Stopped};
use crate::run::record::{Work, counts};
use crate::run::system::{RunningSystem, SystemSlot};
use crate::run::trial::beside::background::BackgroundLoads;
use crate::run::trial::planned::PlannedTrial;
use crate::run::trial::watch::TrialAbort;

/// A repeated load, during which stacks were sampled.
struct Pass {
    sampler: StackSampler,
    /// Why sampling ended before the load ended; `None` if it did not.
    refused: Option<StackError>,
    total: Result<Total, TrialAbort>,
}

impl PlannedTrial<'_> {
    /// Repeats the load and samples call stacks, at most `hertz` times per second.
    ///
    /// # Errors
    /// There are no samples. If the server ended during the pass, it is started again.
    pub(crate) fn sample_stacks(
        &self,
        tool: &StackTool,
        hertz: f64,
        seconds: f64,
        slot: &mut SystemSlot<'_>,
    ) -> Result<StackProfile, PassAbort> {
        let failed = |reason: &str| PassAbort::Failed(reason.to_owned());
        let found = slot.system().map_err(failed).and_then(|system| {
            let (family, pid) = server(system).map_err(failed)?;
            Ok((self.pass(system, StackSampler::new(tool.clone(), pid), hertz, seconds), family))
        });
        let (pass, family) = found?;
        let Pass { sampler, refused, total } = match pass {
            Ok(pass) => pass,
            Err(abort) => return Err(self.pass_abort(abort, slot)),
        };
        let refused = refused.map(|reason| PassAbort::Failed(reason.to_string()));
        let measured = total.as_ref().map_or_else(TrialAbort::total, Some);
        let (seconds, operations) =
            measured.map_or((0.0, 0), |total| (total.seconds, self.operations(total)));
        let failed = total.err().map(|abort| self.pass_abort(abort, slot));
        let abort = refused.or(failed);
        if sampler.samples() == 0 {
            let too_short = || PassAbort::Failed("the load ended before its first sample".to_owned());
            return Err(abort.unwrap_or_else(too_short));
        }
        // If the user stopped the run, the samples so far are kept.
        let ended_early = match abort {
            Some(PassAbort::Failed(reason)) => Some(reason),
            Some(PassAbort::Stopped) | None => None,
        };
        let sampled = sampler.finish();
        let folded = fold_stacks(family, &sampled.stacks);
        Ok(StackProfile {
            seconds,
            operations,
            samples: sampled.samples,
            sampler: tool.version(),
            sample_ms_median: sampled.sample_ms_median,
            unnamed_share: folded.unnamed_share,
            ended_early,
            stacks: folded.stacks.into_iter().map(record).collect(),
        })
    }

    fn pass(
        &self,
        system: &dyn RunningSystem,
        sampler: StackSampler,
        hertz: f64,
        seconds: f64,
    ) -> Result<Pass, TrialAbort> {
        self.run_before(system)?;
        let seconds = StackSampling::seconds(self.step(), seconds);
        let job = job::job(self.plan, self.trial, seconds, system.target_at(self.step().endpoint));
        let mut background = BackgroundLoads::start(self, system)?;
        let mut load = self.start_step_load(&job, system)?;
        let (begin, orders) = mpsc::channel();
        let mut begin = Some(begin);
        let is_measuring = Cell::new(false);
        let (total, taken) = thread::scope(|scope| {
            let taking = scope.spawn(move || take(sampler, hertz, &orders));
            let on_frame = |frame: &Frame| {
                is_measuring.set(is_measuring.get() || matches!(frame, Frame::Measuring));
                if let (Frame::Measuring, Some(begin)) = (frame, &begin) {
                    // An error means that the sampler has given up, so it is ignored.
                    let _ = begin.send(());
                }
            };
            let total = self
                .watch_events()
                .follow(load.frames(), on_frame, || background.keep_up(is_measuring.get()));
            begin = None;
            (total, taking.join())
        });
        drop(background);
        let (sampler, refused) = taken.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let total = total.and_then(|total| self.run_after(system).map(|()| total));
        Ok(Pass { sampler, refused, total })
    }

    fn operations(&self, total: &Total) -> u64 {
        counts(&total.counts, self.step().operation).operations
    }

    /// Examines the server, and returns why the pass ended.
    pub(in crate::run::trial) fn pass_abort(
        &self,
        abort: TrialAbort,
        slot: &mut SystemSlot<'_>,
    ) -> PassAbort {
        match self.examine(abort, slot) {
            Ok(Outcome::Failed { message, .. }) => PassAbort::Failed(message),
            Ok(Outcome::Completed) | Err(Stopped) => PassAbort::Stopped,
        }
    }
}

/// Returns the engine family and the process of a server whose stacks can be sampled.
fn server(system: &dyn RunningSystem) -> Result<(Family, u32), &'static str> {
    match (system.work(), system.family()) {
        (Work::Server(_), _) if system.image().is_some() => {
            Err("its server is in a container, whose programs eu-stack does not find")
        }
        (Work::Server(pid), Some(family)) => Ok((family, pid)),
        (Work::InClient, _) => Err("it has no server: it runs inside the load process"),
        _ => Err("its server was not started by Dyno, so its process is not known"),
    }
}

/// Waits for an order to start sampling. Then takes samples until the load ends or a sample fails.
fn take(mut sampler: StackSampler, hertz: f64, orders: &Receiver<()>) -> (StackSampler, Option<StackError>) {
    let interval = Duration::from_secs_f64(1.0 / hertz);
    if orders.recv().is_err() {
        return (sampler, None);
    }
    loop {
        let began = Instant::now();
        if let Err(error) = sampler.sample() {
            return (sampler, Some(error));
        }
        match orders.recv_timeout(interval.saturating_sub(began.elapsed())) {
            Err(RecvTimeoutError::Disconnected) => return (sampler, None),
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn record(stack: FoldedStack) -> StackRecord {
    StackRecord {
        thread_kind: stack.kind,
        is_idle: stack.is_idle,
        function: stack.function,
        frames: stack.frames,
        count: stack.count,
    }
}
