//! A block in slices: every system is up and connected, and one at a time is loaded.
//!
//! What drifts over time, the machine above all, then meets all systems alike, and the rates of neighbouring slices can be
//! compared. A load that rests keeps its connections and takes no CPU.

use std::time::Instant;

use dyno_load::{Slice, SliceOrder};
use dyno_stats::level;
use dyno_store::Outcome;

use super::attempt::{Attempt, Order, start};
use super::block::Attempts;
use super::calibration::{BIN_SECONDS, FIRST_SLICE_SECONDS, Interleaving, first_slices};
use super::drive::{Cut, Drive, Watch};
use super::meter::Meter;
use super::observer::Event;
use super::round::Round;
use super::session::Session;
use super::slice_record::SliceRecording;
use super::tally::Tally;
use super::{job, record};
use crate::schedule::{Block, Trial, cycle, trials};

/// Slices over which a rate must have a level before measuring begins, where a step waits for that.
const LEVEL_SLICES: usize = 20;

/// The run was stopped meanwhile.
pub(crate) struct Stopped;

/// A system's part in a block.
struct Part {
    trial: Trial,
    started_at_ms: i64,
    drive: Drive,
    recording: SliceRecording,
    /// What ended its part before its time.
    cut: Option<Cut>,
}

impl<'a> Session<'a> {
    /// Puts a block's load on all systems in slices; none if its events are too rare for that.
    pub(crate) fn slices(
        &mut self,
        round: &mut Round<'a>,
        block: Block,
    ) -> Result<Option<Attempts>, Stopped> {
        let mut attempts = Attempts::new();
        let mut parts = Vec::new();
        for trial in trials(self.plan, self.seed, block, round.number) {
            let started_at_ms = record::now_ms();
            match self.join(round, &trial, started_at_ms).ok_or(Stopped)? {
                Ok(part) => parts.push(part),
                Err(failure) => attempts.push((trial, failure, started_at_ms)),
            }
        }
        // In the plan's order, by which turns are drawn.
        parts.sort_by_key(|part| part.trial.system);
        if let Some(first) = parts.first() {
            let (label, seconds_left) = (self.label(&first.trial), self.seconds_left());
            let last = trials(self.plan, self.seed, block, round.number).last().ok_or(Stopped)?;
            let next = self.next(&last, label.position + parts.len());
            let systems = parts.len();
            self.observer.observe(&Event::SlicesStarted { trial: label, systems, next: &next, seconds_left });
        }
        let mut interleaved = Interleaved { block, round: round.number, parts, cycles: 0 };
        let cut = if let Some(known) = self.interleavings.get(&block.number) {
            *known
        } else {
            let found = interleaved.calibrate(self)?;
            // Where every system failed, nothing was found that later rounds could hold to.
            if interleaved.parts.iter().any(|part| part.cut.is_none()) {
                self.interleavings.insert(block.number, found);
            }
            found
        };
        let Some(cut) = cut else {
            for part in interleaved.parts {
                let trial = part.trial;
                drop(part);
                self.withdraw(round, &trial)?;
            }
            return Ok(None);
        };
        interleaved.warm_up(self, cut).ok_or(Stopped)?;
        interleaved.measure(self, cut).ok_or(Stopped)?;
        for part in interleaved.parts {
            attempts.push(self.leave(round, part, cut).ok_or(Stopped)?);
        }
        attempts.sort_by_key(|(trial, ..)| trial.system);
        Ok(Some(attempts))
    }

