//! The cheapest system for a load.

use dyno_stats::{CONFIDENCE, Interval, centre_of_rounds};
use dyno_store::{Operation, Price, Run, SystemRecord};
use serde::Serialize;

use super::dollars_per_million;
use super::priced::{PriceDifference, Priced};
use crate::analysis::Analysis;
use crate::analysis::test::{Cell, RoundValue};
use crate::compare::rule::ROUNDS_WITH_VERDICT_MIN;
use crate::cost::forecast::{Forecast, Hardware, Predicted};
use crate::trial::quantity::Quantity;

/// The throughput and the latency limit that a system must meet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Target {
    /// The throughput that a system must reach.
    pub operations_per_second: f64,
    /// The largest 99th percentile of latency that is accepted; `None` accepts any latency.
    pub p99_ms: Option<f64>,
}

/// Systems, and whether they meet the target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostAnswer {
    pub target: Target,
    pub step: String,
    pub operation: Operation,
    /// In ascending order of price. Candidates without a price come last.
    pub candidates: Vec<Candidate>,
    pub forecasts: Vec<Forecast>,
    /// The processor of the measured host, if known. Price lists do not name the processors of instances.
    pub processor: Option<String>,
}

/// A system, or a family of systems on hardware that was not measured, at its best number of clients for the
/// target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    pub system: String,
    pub basis: Basis,
    pub hardware: Hardware,
    pub clients: u32,
    /// The centre over rounds, or the prediction.
    pub operations_per_second: Option<f64>,
    /// `None` with fewer than two rounds.
    pub interval: Option<Interval>,
    /// `None` if the latency was not measured.
    pub p99: Option<LatencyFigure>,
    pub dollars_per_year: Option<f64>,
    /// The instance and the volume of the price list; `None` without a list.
    pub price: Option<Price>,
    /// Differences between the priced hardware and the candidate's hardware; empty if there are none or they are
    /// unknown.
    pub differences: Vec<PriceDifference>,
    pub dollars_per_million_operations: Option<f64>,
    pub answer: Answer,
}

/// The source of a candidate's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    Measured,
    Predicted,
    /// Predicted for hardware outside the measured range.
    PredictedOutside,
    /// Only an upper bound is known.
    AtMost,
    /// Nothing is known, because no prediction is possible.
    Unknown,
}

/// The centre of a latency over rounds, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyFigure {
    pub ms: f64,
    pub interval: Option<Interval>,
    /// Whether the latency is only a lower bound. It is one if too many events never ended.
    pub is_lower_bound: bool,
}

/// Whether a candidate meets the target. It meets the target only if the interval of each of its figures is entirely
/// within the target, and misses it only if the interval of one figure is entirely outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    DoesNotMeet,
    NotDecided,
    Meets,
}

/// Finds out which systems meet the target in a step at these numbers of clients, and what they cost. `prices` returns
/// the price of a system, or of a system on predicted hardware. `None` if the run has no test of this step with these
/// numbers of clients.
pub fn cheapest(
    run: &Run,
    analysis: &Analysis,
    target: Target,
    step: &str,
    clients: &[u32],
    forecasts: Vec<Forecast>,
    prices: &impl Fn(&SystemRecord, Option<Hardware>) -> Option<Priced>,
) -> Option<CostAnswer> {
    let tests = || analysis.tests.iter().filter(|test| test.step == step && clients.contains(&test.clients));
    let operation = tests().next()?.operation;
    let mut candidates = Vec::new();
    for system in run.systems.iter().filter(|system| system.control_of.is_none()) {
        let price = prices(system, None);
        let hardware = Hardware::of(run, system);
        let dollars = price.as_ref().map(|price| price.dollars_per_year);
        let cells = tests().filter_map(|test| {
            let cell = test.cells.iter().find(|cell| cell.system == system.id)?;
            measured(cell, test.clients, hardware, dollars, target)
        });
        let best = cells.max_by(Candidate::serves_less);
        candidates.extend(best.map(|it| it.priced(price, run, system)));
    }
    candidates.extend(predicted(run, &forecasts, target, prices));
    candidates.sort_by(|a, b| {
        let price = |it: &Candidate| it.dollars_per_year.unwrap_or(f64::INFINITY);
        let is_predicted = |it: &Candidate| it.basis != Basis::Measured;
        let by_price = price(a).total_cmp(&price(b)).then(is_predicted(a).cmp(&is_predicted(b)));
        by_price.then(b.serves_less(a))
    });
    let processor = run.record.host.cpu_model.clone();
    Some(CostAnswer { target, step: step.to_owned(), operation, candidates, forecasts, processor })
}

