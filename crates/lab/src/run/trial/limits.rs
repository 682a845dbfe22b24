//! Keeps what the kernel says of a system's limits with its trial, and lifts those of I/O for work that nobody measures.

use dyno_host::ReadBack;
use dyno_store::{LimitDifference, LimitsRecord, TrialRecord};

use super::watch::TrialAbort;
use crate::run::error::SystemError;
use crate::run::system::{RunningSystem, SystemSlot};

/// Reads a system's limits back. The first time, before the load, they are noted; after that, only what differs from the
/// plan is added.
pub(crate) fn note_limits(record: &mut TrialRecord, slot: &SystemSlot<'_>) {
    let Some(ReadBack { in_force, differences, not_limited }) =
        slot.system().ok().and_then(RunningSystem::limits)
    else {
        return;
    };
    let limits = record.limits.get_or_insert_with(|| LimitsRecord {
        in_force: serde_json::json!(in_force),
        differences: Vec::new(),
        not_limited: not_limited.iter().map(ToString::to_string).collect(),
    });
    for found in differences {
        let difference =
            LimitDifference { limit: found.limit.to_owned(), asked: found.asked, found: found.found };
        if !limits.differences.contains(&difference) {
            limits.differences.push(difference);
        }
    }
}

/// Does work while a system's limits of I/O are lifted.
pub(crate) fn without_io_limits<T>(
    system: &dyn RunningSystem,
    work: impl FnOnce() -> Result<T, TrialAbort>,
) -> Result<T, TrialAbort> {
    let failed = |error: SystemError| TrialAbort::failed(error.to_string());
    system.limit_io(false).map_err(failed)?;
    let done = work();
    let limited = system.limit_io(true).map_err(failed);
    done.and_then(|done| limited.map(|()| done))
}
