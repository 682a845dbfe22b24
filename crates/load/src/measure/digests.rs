//! What a replay records: sessions, and statements by their digest.

use std::collections::{BTreeMap, HashMap, HashSet};

use dyno_script::SqlFailure;
use dyno_traffic::{NotSent, ReplayStatement};

use crate::measure::answer::AnswerHash;
use crate::measure::latency::{LATENCY_US_MAX, Latency, LatencyNs};
use crate::measure::recorder::code_of;
use crate::protocol::replay::{PackedLatency, Replayed, ReplayedDigest};
use crate::statements::text::explainable;

/// Largest number of digests for which an example is sent. These are the digests that took the most time.
const EXAMPLES_MAX: usize = 50;
/// Length of the longest example that is sent, in bytes.
const EXAMPLE_BYTES_MAX: usize = 10_000;

/// A latency in µs is rounded to this number of leading bits. This gives three significant digits, as in a [`Latency`].
const BITS: u32 = 11;

/// The figures of a replay, or of a part of its sessions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplayFigures {
    pub(crate) sessions: u64,
    pub(crate) sessions_refused: u64,
    pub(crate) sessions_lost: u64,
    pub(crate) out_of_order: u64,
    pub(crate) late: Latency,
    /// Whether to keep an example statement of each digest.
    keeps_examples: bool,
    not_sent: BTreeMap<NotSent, u64>,
    digests: HashMap<i64, DigestFigures>,
}

#[derive(Clone, Debug, Default)]
struct DigestFigures {
    statements: u64,
    rows: u64,
    affected_rows: u64,
    error_codes: BTreeMap<String, u64>,
    answers: u64,
    latency: SparseLatency,
    example: Example,
}

/// The first statement of a digest, which is kept as an example.
#[derive(Clone, Debug, Default)]
enum Example {
    /// No statement of the digest has been executed yet.
    #[default]
    Missing,
    /// The statement's text; `None` if it is too long or servers cannot explain it.
    Of(Option<String>),
}

/// Latencies of one digest. Most digests have few statements, so only the latencies that occurred are stored. A
/// [`Latency`] for each digest would take 90 kB.
#[derive(Clone, Debug, Default)]
struct SparseLatency {
    /// Number of statements by their rounded latency in µs.
    bins: HashMap<u32, u64>,
    exact: LatencyNs,
}

/// What a statement returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Returned {
    pub(crate) rows: u64,
    pub(crate) affected_rows: u64,
    pub(crate) fields: u32,
    /// The hash of the statement's rows, if answers are to be compared.
    pub(crate) answer: AnswerHash,
}

impl ReplayFigures {
    pub(crate) fn new(keeps_examples: bool) -> Self {
        Self { keeps_examples, ..Self::default() }
    }

    /// Records a statement that was executed.
    pub(crate) fn executed(&mut self, statement: &ReplayStatement, returned: Returned, latency_ns: u64) {
        let digest = self.digests.entry(statement.digest_id).or_default();
        if self.keeps_examples && matches!(digest.example, Example::Missing) {
            digest.example = Example::of(statement);
        }
        let answer = returned.answer.of_statement(statement.id, returned.rows);
        digest.answers = digest.answers.wrapping_add(answer);
        digest.statements += 1;
        digest.rows += returned.rows;
        digest.affected_rows += returned.affected_rows;
        digest.latency.record_ns(latency_ns);
    }

    /// Records a statement that failed.
    pub(crate) fn failed(&mut self, digest_id: i64, failure: &SqlFailure) {
        let digest = self.digests.entry(digest_id).or_default();
        digest.statements += 1;
        *digest.error_codes.entry(code_of(failure)).or_default() += 1;
    }

