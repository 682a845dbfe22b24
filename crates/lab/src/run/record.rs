//! A plan and its surroundings as records of the results file.

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_store::{ClaimRecord, ResumptionRecord, Run, RunRecord};
use serde_json::json;

use super::{RunOptions, resume};
use crate::plan::{Claim, Plan};

/// Milliseconds since 1970 UTC.
pub(crate) fn now_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn run(plan: &Plan, options: &RunOptions<'_>) -> RunRecord {
    RunRecord {
        plan_name: plan.name.clone(),
        plan_title: plan.title.clone(),
        plan_text: plan.text.clone(),
        dyno_version: options.dyno_version.clone(),
        seed: options.seed,
        scale: plan.scale,
        started_at_ms: now_ms(),
        host: json!(dyno_host::facts()),
        command_line: options.command_line.clone(),
        claims: plan.claims.iter().map(claim).collect(),
        rounds: plan.rounds.max(),
        looks: plan.rounds.looks(),
    }
}

fn claim(claim: &Claim) -> ClaimRecord {
    let Claim { id, expression, says, published, source } = claim.clone();
    ClaimRecord { id, expression, says, published, source }
}

/// That a run is taken up now, on this host.
pub(crate) fn resumption(run: &Run) -> ResumptionRecord {
    let host = json!(dyno_host::facts());
    let differences = resume::differences(&run.record.host, &host);
    ResumptionRecord { resumed_at_ms: now_ms(), host, differences }
}
