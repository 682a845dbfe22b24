//! Workloads that run all the time while a trial's own is measured.

use std::time::Instant;

use dyno_load::{Counts, Frame, Latency, Target, Tick};
use dyno_store::{Measured, Outcome, Phase, SampleRecord, Usage};

use super::attempt::{self, Attempt, Order};
use super::drive::{Cut, Drive, Watch};
use super::job;
use super::recording::{Recorded, counts};
use crate::plan::Beside;

/// Everything that runs beside a trial. Dropping it ends them.
pub(crate) struct Company<'a>(Vec<Companion<'a>>);

struct Companion<'a> {
    about: &'a Beside,
    /// Its name in results.
    id: String,
    drive: Drive,
    /// What each second gave, and when that was known.
    ticks: Vec<(Instant, Tick)>,
}

impl<'a> Company<'a> {
    /// Starts all of them, and waits until each is at work.
    pub(crate) fn start(order: &Order<'a>, target: &Target, watch: Watch<'_>) -> Result<Self, Cut> {
        let step = &order.plan.steps[order.trial.step];
        let start = |about: &'a Beside| {
            let job = job::beside(order.plan, order.trial, about, target.clone());
            let id = step.id_beside(about);
            let of_it = |cut| match cut {
                Cut::Failed { message, .. } => failed(&id, &message),
                cut => cut,
            };
            let drive = attempt::start(order.options, &job, order.cpus()).map_err(of_it)?;
            drive.until_measuring(watch).map_err(of_it)?;
            Ok(Companion { about, id, drive, ticks: Vec::new() })
        };
        step.beside.iter().map(start).collect::<Result<_, _>>().map(Self)
    }

    /// Takes note of what they said meanwhile. An error if one of them has ended.
    pub(crate) fn listen(&mut self) -> Result<(), Cut> {
        for Companion { id, drive, ticks, .. } in &mut self.0 {
            while let Some((at, frame)) = drive.heard() {
                match frame {
                    Ok(Some(Frame::Tick(tick))) => ticks.push((at, tick)),
                    Ok(Some(Frame::Failed { message, .. })) => return Err(failed(id, &message)),
                    Ok(Some(Frame::Finished(_)) | None) => return Err(failed(id, &"it ended by itself")),
                    Ok(Some(_)) => {}
                    Err(error) => return Err(failed(id, &error)),
                }
            }
        }
        Ok(())
    }

    /// Ends them, and tells what each did between two moments: whole seconds of its own that ended in between.
    pub(crate) fn finish(self, from: Instant, to: Instant) -> Vec<(String, Attempt)> {
        let within = |(at, tick): (Instant, Tick)| (from < at && at <= to).then_some(tick);
        self.0
            .into_iter()
            .map(|companion| {
                let ticks: Vec<Tick> = companion.ticks.into_iter().filter_map(within).collect();
                (companion.id, whole(companion.about, &ticks))
            })
            .collect()
    }
}

fn failed(id: &str, reason: &dyn std::fmt::Display) -> Cut {
    Cut::Failed { message: format!("{id}, which runs beside: {reason}"), total: None }
}

/// A trial's worth of ticks. What the server burned is shared with the other workloads and so is not known.
fn whole(about: &Beside, ticks: &[Tick]) -> Attempt {
    let usage = |ticks: &[Tick]| Usage {
        client_user_cpu_us: Some(ticks.iter().map(|tick| tick.usage.user_us).sum()),
        client_system_cpu_us: Some(ticks.iter().map(|tick| tick.usage.system_us).sum()),
        client_context_switches: Some(ticks.iter().map(|tick| tick.usage.context_switches).sum()),
        ..Usage::default()
    };
    let measured = |ticks: &[Tick]| {
        let (mut done, mut latency) = (Counts::default(), Latency::default());
        for tick in ticks {
            done += tick.counts;
            latency.merge(&tick.latency);
        }
        Measured {
            seconds: ticks.iter().map(|tick| tick.seconds).sum(),
            counts: counts(&done, about.operation),
            latency: latency.to_bytes(),
        }
    };
    let sample = |(number, tick): (usize, &Tick)| SampleRecord {
        number: number as u32,
        phase: Phase::Measure,
        measured: measured(std::slice::from_ref(tick)),
        usage: usage(std::slice::from_ref(tick)),
    };
    if ticks.is_empty() {
        return Attempt::failed("was measured for less than a second".to_owned(), String::new());
    }
    Attempt {
        outcome: Outcome::Completed,
        recorded: Recorded {
            measured: Some(measured(ticks)),
            usage: usage(ticks),
            samples: ticks.iter().enumerate().map(sample).collect(),
            ..Recorded::default()
        },
        ..Attempt::default()
    }
}
