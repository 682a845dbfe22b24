//! The data of drill-downs, for the page's script.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use dyno_judge::Explanation;
use dyno_store::{Outcome, Run, StepRecord, Trial, TrialRecord};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::html::PageInput;
use crate::html::drill_down::checks::CheckData;
use crate::html::drill_down::details::{Details, TrialDetails};
use crate::html::drill_down::marks::{Mark, marks};
use crate::html::drill_down::quantiles::{Distribution, distribution};
use crate::html::drill_down::series::{Exactness, number, series, without_client};
use crate::html::parts::explained::Explained;

/// Largest number of series values in a page. At about 3 bytes each, the page stays below 2 MB.
const VALUES_MAX: usize = 380_000;
/// Smallest number of series values in a page with many cells.
const VALUES_MIN: usize = 150_000;
/// Number of series values that take as much space as a cell's figures in the matrices.
const VALUES_A_CELL: usize = 100;
/// Number of series values that take as much space as a trial's other figures.
const VALUES_A_TRIAL: usize = 4;
/// Largest number of counter values in a page.
const COUNTERS_MAX: usize = 20_000;
/// Approximate number of series of a trial.
const SERIES_A_TRIAL: usize = 14;

#[derive(Debug, Serialize)]
pub(crate) struct StepCells {
    /// Names of the cells' counters.
    counters: Vec<String>,
    /// A cell for each client count and system, in the order of the matrices. `None` where no trial ran.
    cells: Vec<Option<CellData>>,
}

#[derive(Debug, Serialize)]
struct CellData {
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<Explained>,
    trials: Vec<TrialData>,
    latency: Option<Distribution>,
    /// Counters. Each has an index into the list of names, a kind (0: value per operation, 1: level) and a value.
    counters: Vec<(usize, u8, Value)>,
}

#[derive(Debug, Serialize)]
struct TrialData {
    /// The round's number, from 0.
    round: u32,
    started_at_ms: i64,
    rate: Value,
    errors: u64,
    reconnects: u64,
    disk_bytes: Option<u64>,
    backlog: Option<u64>,
    /// Events that were still in flight when the trial ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<usize>,
    /// Median length of the slices, in seconds.
    #[serde(skip_serializing_if = "Value::is_null")]
    slice_seconds: Value,
    /// CPU time, in seconds, that the server used between its slices, while other systems were measured.
    #[serde(skip_serializing_if = "Value::is_null")]
    rest_cpu_seconds: Value,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    error_codes: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
}

#[derive(Debug, Serialize)]
struct Failure {
    message: String,
    log_tail: String,
}

/// Limits on the data that a page has for each trial and each cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    points_a_trial: usize,
    counters_a_cell: usize,
    exactness: Exactness,
}

impl Budget {
    /// Divides the space of a page among its cells.
    pub(crate) fn of(run: &Run, details: &Details) -> Self {
        let share = |all: usize, parts: usize| all / parts.max(1);
        let cells: usize = run.steps.iter().map(|step| step.clients.len() * run.systems.len()).sum();
        let fixed = cells * VALUES_A_CELL + run.trials.len() * VALUES_A_TRIAL;
        let values = VALUES_MAX.saturating_sub(fixed).max(VALUES_MIN);
        Self {
            exactness: if details.is_thinned { Exactness::Display } else { Exactness::Data },
            points_a_trial: share(values, details.trials.len() * SERIES_A_TRIAL).clamp(14, 3_600),
            counters_a_cell: share(COUNTERS_MAX, cells).clamp(12, 2_000),
        }
    }
}

/// The cells of a step, in the order of the matrices.
pub(crate) fn step_cells(
    input: &PageInput<'_>,
    step: &StepRecord,
    client_counts: &[u32],
    budget: Budget,
) -> StepCells {
    let PageInput { run, details, .. } = *input;
    let mut trials: HashMap<(u32, &str), Vec<&Trial>> = HashMap::new();
    for trial in run.trials.iter().filter(|trial| trial.record.step_id == step.id) {
        trials.entry((trial.record.clients, &trial.record.system_id)).or_default().push(trial);
    }
    let mut names = Names::default();
    let mut cells = Vec::new();
    for &clients in client_counts {
        for system in &run.systems {
            let trials = trials.get_mut(&(clients, system.id.as_str()));
            cells.push(trials.map(|trials| {
                trials.sort_by_key(|trial| trial.record.round);
                CellData {
                    explained: explained(input, step, clients, &system.id),
                    ..cell(trials, details, budget, &mut names)
                }
            }));
        }
    }
    StepCells { counters: names.list, cells }
}

/// Why a cell differs from the plan's base; `None` if this is unknown.
fn explained(input: &PageInput<'_>, step: &StepRecord, clients: u32, system: &str) -> Option<Explained> {
    let is_it = |it: &&Explanation| it.step == step.id && it.clients == clients && it.candidate == system;
    input.reasons.explanations.iter().find(is_it).map(Explained::of)
}

