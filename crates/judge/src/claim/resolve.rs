//! Resolves the names of systems and tests in a claim.

use dyno_store::{StepRecord, SystemRecord};

use super::error::{ClaimError, Problem};
use super::measure::Measure;
use super::parse::{Call, Condition, Function, Name, Sentence};
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
    let (of_tests, of_systems): (Vec<&Condition>, Vec<&Condition>) = sentence
        .conditions
        .iter()
        .partition(|condition| matches!(condition.key.text.as_str(), "step" | "group" | "clients"));
    check_values(&of_tests, steps)?;
    let calls = sentence.sides.iter().flat_map(super::parse::Expression::calls);
    calls
        .map(|call| {
            let system = |name: &Name| system(name, &of_systems, systems);
            let systems = call.systems.iter().map(system).collect::<Result<_, _>>()?;
            let tests = tests(call, &of_tests, steps)?;
            check_joined(call, &tests, steps)?;
            Ok(Resolved { systems, tests })
        })
        .collect()
}

/// The system that a name refers to: the system whose id is the name, or else the only system whose id begins with the
/// name followed by `-`, `_`, `.`, `@` or `/`. In both cases the system's confinement must fit the conditions.
fn system(name: &Name, conditions: &[&Condition], systems: &[SystemRecord]) -> Result<String, ClaimError> {
    let is_named = |system: &&SystemRecord| {
        system
            .id
            .strip_prefix(&name.text)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.', '@', '/']))
    };
    let named: Vec<&SystemRecord> = systems.iter().filter(is_named).collect();
    if named.is_empty() {
        let known = systems.iter().map(|system| system.id.as_str());
        return Err(Problem::unknown("system", &name.text, known).at(name.column));
    }
    for condition in conditions {
        if !named.iter().any(|system| fits(system, condition)) {
            let key = &condition.key;
            let problem =
                Problem::unknown("system with", &format!("{} = {}", key.text, condition.value.text), []);
            return Err(problem.at(key.column));
        }
    }
    let fitting: Vec<&SystemRecord> = named
        .into_iter()
        .filter(|system| conditions.iter().all(|condition| fits(system, condition)))
        .collect();
    match (fitting.iter().find(|system| system.id == name.text), fitting.as_slice()) {
        (Some(exact), _) => Ok(exact.id.clone()),
        (None, [one]) => Ok(one.id.clone()),
        (None, several) => {
            let candidates = several.iter().map(|system| system.id.clone()).collect();
            Err(Problem::Ambiguous { name: name.text.clone(), candidates }.at(name.column))
        }
    }
}

/// Whether a system's confinement has the value of a condition. The value is compared as a number or as text.
fn fits(system: &SystemRecord, condition: &Condition) -> bool {
    let limit = system.confinement.as_ref().and_then(|confinement| confinement.get(&condition.key.text));
    limit.is_some_and(|limit| match limit {
        serde_json::Value::String(text) => *text == condition.value.text,
        serde_json::Value::Number(number) => {
            number.as_f64().is_some_and(|number| condition.value.text.parse() == Ok(number))
        }
        _ => false,
    })
}

fn check_values(conditions: &[&Condition], steps: &[StepRecord]) -> Result<(), ClaimError> {
    for Condition { key, value } in conditions.iter().copied() {
        match key.text.as_str() {
            "step" => known("step", value, steps.iter().map(|step| step.id.as_str()))?,
            "group" => known("group", value, steps.iter().map(|step| step.group.as_str()))?,
            _ => {
                let counts: Vec<String> =
                    steps.iter().flat_map(|step| &step.clients).map(ToString::to_string).collect();
                known("number of clients", value, counts.iter().map(String::as_str))?;
            }
        }
    }
    Ok(())
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

/// The tests that fit a call and the conditions. A data load, which has no planned duration, is included only if the
/// claim names its step.
fn tests(
    call: &Call,
    conditions: &[&Condition],
    steps: &[StepRecord],
) -> Result<Vec<(String, u32)>, ClaimError> {
    if let Some(step) = &call.step {
        known("step", step, steps.iter().map(|step| step.id.as_str()))?;
    }
    let value = |key: &str| {
        conditions
            .iter()
            .find(|condition| condition.key.text == key)
            .map(|condition| condition.value.text.as_str())
    };
    let step_id = call.step.as_ref().map(|step| step.text.as_str()).or_else(|| value("step"));
    let clients =
        call.clients.map(|clients| clients.to_string()).or_else(|| value("clients").map(str::to_owned));
    let is_wanted = |step: &&StepRecord| match step_id {
        Some(id) => step.id == id,
        None => value("group").is_none_or(|group| step.group == group) && step.seconds.is_some(),
    };
    let found: Vec<(String, u32)> = steps
        .iter()
        .filter(is_wanted)
        .flat_map(|step| step.clients.iter().map(|clients| (step.id.clone(), *clients)))
        .filter(|(_, count)| clients.as_ref().is_none_or(|clients| *clients == count.to_string()))
        .collect();
    match (call.function, found.len()) {
        (_, 0) => Err(Problem::Tests { function: call.function.name(), count: 0 }.at(call.column)),
        (Function::GeometricMean, _) | (_, 1) => Ok(found),
        (_, count) => Err(Problem::Tests { function: call.function.name(), count }.at(call.column)),
    }
}