impl Candidate {
    /// The candidate with its price. If the candidate is a prediction, `system` is a measured system of the same
    /// family.
    fn priced(self, price: Option<Priced>, run: &Run, system: &SystemRecord) -> Self {
        let Some(price) = price else { return self };
        let differences = price.differences(run, system, self.hardware);
        Self { price: price.by_list, differences, ..self }
    }

    fn serves_less(&self, other: &Self) -> std::cmp::Ordering {
        let rate = |it: &Self| it.operations_per_second.unwrap_or(0.0);
        self.answer.cmp(&other.answer).then(rate(self).total_cmp(&rate(other)))
    }
}

impl CostAnswer {
    /// The cheapest candidate that meets the target by measurement.
    pub fn cheapest_measured(&self) -> Option<&Candidate> {
        self.cheapest(|it| it.basis == Basis::Measured)
    }

    /// Whether there is a priced candidate that may or may not meet the target.
    pub fn is_open(&self) -> bool {
        let is_open = |it: &Candidate| it.answer == Answer::NotDecided && it.dollars_per_year.is_some();
        self.candidates.iter().any(is_open)
    }

    /// The cheapest candidate that meets the target by measurement or by prediction.
    pub fn cheapest_of_all(&self) -> Option<&Candidate> {
        self.cheapest(|_| true)
    }

    fn cheapest(&self, is_wanted: impl Fn(&Candidate) -> bool) -> Option<&Candidate> {
        let meets =
            |it: &&Candidate| it.answer == Answer::Meets && it.dollars_per_year.is_some() && is_wanted(it);
        self.candidates.iter().find(meets)
    }
}

fn measured(
    cell: &Cell,
    clients: u32,
    hardware: Hardware,
    price: Option<f64>,
    target: Target,
) -> Option<Candidate> {
    let throughput = of_rounds(&cell.rounds, 1.0)?;
    let p99 = cell.costs.get(&Quantity::LatencyP99).and_then(|figure| {
        let (ms, interval) = of_rounds(&figure.rounds, 1e-3)?;
        Some(LatencyFigure { ms, interval, is_lower_bound: figure.is_lower_bound })
    });
    let has_evidence = cell.rounds.len() >= ROUNDS_WITH_VERDICT_MIN;
    let of_rate = is_above(throughput.1.filter(|_| has_evidence), target.operations_per_second);
    let of_latency =
        target.p99_ms.map_or(Answer::Meets, |ms_max| is_below(p99.filter(|_| has_evidence), ms_max));
    // A system that failed in some rounds is not shown to meet the target.
    let of_failures = if cell.failed > 0 { Answer::NotDecided } else { Answer::Meets };
    Some(Candidate {
        system: cell.system.clone(),
        basis: Basis::Measured,
        hardware,
        clients,
        operations_per_second: Some(throughput.0),
        interval: throughput.1,
        p99,
        dollars_per_year: price,
        price: None,
        differences: Vec::new(),
        dollars_per_million_operations: price.and_then(|price| dollars_per_million(price, throughput.0)),
        answer: of_rate.min(of_latency).min(of_failures),
    })
}

