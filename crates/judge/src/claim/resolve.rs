//! Resolves the names of systems and tests in a claim.

use dyno_store::{StepRecord, SystemRecord};

use super::error::{ClaimError, Problem};
use super::measure::Measure;
use super::parse::{Call, Function, Name, Sentence};
use crate::trial::quantity::Quantity;

/// A call's systems and tests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Resolved {
    /// The ids of the systems that the call names: one system, or two.
    pub(super) systems: Vec<String>,
    /// Pairs of step and client count.
    pub(super) tests: Vec<(String, u32)>,
}

/// Resolves every call of a claim, in order.
pub(super) fn resolve(
    sentence: &Sentence,
    systems: &[SystemRecord],
    steps: &[StepRecord],
) -> Result<Vec<Resolved>, ClaimError> {
    let calls = sentence.sides.iter().flat_map(super::parse::Expression::calls);
    calls
        .map(|call| {
            let system = |name: &Name| -> Result<String, ClaimError> {
                known("system", name, systems.iter().map(|system| system.id.as_str()))?;
                Ok(name.text.clone())
            };
            let systems = call.systems.iter().map(system).collect::<Result<_, _>>()?;
            let tests = tests(call, steps)?;
            check_joined(call, &tests, steps)?;
            Ok(Resolved { systems, tests })
        })
        .collect()
}

/// Fails if the call has a number of joined clients that one of its tests never has.
fn check_joined(call: &Call, tests: &[(String, u32)], steps: &[StepRecord]) -> Result<(), ClaimError> {
    let Some(joined) = call.joined else { return Ok(()) };
    if call.measure != Measure::Quantity(Quantity::Throughput) {
        return Err(Problem::JoinedQuantity.at(call.column));
    }
    for (test, _) in tests {
        let of_test = |step: &&StepRecord| step.id == *test || step.background_of.as_ref() == Some(test);
        let joins = steps.iter().filter(of_test).flat_map(|step| &step.joins).map(|join| join.clients);
        let numbers: Vec<u32> = std::iter::once(0).chain(joins).collect();
        if numbers.len() == 1 || !numbers.contains(&joined) {
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            let known = numbers.iter().map(String::as_str);
            let problem = Problem::listed("number of joined clients", &joined.to_string(), known);
            return Err(problem.at(call.column));
        }
    }
    Ok(())
}

fn known<'a>(
    what: &'static str,
    name: &Name,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), ClaimError> {
    if names.clone().any(|known| known == name.text) {
        return Ok(());
    }
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    Err(Problem::unknown(what, &name.text, names).at(name.column))
}

/// The tests that a call names. A data load, which has no planned duration, is included only if the call names its
/// step.
fn tests(call: &Call, steps: &[StepRecord]) -> Result<Vec<(String, u32)>, ClaimError> {
    let named: Vec<&StepRecord> = match &call.step {
        Some(name) => named(call.function, name, steps)?,
        None => steps.iter().filter(|step| step.seconds.is_some()).collect(),
    };
    let is_wanted = |clients: &u32| call.clients.is_none_or(|wanted| *clients == wanted);
    let of_step = |step: &StepRecord| -> Vec<(String, u32)> {
        step.clients.iter().copied().filter(is_wanted).map(|clients| (step.id.clone(), clients)).collect()
    };
    let found: Vec<(String, u32)> = named.into_iter().flat_map(of_step).collect();
    match (call.function, found.len()) {
        (_, 0) => Err(Problem::Tests { function: call.function.name(), count: 0 }.at(call.column)),
        (Function::GeometricMean, _) | (_, 1) => Ok(found),
        (_, count) => Err(Problem::Tests { function: call.function.name(), count }.at(call.column)),
    }
}

/// The step with a name. For a geometric mean, if no step has the name: the steps of the group with this name, without
/// data loads.
fn named<'a>(
    function: Function,
    name: &Name,
    steps: &'a [StepRecord],
) -> Result<Vec<&'a StepRecord>, ClaimError> {
    if let Some(step) = steps.iter().find(|step| step.id == name.text) {
        return Ok(vec![step]);
    }
    let ids = steps.iter().map(|step| step.id.as_str());
    if function != Function::GeometricMean {
        known("step", name, ids.clone())?;
    }
    known("step or group", name, ids.chain(steps.iter().map(|step| step.group.as_str())))?;
    Ok(steps.iter().filter(|step| step.group == name.text && step.seconds.is_some()).collect())
}
