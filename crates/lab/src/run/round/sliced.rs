//! A block in slices: all systems run and are connected, but only one at a time has load.
//!
//! A drift of the machine therefore affects all systems alike, and rates of neighbouring slices can be compared. While
//! a system rests, its load keeps its connections but uses no CPU, and its server is frozen.

use std::time::Instant;

use dyno_load::{Slice, SliceOrder};
use dyno_stats::level;

use super::Round;
use super::calibration::{BIN_SECONDS, FIRST_SLICE_SECONDS, SliceLengths, first_slices};
use super::part::Part;
use super::rest::Rest;
use super::session::RunSession;
use crate::plan::SliceSeconds;
use crate::run::error::Stopped;
use crate::run::observer::Event;
use crate::run::record::{NeighbourWatch, Reading, SliceRecording};
use crate::run::trial::{FinishedTrial, TrialAbort, Watch};
use crate::schedule::{Block, Trial, cycle};

/// Number of slices with a level rate before measuring begins, if the step waits for a level.
const LEVEL_SLICES: usize = 20;

/// Length of the slice that shows which threads are busy, in seconds.
const PIN_SECONDS: f64 = 0.01;

impl<'a> RunSession<'a> {
    /// Runs a block in slices. Returns `None` if its events are too rare for slices.
    pub(crate) fn slices(
        &mut self,
        round: &mut Round<'a>,
        block: Block,
        seconds: SliceSeconds,
    ) -> Result<Option<Vec<(Trial, FinishedTrial)>>, Stopped> {
        let mut finished = Vec::new();
        let mut ready = Vec::new();
        for trial in round.trials(self.plan, self.seed, block) {
            match self.begin(round, trial)? {
                Ok(begun) => ready.push((trial, begun)),
                Err(failed) => finished.push((trial, failed)),
            }
        }
        // All loads connect at the same time.
        let mut connecting = Vec::new();
        for (trial, begun) in ready {
            match self.start_load(round, trial, begun)? {
                Ok(part) => connecting.push(part),
                Err(failed) => finished.push((trial, failed)),
            }
        }
        let mut parts = Vec::new();
        for part in connecting {
            let trial = part.trial;
            match self.await_connected(round, part)? {
                Ok(part) => parts.push(part),
                Err(failed) => finished.push((trial, failed)),
            }
        }
        self.settle(round, |system| parts.iter().any(|part| part.trial.system == system))?;
        // The order of turns consists of indices into this list, so the list is in the plan's order.
        parts.sort_by_key(|part| part.trial.system);
        self.observe_start(round, block, &parts);
        // A system that is alone in the block does not rest.
        if let [alone] = &mut parts[..] {
            alone.rest = Rest::default();
        }
        for part in &mut parts {
            part.rest.begin();
        }
        let mut interleaved =
            Interleaved { block, round: round.number, parts, cycles: 0, warmed_seconds: 0.0 };
        interleaved.pin(self)?;
        let lengths = match self.slice_lengths.get(&block.number) {
            Some(known) => *known,
            None => interleaved.calibrate(self, seconds)?,
        };
        let Some(lengths) = lengths else {
            for part in interleaved.parts {
                let trial = part.trial;
                drop(part);
                self.withdraw(round, &trial)?;
            }
            return Ok(None);
        };
        interleaved.warm_up(self, lengths)?;
        let watch = NeighbourWatch::begin(round.servers().as_deref());
        interleaved.measure(self, lengths)?;
        let neighbours = watch.end();
        interleaved.parts.iter_mut().for_each(Part::end_rests);
        let warmed_seconds = Some(interleaved.warmed_seconds).filter(|seconds| *seconds > 0.0);
        for mut part in interleaved.parts {
            part.finished.record.warmup_seconds = warmed_seconds;
            part.finished.record.neighbours = neighbours;
            finished.push(self.end_part(round, part, lengths)?);
        }
        finished.sort_by_key(|(trial, _)| trial.system);
        Ok(Some(finished))
    }

    fn observe_start(&mut self, round: &Round<'a>, block: Block, parts: &[Part]) {
        let (Some(first), Some(last)) = (parts.first(), round.trials(self.plan, self.seed, block).pop())
        else {
            return;
        };
        let (label, seconds_left) = (self.label(&first.trial), self.seconds_left());
        let next = self.next(&last, label.position + parts.len());
        let systems = parts.len();
        self.observer.observe(&Event::SlicesStarted { trial: label, systems, next: &next, seconds_left });
    }
}

/// The systems of a block while they take turns.
struct Interleaved {
    block: Block,
    round: u32,
    /// The parts of all systems, in the plan's order. Aborted parts get no slices.
    parts: Vec<Part>,
    /// Number of cycles so far, measured or not.
    cycles: u32,
    /// Time under load of each system in the warm-up so far.
    warmed_seconds: f64,
}

