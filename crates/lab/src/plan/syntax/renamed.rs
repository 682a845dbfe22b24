//! Keys of earlier versions.

use crate::plan::syntax::error::Problem;

/// A key of earlier versions. It is an error rather than an alias, because most of these keys have changed their
/// meaning, and because a plan should have one name for each thing.
struct Renamed {
    key: &'static str,
    now: &'static str,
    meaning: &'static str,
}

const RENAMED: [Renamed; 5] = [
    Renamed {
        key: "trials",
        now: "rounds",
        meaning: "a round starts every system anew and takes it through all steps",
    },
    Renamed {
        key: "trials_max",
        now: "rounds_max",
        meaning: "with `rounds = \"until-decided\"`, the largest number of rounds",
    },
    Renamed {
        key: "between_trials",
        now: "between_steps",
        meaning: "what is done to the systems between the steps of a round",
    },
    Renamed {
        key: "noise",
        now: "aa_control",
        meaning: "the base is measured a second time, as a control: the difference between the two is noise",
    },
    Renamed {
        key: "settle_seconds_max",
        now: "warmup_seconds_max",
        meaning: "the longest warm-up while the rate still rises or falls",
    },
];

/// The error for a key that a table does not have. If the key was renamed, and the table has the new name, the error
/// suggests it.
pub(in crate::plan) fn unknown_key(key: &str, known: &[&'static str]) -> Problem {
    match RENAMED.iter().find(|renamed| renamed.key == key && known.contains(&renamed.now)) {
        Some(Renamed { key, now, meaning }) => {
            Problem::Other(format!("`{key}` is now `{now}`: {meaning}; see docs/do/plans.md"))
        }
        None => Problem::UnknownKey {
            key: key.to_owned(),
            known: known.iter().map(ToString::to_string).collect(),
        },
    }
}
