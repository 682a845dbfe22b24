//! Reports for programs.

use dyno_printable::printable_json;
use serde::Serialize;

/// JSON, indented, that is safe to print to a terminal.
///
/// # Panics
/// A map has keys that are not text.
pub fn text(value: &(impl Serialize + ?Sized)) -> String {
    let text = serde_json::to_string_pretty(value).expect("every key is text");
    printable_json(&text).into_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use crate::sample::{self, reports};
    use crate::{Report as _, Reports};

    fn value(reports: &Reports) -> Value {
        serde_json::from_str(&reports.json()).unwrap()
    }

    fn eventful() -> Value {
        value(&reports(&sample::eventful_run()))
    }

    /// Collects every key, except the keys within the host's facts.
    fn keys(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    into.insert(key.clone());
                    if key != "host" {
                        keys(value, into);
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
            _ => {}
        }
    }

    #[test]
    fn every_key_is_documented_and_every_documented_key_is_there() {
        let document = include_str!("../../../../docs/reference/report-json.md");
        let documented: BTreeSet<String> = document
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("- `")?.split_once("`:"))
            .flat_map(|(keys, _)| keys.split("`, `"))
            .map(str::to_owned)
            .collect();
        let mut found = BTreeSet::new();
        keys(&eventful(), &mut found);
        let runs = vec![
            sample::run(1),
            sample::swept_run(),
            sample::hardware_run(),
            sample::joined_run(),
            sample::disrupted_run(),
            sample::replicated_run(),
            sample::laddered_run(),
            sample::searched_run(),
            sample::crashed_run(),
            sample::driven_run(),
            sample::spread_run(),
            sample::queried_run(),
            sample::replayed_run(),
            sample::same_run(),
        ];
        for run in runs {
            keys(&value(&reports(&run)), &mut found);
        }
        let why = |proof| crate::Why::of(&sample::planned(), proof);
        let why = vec![
            why(crate::ProofState::of(&sample::proof())),
            why(crate::ProofState::NotMade { command: "dyno explain --prove".to_owned() }),
            why(crate::ProofState::Impossible { reason: "two engines".to_owned() }),
        ];
        let explained = Reports { why, ..reports(&sample::run(1)) };
        keys(&value(&explained), &mut found);
        assert_eq!(found, documented);
    }

    #[test]
    fn a_cell_says_its_place_its_state_and_its_rounds() {
        let json = eventful();
        let cell = &json["absolute"][1]["cells"][4];
        assert_eq!(
            (&cell["system"], &cell["clients"], &cell["state"]),
            (&"maria".into(), &4.into(), &"measured".into())
        );
        assert_eq!(cell["rounds"].as_array().unwrap().len(), 12);
        assert_eq!(json["absolute"][3]["cells"][1]["state"], "failed");
        assert_eq!(json["absolute"][3]["cells"][1]["footnote"], 1);
    }

    #[test]
    fn what_was_not_measured_is_null() {
        let costs = &eventful()["efficiency"][1]["cells"][1];
        assert!(costs["client_cpu_us_per_operation"].is_null());
        assert!(costs["server_cpu_us_per_operation"]["median"].is_number());
    }
}
