//! Takes from the analysis the counters that the plan chooses.

use dyno_judge::Analysis;
use dyno_store::{Run, is_counter};

use crate::model::{ChosenCounter, CounterValue};

/// Each chosen counter with its values, in the plan's order. If several sources have a counter of a chosen name, the
/// result has one counter for each source.
pub(crate) fn chosen_counters(run: &Run, analysis: &Analysis) -> Vec<ChosenCounter> {
    let mut known: Vec<(&str, bool)> = Vec::new();
    for counter in analysis.tests.iter().flat_map(|test| &test.cells).flat_map(|cell| &cell.counters) {
        if known.iter().all(|(name, _)| *name != counter.name) {
            known.push((&counter.name, counter.is_gauge));
        }
    }
    let counters = |chosen: &String| {
        let mut of_name: Vec<ChosenCounter> = known
            .iter()
            .filter(|(name, _)| is_counter(chosen, name))
            .map(|(name, is_gauge)| ChosenCounter {
                chosen: chosen.clone(),
                name: Some((*name).to_owned()),
                is_gauge: *is_gauge,
                values: values(name, analysis),
            })
            .collect();
        if of_name.is_empty() {
            let nobody =
                ChosenCounter { chosen: chosen.clone(), name: None, is_gauge: false, values: Vec::new() };
            of_name.push(nobody);
        }
        of_name
    };
    run.record.counters.iter().flat_map(counters).collect()
}

fn values(name: &str, analysis: &Analysis) -> Vec<CounterValue> {
    let mut values = Vec::new();
    for test in &analysis.tests {
        for cell in &test.cells {
            let found = cell.counters.iter().find(|counter| counter.name == name);
            values.extend(found.map(|counter| CounterValue {
                step: test.step.clone(),
                clients: test.clients,
                system: cell.system.clone(),
                median: counter.median,
                peak: counter.peak,
            }));
        }
    }
    values
}
