//! The plan key `stacks`.

use serde::Deserialize;

use crate::plan::keys::steps::command::Command;
use crate::plan::keys::steps::step::Step;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At};

/// How the call stacks of servers are sampled in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StackSampling {
    /// Number of samples per second. A server with many threads may be sampled less often.
    pub hertz: f64,
}

/// Longest time of the load under which stacks are sampled, in seconds.
const SECONDS_MAX: f64 = 30.0;

impl StackSampling {
    /// Returns the seconds of the load under which stacks are sampled. `trial_seconds` is the measured time of a
    /// trial. If background clients join over time, the load lasts the full time, so that all of them join.
    pub(crate) fn seconds(step: &Step, trial_seconds: f64) -> f64 {
        if step.has_joins() { trial_seconds } else { trial_seconds.min(SECONDS_MAX) }
    }
}

/// Samples the stacks of the server's threads, while the step's load runs once more, unmeasured.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct StacksTable {
    /// Samples per second.
    hertz: Above0,
}

pub(in crate::plan) fn of_step(
    table: Option<&At<StacksTable>>,
    command: Command,
    has_find: bool,
) -> Result<Option<StackSampling>, Mistake> {
    match table {
        Some(table) if has_find => {
            Err(table
                .wrong("a search has no single load that could run again; leave `stacks` out".to_owned()))
        }
        Some(table) if command == Command::Prepare => {
            Err(table
                .wrong("a load of tables cannot run again for its stacks; leave `stacks` out".to_owned()))
        }
        Some(table) => Ok(Some(StackSampling { hertz: table.hertz.0 })),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse};

    #[test]
    fn stacks_are_sampled_in_steps_that_ask_for_it_and_never_in_a_load() {
        let plan = parse(&format!("{TEXT}stacks = {{ hertz = 10 }}\n")).unwrap();
        assert_eq!(plan.steps[1].stacks, Some(StackSampling { hertz: 10.0 }));
        assert_eq!(plan.steps[0].stacks, None);
        let longer = plan.expected_seconds() - parse(TEXT).unwrap().expected_seconds();
        // Three systems, each at two numbers of clients, have a warm-up and a measured time in one round.
        assert!((longer - 6.0 * (0.5 + 2.0)).abs() < 1e-6, "{longer}");
        let load = TEXT.replace("operation = \"row\"", "operation = \"row\"\nstacks = { hertz = 10 }");
        let error = parse(&load).unwrap_err().to_string();
        assert!(error.contains("a load of tables cannot run again for its stacks"), "{error}");
        let none = format!("{TEXT}stacks = {{ hertz = 0 }}\n");
        let error = parse(&none).unwrap_err().to_string();
        assert!(error.contains("`hertz` must be above 0"), "{error}");
    }
}
