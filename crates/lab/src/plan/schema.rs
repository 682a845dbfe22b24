//! Tests that `docs/plan.schema.json` agrees with the reader of plans.

use std::path::Path;

use dyno_engine::Catalogue;
use jsonschema::Validator;
use serde_json::Value;

use super::testing::TEXT;
use super::{Plan, builtin_plans};

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/plan.schema.json")).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

#[test]
fn every_built_in_plan_and_the_one_in_the_documentation_fit() {
    let (validator, catalogue) = (validator(), Catalogue::builtin());
    let documented = include_str!("../../../../docs/plans.md");
    let documented = documented.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    Plan::parse(documented, "docs/plans.md", Path::new(""), &catalogue).unwrap();
    let plans = builtin_plans().iter().map(|builtin| builtin.plan(&catalogue).text);
    for text in plans.chain([documented.to_owned()]) {
        let errors: Vec<_> = validator.iter_errors(&json(&text)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn what_the_reader_refuses_the_schema_refuses_too() {
    let validator = validator();
    assert!(validator.is_valid(&json(TEXT)));
    for (old, new) in [
        ("rounds = 4", "rounds = 0"),
        ("rounds = 4", "rounds = \"four\""),
        ("rounds = 4", "ronds = 4"),
        ("rounds = 4", ""),
        ("rounds = 4", "trials = 4"),
        ("rounds = 4", "rounds = 4\ntrials_max = 9"),
        ("rounds = 4", "rounds = 4\nbetween_trials = \"keep\""),
        ("rounds = 4", "rounds = 4\nnoise = true"),
        ("rounds = 4", "rounds = 4\nbudget_seconds = 9"),
        ("rounds = 4", "rounds = 4\nrounds_max = 9"),
        ("rounds = 4", "budget_seconds = 9\nrounds_max = 9"),
        ("rounds = 4", "rounds = \"until-decided\"\nrounds_max = 5"),
        ("rounds = 4", "budget_seconds = 0"),
        ("rounds = 4", "rounds = 4\nload = \"always\""),
        ("rounds = 4", "rounds = 4\nwarm = 1"),
        ("rounds = 4", "rounds = 4\nbetween_steps = \"reload\""),
        ("rounds = 4", "rounds = 4\nsettle_seconds_max = -1"),
        ("rounds = 4", "rounds = 4\nslice_seconds = 0.01"),
        ("rounds = 4", "rounds = 4\nslice_seconds = 61"),
        ("rounds = 4", "rounds = 4\nslice_seconds = \"half\""),
        ("\"transaction\"", "\"transaction\"\nslice_seconds = \"whole\"\nrate = 9"),
        ("command = \"prepare\"", "command = \"prepare\"\nslice_seconds = 1"),
        ("clients = [1, 4]", "clients = [1, 1]"),
        ("seconds = 2", "seconds = 0"),
        ("rows = 100", "row = 100"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nbasedir = \"/opt\""),
        ("\"transaction\"", "\"trx\""),
        ("[[step]]\nid = \"read-write\"", "[[step]]\nbefor = \"true\"\nid = \"read-write\""),
    ] {
        let text = TEXT.replacen(old, new, 1);
        assert!(super::testing::parse(&text).is_err(), "{new}");
        assert!(!validator.is_valid(&json(&text)), "{new}");
    }
}

#[test]
fn what_the_reader_takes_the_schema_takes_too() {
    let validator = validator();
    for (old, new) in [
        ("rounds = 4", "budget_seconds = 0.5"),
        ("rounds = 4", "rounds = \"until-decided\""),
        ("rounds = 4", "rounds = \"until-decided\"\nrounds_max = 6"),
        ("rounds = 4", "rounds = 4\nload = \"every-round\"\nwarm = true\nbetween_steps = \"restart\""),
        ("rounds = 4", "rounds = 4\nload = \"once\"\nwarm = false\nbetween_steps = \"restore\""),
        ("rounds = 4", "rounds = 4\naa_control = true\nrerun_disturbed = 2"),
        ("rounds = 4", "rounds = 4\nsettle_seconds_max = 0\nslice_seconds = 60"),
        ("rounds = 4", "rounds = 4\nsettle_seconds_max = 1.5\nslice_seconds = \"auto\""),
        (
            "\"transaction\"",
            "\"transaction\"\nslice_seconds = 0.02\nbefore = \"true\"\nsettle_seconds_max = 1",
        ),
        ("\"transaction\"", "\"transaction\"\nslice_seconds = \"whole\"\ncommand = \"run\""),
    ] {
        let text = TEXT.replacen(old, new, 1);
        assert!(super::testing::parse(&text).is_ok(), "{new}");
        assert!(validator.is_valid(&json(&text)), "{new}");
    }
}

/// Both must know the same keys.
#[test]
fn the_schema_has_the_keys_that_the_reader_names() {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/plan.schema.json")).unwrap();
    let keys = |table: &Value| -> Vec<String> {
        let mut keys: Vec<String> = table["properties"].as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let sorted = |known: &[&str]| {
        let mut known: Vec<String> = known.iter().map(ToString::to_string).collect();
        known.sort();
        known
    };
    assert_eq!(keys(&schema), sorted(&super::read::KEYS));
    assert_eq!(keys(&schema["$defs"]["system"]), sorted(&super::system::KEYS));
    assert_eq!(keys(&schema["$defs"]["step"]), sorted(&super::step::KEYS));
    assert_eq!(keys(&schema["$defs"]["confinement"]), sorted(&super::confinement::KEYS));
}
