//! Capacities in the reports.

use dyno_judge::Capacity;
use serde::Serialize;

/// The searches of a system in a test, and their result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestCapacity {
    pub step: String,
    pub clients: u32,
    pub system: String,
    /// The limit in words: `p99 ≤ 5 ms`.
    pub limit: String,
    /// The percentile that the limit applies to: 99 for p99.
    #[serde(skip)]
    pub percentile: u32,
    /// The search ends when its interval is at most this wide, relative to the rate.
    pub within: f64,
    /// Each completed round, in order.
    pub rounds: Vec<RoundCapacity>,
}

/// What the search of a round found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundCapacity {
    /// The round's number, from 0.
    pub round: u32,
    #[serde(flatten)]
    pub capacity: Capacity,
}

impl TestCapacity {
    /// The round with the median capacity. If two rounds are in the middle, the lower capacity counts.
    pub fn middle_round(&self) -> Option<&RoundCapacity> {
        let mut rounds: Vec<&RoundCapacity> = self.rounds.iter().collect();
        rounds.sort_by(|a, b| a.capacity.per_second.total_cmp(&b.capacity.per_second));
        rounds.get(rounds.len().saturating_sub(1) / 2).copied()
    }
}