    /// Connects a system's load, which rests; or tells why there is none. None if the run was stopped meanwhile.
    fn join(
        &mut self,
        round: &mut Round<'a>,
        trial: &Trial,
        started_at_ms: i64,
    ) -> Option<Result<Part, Attempt>> {
        if let Err(failure) = self.make_ready(round, trial)? {
            return Some(Err(failure));
        }
        let Self { plan, options, .. } = self;
        let place = round.places[trial.system].as_mut().ok()?;
        let order = Order { plan, trial, options, seconds: 0.0 };
        let connect = || {
            let subject = place.subject().map_err(|lost| Cut::failed(lost.to_owned()))?;
            order.hook(plan.steps[trial.step].before.as_deref(), subject)?;
            let job = job::sliced(plan, trial, subject.target());
            let drive = start(options, &job, order.cpus())?;
            drive.until_measuring(order.watch())?;
            let meter = Meter::new(subject.work(), drive.pid(), subject.data());
            let tally = Tally::new(subject.counters());
            let recording = SliceRecording::new(plan.steps[trial.step].operation, meter, tally);
            Ok(Part { trial: *trial, started_at_ms, drive, recording, cut: None })
        };
        match connect() {
            Ok(part) => Some(Ok(part)),
            Err(cut) => {
                let outcome = order.autopsy(cut, place)?;
                Some(Err(Attempt { outcome, ..Attempt::default() }))
            }
        }
    }

    /// What follows a part of which nothing counts, since whole trials come instead: the step's own command, that each
    /// `before` has its `after`. The load process has ended with the part.
    fn withdraw(&mut self, round: &mut Round<'a>, trial: &Trial) -> Result<(), Stopped> {
        let Self { plan, options, .. } = self;
        let order = Order { plan, trial, options, seconds: 0.0 };
        let Some(Ok(place)) = round.places.get_mut(trial.system) else { return Ok(()) };
        let Ok(subject) = place.subject() else { return Ok(()) };
        match order.hook(plan.steps[trial.step].after.as_deref(), subject) {
            Err(Cut::Stopped) => Err(Stopped),
            // One that fails will fail in the whole trial too, and is told there.
            _ => Ok(()),
        }
    }

    /// Ends a system's part. None if the run was stopped meanwhile.
    fn leave(
        &mut self,
        round: &mut Round<'a>,
        part: Part,
        interleaving: Interleaving,
    ) -> Option<(Trial, Attempt, i64)> {
        let Part { trial, started_at_ms, drive, recording, cut } = part;
        let Self { plan, options, .. } = self;
        let order = Order { plan, trial: &trial, options, seconds: 0.0 };
        let place = round.places[trial.system].as_mut().ok()?;
        let (recorded, error_codes) = recording.finish(interleaving.lead_seconds);
        let mut attempt = Attempt { recorded, error_codes, ..Attempt::default() };
        let ended = match cut {
            Some(cut) => Err(cut),
            None => drive.finish(order.watch()).and_then(|()| {
                let subject = place.subject().map_err(|lost| Cut::failed(lost.to_owned()))?;
                order.hook(plan.steps[trial.step].after.as_deref(), subject)
            }),
        };
        attempt.outcome = match ended {
            Ok(()) => Outcome::Completed,
            Err(cut) => order.autopsy(cut, place)?,
        };
        self.after(round, &trial, &mut attempt);
        Some((trial, attempt, started_at_ms))
    }
}

/// The systems of a block while they take turns.
struct Interleaved {
    block: Block,
    round: u32,
    /// In the plan's order; those whose part was cut are passed over.
    parts: Vec<Part>,
    /// Cycles so far, whether they were measured or not.
    cycles: u32,
}

impl Interleaved {
    /// Runs the first slices, which do not count, and decides how to cut the others; none for whole trials.
    fn calibrate(&mut self, session: &Session<'_>) -> Result<Option<Interleaving>, Stopped> {
        let order =
            SliceOrder { lead_seconds: 0.0, seconds: FIRST_SLICE_SECONDS, bin_seconds: Some(BIN_SECONDS) };
        let mut slices: Vec<Vec<Slice>> = self.parts.iter().map(|_| Vec::new()).collect();
        let trial_seconds = session.seconds_of(self.block.step);
        for _ in 0..first_slices(trial_seconds) {
            self.cycle(session, order, |at, _, slice| slices[at].push(slice.clone())).ok_or(Stopped)?;
        }
        slices.retain(|slices| slices.len() > 1);
        for slices in &mut slices {
            slices.remove(0);
        }
        let step = &session.plan.steps[self.block.step];
        Ok(Interleaving::find(&slices, step.slicing, trial_seconds))
    }

