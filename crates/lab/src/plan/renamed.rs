//! Keys of earlier versions.

use toml::de::DeTable;

use super::error::Problem;
use super::table::Mistake;

/// A key of earlier versions. It is an error rather than an alias, because its meaning has changed.
struct Renamed {
    key: &'static str,
    now: &'static str,
    meaning: &'static str,
}

const RENAMED: [Renamed; 4] = [
    Renamed {
        key: "trials",
        now: "rounds",
        meaning: "a round starts every system anew and takes it through all steps",
    },
    Renamed {
        key: "trials_max",
        now: "rounds_max",
        meaning: "with `rounds = \"until-decided\"`, the rounds after which what is open stays open",
    },
    Renamed {
        key: "between_trials",
        now: "between_steps",
        meaning: "what is done to the systems between the steps of a round",
    },
    Renamed {
        key: "noise",
        now: "aa_control",
        meaning: "the base takes part a second time, as a control: what the two differ by is noise",
    },
];

/// An error for the first of them in a plan's file.
pub(super) fn refuse(plan: &DeTable<'_>) -> Result<(), Mistake> {
    let found =
        RENAMED.iter().filter_map(|renamed| Some((plan.get_key_value(renamed.key)?.0.span(), renamed)));
    match found.min_by_key(|(span, _)| span.start) {
        Some((span, &Renamed { key, now, meaning })) => Err((span, Problem::Renamed { key, now, meaning })),
        None => Ok(()),
    }
}
