//! The comparison that a run of a search makes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A comparison that a search requested. Two comparisons with the same plan answer the same question if all fields
/// of their records are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    pub question: SearchQuestion,
    /// The two systems; the first is the base.
    pub sides: [SearchSide; 2],
    /// The steps that are run, in the plan's order.
    pub steps: Vec<SearchStep>,
    /// Number of rounds. The maximum, if the comparison ends as soon as it is decided.
    pub rounds: u32,
    /// FNV-1a hash (RFC 9923) of the scripts and other files that the plan names. If there are no files, it is the
    /// offset basis of FNV-1a.
    pub files_hash: u64,
}

/// The purpose of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "search", rename_all = "lowercase")]
pub enum SearchQuestion {
    /// `dyno bisect`: which version made a test slower.
    Bisection {
        /// The profile that determines the settings of both versions.
        profile: String,
        /// Number of comparisons that share the error probability.
        comparisons_max: usize,
        /// Smallest difference that matters, as a fraction: 0.02 is 2%.
        margin: f64,
        /// The number of the confirmation, from 1, if this comparison confirms the result in rounds that the search
        /// has not used. Otherwise 0.
        confirmation: u32,
    },
    /// `dyno explain --prove`: which changes make the difference between two systems of a run.
    Proof {
        /// When the run to be explained started, in milliseconds since 1970 UTC. Unlike the run's number, this time
        /// does not change when files are merged.
        run_started_at_ms: i64,
        base: String,
        candidate: String,
        step: String,
        clients: u32,
    },
    /// `dyno tune`: which settings are better for some tests.
    Tuning {
        tests: Vec<String>,
        /// The stage of the search, from 0; `None` for the control and for comparisons after the search.
        stage: Option<u32>,
        /// The size of the search, for the comparison that confirms the search's best candidate and for later
        /// comparisons. `None` for earlier comparisons.
        size: Option<SearchSize>,
    },
}

/// The numbers that determine with which candidates a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSize {
    pub candidates: usize,
    pub seed: u64,
    /// Time that the user allows for the search, in seconds; `None` without a limit.
    pub budget_seconds: Option<u64>,
}

/// One of the two systems that are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSide {
    /// The name of a system of the plan, or a version.
    pub system: String,
    /// Identifies the system's server, because the same name may later refer to another server. It is the entry of
    /// the catalogue (with the checksum of a user's own archive), the digest of an image, or a fingerprint of a
    /// build's files. `None` in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Settings that were changed on this side, with their new values; null for the server's default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Option<String>>,
    /// Names of limits on the host, such as a limit of memory, that this side takes from the other system of the
    /// plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Steps for which this side follows the other system of the plan: it runs such a step only if the other system
    /// does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
}

/// A step of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchStep {
    pub id: String,
    pub clients: Vec<u32>,
    /// Measured time of a trial, in seconds.
    pub seconds: f64,
}

/// A comparison in a results file, with the plan that it was derived from.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSearch {
    pub plan_text: String,
    pub scale: f64,
    pub record: SearchRecord,
}

impl SearchRecord {
    /// Returns the record as a JSON value, after writing it as text and reading it back. This may change the last bit
    /// of a number. Two records ask the same question if and only if these values are equal.
    #[must_use]
    pub fn normal(&self) -> serde_json::Value {
        serde_json::from_str(&serde_json::json!(self).to_string()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_was_read_back_is_the_same_question() {
        let side = |system: &str| SearchSide { system: system.to_owned(), ..SearchSide::default() };
        let record = SearchRecord {
            question: SearchQuestion::Bisection {
                profile: "like-56".to_owned(),
                comparisons_max: 7,
                margin: 0.1 + 0.2,
                confirmation: 0,
            },
            sides: [side("a"), side("b")],
            steps: vec![SearchStep { id: "read".to_owned(), clients: vec![1], seconds: 1.0 / 3.0 }],
            rounds: 12,
            files_hash: u64::MAX,
        };
        let text = serde_json::json!(record).to_string();
        let read: SearchRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(read.normal(), record.normal());
        let other = SearchRecord { rounds: 13, ..record.clone() };
        assert_ne!(other.normal(), record.normal());
    }

    #[test]
    fn a_time_that_no_json_text_can_hold_is_no_panic() {
        let step = SearchStep { id: "read".to_owned(), clients: vec![1], seconds: f64::INFINITY };
        let side = SearchSide::default();
        let question = SearchQuestion::Tuning { tests: Vec::new(), stage: None, size: None };
        let record = SearchRecord {
            question,
            sides: [side.clone(), side],
            steps: vec![step],
            rounds: 1,
            files_hash: 0,
        };
        assert!(record.normal().is_object());
    }
}
