//! Functions whose time per operation differs between two systems.

use std::collections::{BTreeMap, BTreeSet};

use dyno_store::StackProfile;
use serde::Serialize;

use super::FlameThreads;

/// Largest number of functions that are reported.
const FUNCTIONS_MAX: usize = 8;

/// A function in which threads that work for clients spent time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionChange {
    /// The innermost function on the stack that belongs to the engine and is not a wait or a lock.
    pub function: String,
    /// Thread time in the function per operation of the base, in µs.
    pub base_us: f64,
    /// Thread time in the function per operation of the candidate, in µs.
    pub candidate_us: f64,
}

/// The functions whose time per operation changed most, the largest change first. Samples come from one round, so
/// there are no verdicts. Empty if a system has no operation or no sample.
pub fn function_changes(base: &StackProfile, candidate: &StackProfile) -> Vec<FunctionChange> {
    let (Some(of_base), Some(of_candidate)) = (by_function(base), by_function(candidate)) else {
        return Vec::new();
    };
    let names: BTreeSet<&str> = of_base.keys().chain(of_candidate.keys()).copied().collect();
    let us = |of: &BTreeMap<&str, f64>, name: &str| of.get(name).copied().unwrap_or(0.0);
    let mut changes: Vec<FunctionChange> = names
        .into_iter()
        .map(|name| FunctionChange {
            function: name.to_owned(),
            base_us: us(&of_base, name),
            candidate_us: us(&of_candidate, name),
        })
        .collect();
    changes.sort_by(|a, b| b.size_us().total_cmp(&a.size_us()));
    changes.truncate(FUNCTIONS_MAX);
    changes
}

impl FunctionChange {
    fn size_us(&self) -> f64 {
        (self.candidate_us - self.base_us).abs()
    }
}

/// Thread time per operation in each function, in µs. `None` without an operation or a sample.
fn by_function(profile: &StackProfile) -> Option<BTreeMap<&str, f64>> {
    let each_us = profile.seconds * 1e6 / profile.operations as f64 / f64::from(profile.samples);
    if !each_us.is_finite() {
        return None;
    }
    let mut us: BTreeMap<&str, f64> = BTreeMap::new();
    for stack in profile.stacks.iter().filter(|stack| FlameThreads::Connections.has(stack)) {
        *us.entry(&stack.function).or_default() += f64::from(stack.count) * each_us;
    }
    Some(us)
}