    /// Runs slices that do not count: as long as the plan says, and until every rate has a level where it waits for that.
    fn warm_up(&mut self, session: &Session<'_>, cut: Interleaving) -> Option<()> {
        let step = &session.plan.steps[self.block.step];
        let order = order(cut);
        let each_seconds = cut.lead_seconds + cut.slice_seconds;
        let mut rates: Vec<Vec<f64>> = self.parts.iter().map(|_| Vec::new()).collect();
        let mut warmed_seconds = 0.0;
        loop {
            let is_enough = warmed_seconds >= step.warmup_seconds;
            let is_late = warmed_seconds >= step.settle_seconds_max;
            if is_enough && (is_late || rates.iter().all(|rates| has_level(rates))) {
                return Some(());
            }
            self.cycle(session, order, |at, _, slice| {
                let events = slice.counts.events.max(1) as f64;
                rates[at].push((events / slice.seconds).ln());
            })?;
            warmed_seconds += each_seconds;
        }
    }

    /// Runs the slices that count. None if the run was stopped.
    fn measure(&mut self, session: &mut Session<'_>, cut: Interleaving) -> Option<()> {
        let began = Instant::now();
        // What counts begins with the first of two cycles of opposite order.
        self.cycles = self.cycles.next_multiple_of(2);
        for part in &mut self.parts {
            part.recording.begin();
        }
        for number in 0..cut.cycles(session.seconds_of(self.block.step)) {
            let mut paces = Vec::new();
            self.cycle(session, order(cut), |_, (part, reading, slice_began), slice| {
                let lead_us = (cut.lead_seconds * 1e6) as u64;
                let started_us = slice_began.duration_since(began).as_micros() as u64 + lead_us;
                let pace = part.recording.slice_ended(slice, number, started_us, reading);
                paces.extend(pace.map(|pace| (part.trial, pace)));
            })?;
            let seconds_left = session.seconds_left();
            for (trial, pace) in paces {
                let trial = session.label(&trial);
                session.observer.observe(&Event::Ticked { trial, pace, seconds_left });
            }
        }
        Some(())
    }

    /// One slice of every system. None if the run was stopped meanwhile; a system that fails has no further slice.
    fn cycle(
        &mut self,
        session: &Session<'_>,
        order: SliceOrder,
        mut ended: impl FnMut(usize, (&mut Part, &super::meter::Reading, Instant), &Slice),
    ) -> Option<()> {
        for at in cycle(self.parts.len(), session.seed, self.block, self.round, self.cycles) {
            let part = &mut self.parts[at];
            if part.cut.is_some() {
                continue;
            }
            let watch = Watch { stop: session.options.stop, patience: session.options.patience };
            let reading = part.recording.slice_begins();
            let began = Instant::now();
            match part.drive.slice(&order, watch) {
                Ok(slice) => ended(at, (part, &reading, began), &slice),
                Err(Cut::Stopped) => return None,
                Err(cut) => part.cut = Some(cut),
            }
        }
        self.cycles += 1;
        Some(())
    }
}

fn order(cut: Interleaving) -> SliceOrder {
    SliceOrder { lead_seconds: cut.lead_seconds, seconds: cut.slice_seconds, bin_seconds: None }
}

/// Whether a rate has stopped rising or falling, by its last slices.
fn has_level(rates: &[f64]) -> bool {
    rates.len() >= LEVEL_SLICES
        && level(&rates[rates.len() - LEVEL_SLICES..]).is_some_and(|level| level.has_level())
}