fn cell(trials: &[&Trial], details: &Details, budget: Budget, names: &mut Names) -> CellData {
    let measured = || trials.iter().filter(|trial| trial.record.is_complete());
    let counted: Vec<(&TrialRecord, &TrialDetails)> =
        measured().filter_map(|trial| Some((&trial.record, details.trials.get(&trial.id)?))).collect();
    CellData {
        explained: None,
        latency: distribution(measured().map(|trial| &trial.record)),
        counters: counters(&counted, budget, names),
        trials: trials.iter().map(|trial| trial_data(trial, details, budget)).collect(),
    }
}

fn trial_data(trial: &Trial, details: &Details, budget: Budget) -> TrialData {
    let record = &trial.record;
    let counts = record.measured.as_ref().map(|measured| measured.counts).unwrap_or_default();
    let rate = dyno_judge::throughput(record);
    let failure = match &record.outcome {
        Outcome::Completed => None,
        Outcome::Failed { message, log_tail, .. } => {
            Some(Failure { message: message.clone(), log_tail: log_tail.clone() })
        }
    };
    let in_short = if details.is_thinned { CheckData::brief } else { CheckData::of };
    let check = details.checks.get(&trial.id).map(in_short);
    let details = details.trials.get(&trial.id).filter(|details| !details.seconds.is_empty());
    TrialData {
        round: record.round,
        started_at_ms: record.started_at_ms,
        rate: number(rate, 6),
        errors: counts.errors,
        reconnects: counts.reconnects,
        disk_bytes: record.disk_bytes_after,
        backlog: record.backlog,
        unfinished: record.unfinished.filter(|events| *events > 0),
        slices: (!record.slices.is_empty()).then_some(record.slices.len()),
        slice_seconds: number(slice_seconds(record), 3),
        rest_cpu_seconds: number(record.rest_cpu_us.map(|us| us as f64 / 1e6), 3),
        error_codes: record.error_codes.clone(),
        failure,
        check,
        series: details.map(|details| {
            // The CPU time in the series is that of this host. With drivers on other hosts, the client's CPU time would
            // include the CPU time of those hosts, so it is left out.
            let seconds = if record.drivers.is_empty() {
                Cow::Borrowed(&details.seconds)
            } else {
                Cow::Owned(without_client(&details.seconds))
            };
            series(&seconds, budget.points_a_trial, budget.exactness)
        }),
        marks: details.map(|details| marks(&details.counters)).unwrap_or_default(),
    }
}

/// Median length of the slices; `None` for a trial without slices.
fn slice_seconds(record: &TrialRecord) -> Option<f64> {
    dyno_stats::median(&record.slices.iter().map(|slice| slice.seconds).collect::<Vec<_>>())
}

/// Medians of counters over trials. If there are too many medians, medians of counters are kept rather than medians of
/// gauges, and larger medians rather than smaller ones.
fn counters(
    trials: &[(&TrialRecord, &TrialDetails)],
    budget: Budget,
    names: &mut Names,
) -> Vec<(usize, u8, Value)> {
    let mut found: BTreeMap<&str, (bool, Vec<f64>)> = BTreeMap::new();
    for (record, details) in trials {
        let operations = record.measured.as_ref().map_or(0, |measured| measured.counts.operations);
        for counter in &details.counters {
            let value = if counter.is_gauge {
                Some(counter.last)
            } else {
                (operations > 0).then(|| (counter.last - counter.first) / operations as f64)
            };
            found.entry(&counter.name).or_insert_with(|| (counter.is_gauge, Vec::new())).1.extend(value);
        }
    }
    let medians = found.into_iter().filter_map(|(name, (is_gauge, values))| {
        let value = dyno_stats::median(&values)?;
        (value != 0.0).then_some((name, is_gauge, value))
    });
    let mut medians: Vec<(&str, bool, f64)> = medians.collect();
    if medians.len() > budget.counters_a_cell {
        // Counters come before gauges, because values per operation are easy to compare.
        medians.sort_by(|a, b| {
            (a.1, -a.2.abs()).partial_cmp(&(b.1, -b.2.abs())).unwrap_or(std::cmp::Ordering::Equal)
        });
        medians.truncate(budget.counters_a_cell);
    }
    medians
        .into_iter()
        .map(|(name, is_gauge, value)| {
            // Gauges get more digits, so that sizes that servers report are not rounded.
            let digits = if is_gauge { 7 } else { 4 };
            (names.place(name), u8::from(is_gauge), number(Some(value), digits))
        })
        .collect()
}

/// Names without duplicates. A name is referred to by its index.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.list.push(name.to_owned());
        self.places.insert(name.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}
