//! Stacks of servers: the functions in which their threads were, and differences between two systems.

mod change;
mod flame;
mod summary;
#[cfg(test)]
mod tests;

use dyno_store::{Run, StackProfile, StackRecord, TrialRecord};

pub use change::{FunctionChange, function_changes};
pub use flame::{FlameNode, flame, flame_difference};
pub use summary::{FunctionShare, StackSummary, ThreadSummary, stack_summaries};

/// The name of a kind of thread. In the engines' patterns of threads, it stands for threads that work for a client.
pub const CONNECTION: &str = "connection";

/// The threads whose stacks a flame graph shows. Threads that wait for their client are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameThreads {
    /// Threads that work for a client.
    Connections,
    /// Threads that do not work for a client.
    Background,
}

impl FlameThreads {
    fn has(self, stack: &StackRecord) -> bool {
        !stack.is_idle && (stack.thread_kind == CONNECTION) == (self == Self::Connections)
    }
}

/// The stacks of a system in a step at a client count, if they were sampled.
pub fn stacks_of<'a>(run: &'a Run, step: &str, clients: u32, system: &str) -> Option<&'a StackProfile> {
    trial_of(run, step, clients, system)?.stacks.as_ref()
}

/// The trial during which stacks were sampled. A resumed run may have sampled several trials; the first is returned.
fn trial_of<'a>(run: &'a Run, step: &str, clients: u32, system: &str) -> Option<&'a TrialRecord> {
    run.trials.iter().map(|trial| &trial.record).find(|record| {
        record.stacks.is_some()
            && (record.step_id.as_str(), record.clients, record.system_id.as_str()) == (step, clients, system)
    })
}