    /// Records statements that were not sent.
    pub(crate) fn not_sent(&mut self, why: NotSent, statements: u64) {
        if statements > 0 {
            *self.not_sent.entry(why).or_default() += statements;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.sessions_refused += other.sessions_refused;
        self.sessions_lost += other.sessions_lost;
        self.out_of_order += other.out_of_order;
        self.late.merge(&other.late);
        other.not_sent.iter().for_each(|(why, statements)| self.not_sent(*why, *statements));
        for (id, from) in &other.digests {
            let into = self.digests.entry(*id).or_default();
            into.statements += from.statements;
            into.rows += from.rows;
            into.affected_rows += from.affected_rows;
            into.answers = into.answers.wrapping_add(from.answers);
            for (code, errors) in &from.error_codes {
                *into.error_codes.entry(code.clone()).or_default() += errors;
            }
            into.latency.merge(&from.latency);
            if matches!(into.example, Example::Missing) {
                into.example = from.example.clone();
            }
        }
    }

    /// The ids of the digests that took the most time, among those with an example.
    fn longest(&self) -> HashSet<i64> {
        let has_example = |(_, figures): &(&i64, &DigestFigures)| figures.example.text().is_some();
        let mut with: Vec<_> = self.digests.iter().filter(has_example).collect();
        with.sort_by_key(|(id, figures)| (std::cmp::Reverse(figures.latency.exact.sum_ns), **id));
        with.into_iter().take(EXAMPLES_MAX).map(|(id, _)| *id).collect()
    }

    /// The figures in the form in which they are sent.
    pub(crate) fn replayed(&self) -> Replayed {
        let longest = self.longest();
        let of_digest = |(id, figures): (&i64, &DigestFigures)| ReplayedDigest {
            id: *id,
            statements: figures.statements,
            rows: figures.rows,
            affected_rows: figures.affected_rows,
            error_codes: figures.error_codes.clone(),
            answers: figures.answers,
            latency: PackedLatency::of(&figures.latency.dense()),
            example: longest.contains(id).then(|| figures.example.text()).flatten(),
        };
        let mut digests: Vec<ReplayedDigest> = self.digests.iter().map(of_digest).collect();
        digests.sort_by_key(|digest| digest.id);
        Replayed {
            sessions: self.sessions,
            sessions_refused: self.sessions_refused,
            sessions_lost: self.sessions_lost,
            out_of_order: self.out_of_order,
            not_sent: self.not_sent.clone(),
            late: self.late.clone(),
            digests,
        }
    }
}

impl Example {
    fn of(statement: &ReplayStatement) -> Self {
        let text = statement.form.example().filter(|text| text.len() <= EXAMPLE_BYTES_MAX);
        Self::Of(text.and_then(|text| explainable(&text).map(str::to_owned)))
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Missing => None,
            Self::Of(text) => text.clone(),
        }
    }
}

impl SparseLatency {
    fn record_ns(&mut self, latency_ns: u64) {
        self.exact.merge(LatencyNs { min_ns: latency_ns, max_ns: latency_ns, sum_ns: latency_ns });
        let us = (latency_ns / 1000).clamp(1, LATENCY_US_MAX) as u32;
        let lost_bits = (u32::BITS - us.leading_zeros()).saturating_sub(BITS);
        *self.bins.entry((us >> lost_bits) << lost_bits).or_default() += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.exact.merge(other.exact);
        for (us, latencies) in &other.bins {
            *self.bins.entry(*us).or_default() += latencies;
        }
    }

    fn dense(&self) -> Latency {
        Latency::of_bins(self.bins.iter().map(|(us, latencies)| (u64::from(*us), *latencies)), self.exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_latencies_are_those_of_a_histogram() {
        let mut dense = Latency::default();
        let mut parts = [SparseLatency::default(), SparseLatency::default()];
        for at in 0..2000_u64 {
            let ns = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (20 + at % 40);
            dense.record_ns(ns);
            parts[(at % 2) as usize].record_ns(ns);
        }
        let [mut all, other] = parts;
        all.merge(&other);
        assert_eq!(all.dense(), dense);
        assert_eq!(SparseLatency::default().dense(), Latency::default());
    }

    #[test]
    fn figures_of_two_loops_are_one_replay() {
        let returned = Returned { rows: 2, fields: 1, ..Returned::default() };
        let statement = |id, digest_id| ReplayStatement {
            id,
            digest_id,
            offset_us: 0,
            database_id: None,
            form: dyno_traffic::Form::Text(Vec::new()),
        };
        let failure = SqlFailure { errno: 1213, ..SqlFailure::default() };
        let (mut one, mut other) = (ReplayFigures::default(), ReplayFigures::default());
        one.executed(&statement(1, 7), returned, 5000);
        other.executed(&statement(2, 7), returned, 9000);
        other.failed(7, &failure);
        other.executed(&statement(3, 3), Returned::default(), 1000);
        other.not_sent(NotSent::Server, 2);
        other.not_sent(NotSent::Redacted, 0);
        let (of_one, of_other) = (one.replayed().digests[0].answers, other.replayed().digests[1].answers);
        one.merge(&other);
        let replayed = one.replayed();
        let [first, second] = &replayed.digests[..] else { panic!("{replayed:?}") };
        assert_eq!((first.id, first.statements, first.rows), (3, 1, 0));
        assert_eq!((second.id, second.statements, second.rows), (7, 3, 4));
        assert_eq!(second.answers, of_one.wrapping_add(of_other));
        assert_eq!(second.error_codes, BTreeMap::from([("1213".to_owned(), 1)]));
        assert_eq!(second.latency.exact.map(|exact| (exact.min_ns, exact.max_ns)), Some((5000, 9000)));
        assert_eq!(replayed.not_sent, BTreeMap::from([(NotSent::Server, 2)]));
        let sent = serde_json::to_string(&replayed).unwrap();
        assert_eq!(serde_json::from_str::<Replayed>(&sent).unwrap(), replayed);
    }
}