impl Interleaved {
    /// Runs a slice that does not count, to see which threads are busy, and pins these threads.
    fn pin(&mut self, session: &mut RunSession<'_>) -> Result<(), Stopped> {
        if self.parts.iter().all(|part| part.thread_times.is_none()) {
            return Ok(());
        }
        let order = SliceOrder { lead_seconds: 0.0, seconds: PIN_SECONDS, bin_seconds: None, rate: None };
        self.cycle(session, order, |_, _, _| ())?;
        self.parts.iter_mut().for_each(Part::pin);
        Ok(())
    }

    /// Runs the first slices, which do not count, and determines the slice lengths for all rounds. Returns `None` for
    /// trials without slices.
    fn calibrate(
        &mut self,
        session: &mut RunSession<'_>,
        seconds: SliceSeconds,
    ) -> Result<Option<SliceLengths>, Stopped> {
        let order = SliceOrder {
            lead_seconds: 0.0,
            seconds: FIRST_SLICE_SECONDS,
            bin_seconds: Some(BIN_SECONDS),
            rate: None,
        };
        let mut slices: Vec<Vec<Slice>> = self.parts.iter().map(|_| Vec::new()).collect();
        let trial_seconds = session.seconds_of(self.block.step);
        for _ in 0..first_slices(trial_seconds) {
            self.cycle(session, order, |at, _, slice| slices[at].push(slice.clone()))?;
        }
        slices.retain(|slices| slices.len() > 1);
        for slices in &mut slices {
            slices.remove(0);
        }
        let lengths = SliceLengths::find(&slices, seconds, trial_seconds);
        // If every system failed, no lengths are stored, and a later round tries again.
        if self.parts.iter().any(|part| part.abort.is_none()) {
            session.slice_lengths.insert(self.block.number, lengths);
        }
        Ok(lengths)
    }

    /// Runs slices that do not count: for the step's warm-up, and until every rate is level if the step waits for a
    /// level.
    fn warm_up(&mut self, session: &RunSession<'_>, lengths: SliceLengths) -> Result<(), Stopped> {
        let step = &session.plan.steps[self.block.step];
        let each_seconds = lengths.lead_seconds + lengths.slice_seconds;
        let mut rates: Vec<Vec<f64>> = self.parts.iter().map(|_| Vec::new()).collect();
        loop {
            let is_enough = self.warmed_seconds >= step.warmup_seconds;
            let is_late = self.warmed_seconds >= step.warmup_seconds_max;
            if is_enough && (is_late || rates.iter().all(|rates| has_level(rates))) {
                return Ok(());
            }
            self.cycle(session, lengths.order(), |at, _, slice| {
                let events = slice.counts.events.max(1) as f64;
                rates[at].push((events / slice.seconds).ln());
            })?;
            self.warmed_seconds += each_seconds;
        }
    }

    /// Runs the slices that count.
    fn measure(&mut self, session: &mut RunSession<'_>, lengths: SliceLengths) -> Result<(), Stopped> {
        let began = Instant::now();
        // Measuring begins with the first cycle of a pair. The second cycle of a pair has the opposite order.
        self.cycles = self.cycles.next_multiple_of(2);
        for part in &mut self.parts {
            part.awake(SliceRecording::begin);
            part.rest.count_anew();
        }
        for number in 0..lengths.cycles {
            let mut paces = Vec::new();
            self.cycle(session, lengths.order(), |_, (part, reading, slice_began), slice| {
                let lead_us = (lengths.lead_seconds * 1e6) as u64;
                let started_us = slice_began.duration_since(began).as_micros() as u64 + lead_us;
                if let Some(pace) = part.recording.slice_ended(slice, number, started_us, reading) {
                    part.awake(SliceRecording::sample_ended);
                    paces.push((part.trial, pace));
                }
            })?;
            let seconds_left = session.seconds_left();
            for (trial, pace) in paces {
                let trial = session.label(&trial);
                session.observer.observe(&Event::Ticked { trial, pace, seconds_left });
            }
        }
        Ok(())
    }

    /// Runs one slice of every system. Each system is thawed for its slice. A system that fails gets no more slices.
    fn cycle(
        &mut self,
        session: &RunSession<'_>,
        order: SliceOrder,
        mut ended: impl FnMut(usize, (&mut Part, &Reading, Instant), &Slice),
    ) -> Result<(), Stopped> {
        for at in cycle(self.parts.len(), session.seed, self.block, self.round, self.cycles) {
            let part = &mut self.parts[at];
            if part.abort.is_some() {
                continue;
            }
            let watch = Watch { stop: session.options.stop, patience: session.options.patience };
            let reading = part.recording.slice_begins();
            part.rest.end();
            let began = Instant::now();
            let slice = watch.slice(&mut part.load, &order);
            part.rest.begin();
            match slice {
                Ok(slice) => ended(at, (part, &reading, began), &slice),
                Err(TrialAbort::Stopped) => return Err(Stopped),
                Err(abort) => part.abort = Some(abort),
            }
        }
        self.cycles += 1;
        Ok(())
    }
}

/// Returns whether the most recent rates are level.
fn has_level(rates: &[f64]) -> bool {
    rates.len() >= LEVEL_SLICES
        && level(&rates[rates.len() - LEVEL_SLICES..]).is_some_and(|level| level.has_level())
}
