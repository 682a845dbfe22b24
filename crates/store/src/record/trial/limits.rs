//! Limits of a system as the kernel had them.

use serde::{Deserialize, Serialize};

/// Limits of a system as the kernel had them around a trial, and the CPUs to which Dyno pinned threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitsRecord {
    /// The limits in force before the trial (`host::InForce` as JSON), the CPUs of the load process, and those of
    /// pinned threads ([`PINNED`](Self::PINNED)).
    pub in_force: serde_json::Value,
    /// Limits that differed from the plan, before or after the trial.
    pub differences: Vec<UnmetLimit>,
    /// What the host cannot limit, in words.
    pub not_limited: Vec<String>,
}

impl LimitsRecord {
    /// The name in [`in_force`](Self::in_force) of the CPUs to which Dyno pinned the server's busy threads.
    pub const PINNED: &str = "pinned_server_threads";
}

/// A limit that differed from the plan in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmetLimit {
    /// Its key in plans, such as `memory`. Or `swap`, which a limit of memory sets to 0.
    pub limit: String,
    pub asked: String,
    /// The kernel's value.
    pub found: String,
}
