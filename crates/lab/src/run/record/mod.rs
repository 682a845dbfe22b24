//! What is measured and recorded during a trial.

mod activity;
mod host;
mod memory;
mod meter;
mod neighbours;
mod recording;
mod replayed;
mod slice_recording;
mod tally;

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_store::RunRecord;

use crate::plan::Plan;
use crate::run::options::RunOptions;

pub(crate) use self::activity::Activity;
pub(crate) use self::host::this_host;
pub(crate) use self::meter::{Meter, Reading, Work};
pub(crate) use self::neighbours::NeighbourWatch;
pub(crate) use self::recording::{Recording, counts, latency_now, latency_record, pace};
pub(crate) use self::replayed::note_replay;
pub(crate) use self::slice_recording::SliceRecording;
pub(crate) use self::tally::Tally;

/// Milliseconds since 1970 UTC.
pub(crate) fn now_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

/// Makes the record of a run that begins now, on this host.
pub(crate) fn run(plan: &Plan, options: &RunOptions<'_>) -> RunRecord {
    RunRecord {
        plan_name: plan.name.clone(),
        plan_title: plan.title.clone(),
        plan_text: plan.text.clone(),
        dyno_version: options.dyno_version.clone(),
        seed: options.seed,
        scale: plan.scale,
        started_at_ms: now_ms(),
        host: this_host(),
        command_line: options.command_line.clone(),
        claims: plan.claims.clone(),
        rounds: plan.rounds.max(),
        looks: plan.looks().map_or(1, |looks| looks.at.len() as u32),
        correction: plan.correction,
        counts_disturbed: options.counts_disturbed,
        ladders: plan.ladders.clone(),
        counters: plan.counters.clone(),
        spread_id: options.task.as_ref().map(|task| task.spread_id.clone()),
        search: plan.search.clone(),
    }
}
