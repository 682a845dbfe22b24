//! Limits of a system, as the kernel reports them.

use serde::{Deserialize, Serialize};

/// Limits of a system as the kernel reported them before and after a trial, and the CPUs to which Dyno pinned
/// threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitsRecord {
    /// The limits in force before the trial (`host::InForce` as JSON), the CPUs of the load process, and the CPUs
    /// of pinned threads ([`PINNED`](Self::PINNED)).
    pub in_force: serde_json::Value,
    /// Limits that differed from the plan, before or after the trial.
    pub differences: Vec<UnmetLimit>,
    /// Limits of the plan that the host cannot enforce, in words.
    pub not_limited: Vec<String>,
}

impl LimitsRecord {
    /// The key in [`in_force`](Self::in_force) for the CPUs to which Dyno pinned the server's busy threads.
    pub const PINNED: &str = "pinned_server_threads";
}

/// A limit whose value in the kernel differed from the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmetLimit {
    /// The limit's key in plans, such as `memory`. It may also be `swap`, which a limit of memory sets to 0.
    pub limit: String,
    pub asked: String,
    /// The value that the kernel reports.
    pub found: String,
}
