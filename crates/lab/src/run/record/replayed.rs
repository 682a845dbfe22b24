//! Records the statements of a server's traffic that a load has replayed.

use std::collections::HashMap;

use dyno_load::{Latency, Noted, NotedStatement, Replayed, ReplayedDigest};
use dyno_store::{DigestRecord, LatencyNs, LatencyRecord, LatenessRecord, ReplayRecord, TrialRecord};
use dyno_traffic::{DigestName, TrafficError, TrafficFile};

use crate::plan::Traffic;

/// Adds a replay to a trial's record. Returns an example statement of each digest, so that the server can be asked for
/// the statement's query plan.
///
/// # Errors
/// The traffic file, which names the digests, can no longer be read.
pub(crate) fn note_replay(
    record: &mut TrialRecord,
    replayed: &Replayed,
    traffic: &Traffic,
) -> Result<Noted, TrafficError> {
    let names = TrafficFile::open(&traffic.file)?.digests()?;
    let names: HashMap<i64, DigestName> = names.into_iter().map(|name| (name.id, name)).collect();
    let record_of = |digest: &ReplayedDigest| {
        let record = digest_record(digest, names.get(&digest.id)?);
        Some(DigestRecord { answers: traffic.reads_answers.then_some(digest.answers), ..record })
    };
    record.replayed = replayed.digests.iter().filter_map(record_of).collect();
    record.replayed.sort_by(|a, b| a.digest.cmp(&b.digest));
    record.replay = Some(ReplayRecord {
        sessions: replayed.sessions,
        sessions_refused: replayed.sessions_refused,
        sessions_lost: replayed.sessions_lost,
        out_of_order: replayed.out_of_order,
        not_sent: replayed.not_sent.iter().map(|(why, number)| (why.to_string(), *number)).collect(),
        late: lateness(&replayed.late),
    });
    let noted = |digest: &ReplayedDigest| {
        Some(NotedStatement { text: names.get(&digest.id)?.text.clone(), example: digest.example.clone()? })
    };
    Ok(Noted { statements: replayed.digests.iter().filter_map(noted).collect(), left_out: 0 })
}

fn lateness(late: &Latency) -> Option<LatenessRecord> {
    let max_us = late.exact()?.max_ns as f64 / 1e3;
    Some(LatenessRecord { p50_us: late.quantile_us(0.5)?, p99_us: late.quantile_us(0.99)?, max_us })
}

fn digest_record(digest: &ReplayedDigest, name: &DigestName) -> DigestRecord {
    let exact = digest.latency.exact.map(|exact| LatencyNs {
        min_ns: exact.min_ns,
        max_ns: exact.max_ns,
        sum_ns: exact.sum_ns,
    });
    DigestRecord {
        digest: name.hash.clone(),
        statement: name.text.clone(),
        kind: name.kind.clone(),
        statements: digest.statements,
        rows: digest.rows,
        rows_affected: digest.affected_rows,
        rows_examined: None,
        error_codes: digest.error_codes.clone(),
        answers: None,
        latency: LatencyRecord { histogram: digest.latency.to_bytes(), exact },
    }
}
