//! Stacks of the servers.

use dyno_store::{Run, StackProfile, StackRecord};

use super::trial_mut;

/// Adds the stacks of all systems in one test. The base waits for free blocks. The last system's process ends
/// during the sampling.
pub(super) fn add(run: &mut Run) {
    let names = ["mysql56", "maria", "myrocks"];
    let blocked =
        [("buf_LRU_get_free_block", 52), ("lock_wait", 4), ("rocksdb::WriteThread::JoinBatchGroup", 30)];
    for (system, (function, count)) in names.into_iter().zip(blocked) {
        let ended_early = (system == "myrocks").then(|| "the process 7 has ended".to_owned());
        let stacks = vec![
            stack(
                "connection",
                false,
                function,
                &format!("handle_one_connection;{function};os_event_wait"),
                count,
            ),
            stack("connection", false, "row_search", "handle_one_connection;row_search", 20),
            stack("connection", true, "my_net_read", "handle_one_connection;my_net_read;poll", 8),
            stack("purge", false, "srv_purge", "srv_purge;os_event_wait", 20),
        ];
        trial_mut(run, "update-nonindex", system, 4, 0).stacks = Some(StackProfile {
            seconds: 10.0,
            operations: 20_000,
            samples: 20,
            sampler: "eu-stack (elfutils) 0.188".to_owned(),
            sample_ms_median: 12.5,
            unnamed_share: 0.04,
            ended_early,
            stacks,
        });
    }
}

fn stack(kind: &str, is_idle: bool, function: &str, frames: &str, count: u32) -> StackRecord {
    StackRecord {
        thread_kind: kind.to_owned(),
        is_idle,
        function: function.to_owned(),
        frames: frames.to_owned(),
        count,
    }
}
