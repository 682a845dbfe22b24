//! The comparison that a run of a search makes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A comparison that a search requested. Two comparisons of one plan answer the same question if all their fields are
/// equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    pub question: SearchQuestion,
    /// The two systems; the first is the base.
    pub sides: [SearchSide; 2],
    /// The steps that are run, in the plan's order.
    pub steps: Vec<SearchStep>,
    /// Number of rounds. If the comparison ends once it is decided, the largest number.
    pub rounds: u32,
    /// FNV-1a (RFC 9923) of the scripts and other files that the plan names; without files, its offset basis.
    pub files_hash: u64,
}

/// The purpose of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "search", rename_all = "lowercase")]
pub enum SearchQuestion {
    /// `dyno bisect`: which version made a test slower.
    Bisection {
        /// The profile for the settings of both versions.
        profile: String,
        /// Number of comparisons that share the error probability.
        comparisons_max: usize,
        /// Smallest difference that matters, as a fraction: 0.02 is 2%.
        margin: f64,
        /// The number of this confirmation of the result, from 1, in rounds that the search has not used. 0 if it is no
        /// confirmation.
        confirmation: u32,
    },
    /// `dyno explain --prove`: which changes make the difference between two systems of a run.
    Proof {
        /// When that run started, in milliseconds since 1970 UTC. Unlike the run's number, this does not
        /// change when files are merged.
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
        /// The size of the search whose best candidate is confirmed; `None` before the confirmation.
        size: Option<SearchSize>,
    },
}

/// How many candidates a search begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSize {
    pub candidates: usize,
    pub seed: u64,
    /// Time that the user allows, in seconds; `None` without a limit.
    pub budget_seconds: Option<u64>,
}

/// One of the two systems that are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSide {
    /// A system of the plan, or a version.
    pub system: String,
    /// Identifies its server, because the same name may later refer to another one. It is the entry of the catalogue
    /// (with the checksum of a user's own archive), the digest of an image, or a fingerprint of a build's files. `None`
    /// in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Changed settings, with their values; null for the server's default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Option<String>>,
    /// Names of the limits on the host that it takes over from the other system.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Steps that it runs only if the other system of the plan does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
}

/// A step of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchStep {
    pub id: String,
    pub clients: Vec<u32>,
    /// Measured time of a system in a round.
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
    /// The record as JSON that was written as text and read back, which may round a number's last bit. Two records ask
    /// the same question if and only if these values are equal.
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
