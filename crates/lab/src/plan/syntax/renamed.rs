//! Names of keys in earlier versions of Dyno.

use crate::plan::syntax::error::Problem;

/// A key that earlier versions of Dyno had. Its use is an error. The old name is not an alias of the new one, because
/// most of these keys have changed their meaning, and because a plan should have one name for each thing.
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

/// Returns the error for a key that a table does not have. If the key is one of an earlier version and was renamed, and
/// the table has the key with the new name, the error suggests the new name.
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