/// The centre over rounds with its interval, after the values are multiplied by `unit`. It is computed on a
/// logarithmic scale, because rates and times are positive and vary by factors.
fn of_rounds(rounds: &[RoundValue], unit: f64) -> Option<(f64, Option<Interval>)> {
    let positive = rounds.iter().map(|round| round.value * unit).filter(|value| *value > 0.0);
    let centre = centre_of_rounds(&positive.map(f64::ln).collect::<Vec<_>>(), CONFIDENCE)?;
    Some((centre.value.exp(), centre.interval.map(Interval::exp)))
}

fn is_above(interval: Option<Interval>, least: f64) -> Answer {
    match interval {
        Some(interval) if interval.low >= least => Answer::Meets,
        Some(interval) if interval.high < least => Answer::DoesNotMeet,
        _ => Answer::NotDecided,
    }
}

fn is_below(latency: Option<LatencyFigure>, ms_max: f64) -> Answer {
    match latency.and_then(|it| Some((it.interval?, it.is_lower_bound))) {
        Some((interval, _)) if interval.low > ms_max => Answer::DoesNotMeet,
        Some((interval, false)) if interval.high <= ms_max => Answer::Meets,
        _ => Answer::NotDecided,
    }
}

/// The candidates from forecasts: each family on each predicted hardware, at its best number of clients.
fn predicted(
    run: &Run,
    forecasts: &[Forecast],
    target: Target,
    prices: &impl Fn(&SystemRecord, Option<Hardware>) -> Option<Priced>,
) -> Vec<Candidate> {
    let mut best: Vec<Candidate> = Vec::new();
    for forecast in forecasts {
        let Some(like) = run.systems.iter().find(|system| system.id == forecast.like) else { continue };
        for prediction in &forecast.predictions {
            let price = prices(like, Some(prediction.hardware));
            let dollars = price.as_ref().map(|price| price.dollars_per_year);
            let candidate =
                of_prediction(forecast, prediction.hardware, &prediction.predicted, dollars, target)
                    .priced(price, run, like);
            let is_it =
                |it: &&mut Candidate| it.system == candidate.system && it.hardware == candidate.hardware;
            match best.iter_mut().find(is_it) {
                Some(known) if known.serves_less(&candidate).is_lt() => *known = candidate,
                Some(_) => {}
                None => best.push(candidate),
            }
        }
    }
    best
}

/// The candidate from a prediction. Predictions have no percentiles of latency, so they cannot meet a target that
/// limits one.
fn of_prediction(
    forecast: &Forecast,
    hardware: Hardware,
    predicted: &Predicted,
    price: Option<f64>,
    target: Target,
) -> Candidate {
    let least = target.operations_per_second;
    let (basis, rate, interval, of_rate) = match predicted {
        Predicted::Rate { operations_per_second, interval, is_outside, .. } => {
            let basis = if *is_outside { Basis::PredictedOutside } else { Basis::Predicted };
            (basis, Some(*operations_per_second), Some(*interval), is_above(Some(*interval), least))
        }
        Predicted::AtMost { operations_per_second: rate, .. } => {
            let answer = if *rate < least { Answer::DoesNotMeet } else { Answer::NotDecided };
            (Basis::AtMost, Some(*rate), None, answer)
        }
        Predicted::Nothing { .. } => (Basis::Unknown, None, None, Answer::NotDecided),
    };
    let of_latency = if target.p99_ms.is_some() { Answer::NotDecided } else { Answer::Meets };
    Candidate {
        system: forecast.family.clone(),
        basis,
        hardware,
        clients: forecast.clients,
        operations_per_second: rate,
        interval,
        p99: None,
        dollars_per_year: price,
        price: None,
        differences: Vec::new(),
        dollars_per_million_operations: price
            .zip(rate)
            .and_then(|(price, rate)| dollars_per_million(price, rate)),
        answer: of_rate.min(of_latency),
    }
}
