//! Sweeps of settings, and systems that run one at a time.

use dyno_testing::dyno_test;

use super::steps::UPDATES;
use crate::bench::Bench;

const HEAD: &str = r#"name = "swept"
title = "A sweep"
base = "wal"
clients = [1, 2]
seconds = 0.1

[data]
tables = 1
rows = 200

[[system]]
id = "rollback"
engine = "sqlite"

[[system]]
id = "wal"
engine = "sqlite"
settings = { journal_mode = "WAL" }
"#;

const SWEEP: &str = "sweep = { synchronous = [\"FULL\", \"OFF\"], cache = { settings = [\"cache_size\"], levels = [-500, -4000] } }\n";

/// A folder with a plan that has `keys`, and a sweep whose keys are `of_sweep`.
fn bench_with(keys: &str, of_sweep: &str) -> Bench {
    let bench = Bench::new();
    bench.write("plan.toml", &format!("{keys}\n{HEAD}{SWEEP}{of_sweep}\n{UPDATES}"));
    bench
}

fn run(keys: &str, of_sweep: &str) -> Bench {
    let bench = bench_with(keys, of_sweep);
    bench.dyno(&["run", "plan.toml"]).with(0);
    bench
}

#[dyno_test]
fn a_sweep_is_a_row_for_each_configuration_and_what_each_setting_does() {
    let bench = run("rounds = 3\none_at_a_time = true", "");
    assert_eq!(bench.value("SELECT count(*) FROM system"), Some(5));
    assert_eq!(
        bench.value("SELECT id FROM system WHERE is_base"),
        Some("wal.synchronous-FULL.cache--500".to_owned())
    );
    assert_eq!(
        bench
            .value("SELECT configuration ->> '$.levels[1].level' FROM system ORDER BY position DESC LIMIT 1"),
        Some("-4000".to_owned())
    );
    assert_eq!(
        bench.value("SELECT count(*) FROM variable WHERE name = 'synchronous' AND value IN ('0', 'OFF')"),
        Some(2),
        "the servers had the settings"
    );
    let text = bench.dyno(&["report", "--full"]).stdout;
    for words in [
        "Configurations: operations per second",
        "synchronous OFF, cache -4000",
        "Sensitivity: what each setting does",
        "cache (against -500)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    let factors = json["sensitivity"][0]["factors"].as_array().unwrap();
    assert_eq!(factors.len(), 2, "{factors:?}");
    assert_eq!(factors[0]["levels"][0]["effects"].as_array().unwrap().len(), 2, "two numbers of clients");
    let html = std::fs::read_to_string(bench.path("swept-1.html")).unwrap();
    assert!(html.contains("id=\"sensitivity\"") && html.contains("id=\"configurations\""));
}

/// SQLite rejects a page size that is not a power of two, and keeps its default page size.
#[dyno_test]
fn a_setting_that_is_not_in_force_is_told_and_nothing_rests_on_it() {
    let plan = format!(
        "name = \"pages\"\ntitle = \"Pages\"\nbase = \"db.page_size-4096\"\nrounds = 3\nclients = [1]\nseconds = 0.1\n\
         [data]\ntables = 1\nrows = 200\n\
         [[system]]\nid = \"db\"\nengine = \"sqlite\"\nsweep = {{ page_size = [4096, 3000] }}\n{UPDATES}"
    );
    let bench = Bench::new();
    bench.write("plan.toml", &plan);
    let same = "db.page_size-3000 is the same system as db.page_size-4096";
    let lacking = "page_size = 3000 (the server has 4096)";
    let ended = bench.dyno(&["run", "plan.toml"]).with(0);
    let (told, first_round) = (ended.stderr.find(same), ended.stderr.find("round 2"));
    assert!(told.is_some_and(|told| first_round.is_none_or(|round| told < round)), "{}", ended.stderr);
    assert!(ended.stderr.contains(lacking), "{}", ended.stderr);

    let text =
        bench.dyno(&["report", "--full"]).with(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(same) && text.contains(lacking), "{text}");
    assert!(!text.contains("Sensitivity") && !text.contains("faster than"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    assert_eq!(json["not_in_force"][0]["settings"][0]["found"], "4096");
    assert_eq!(json["not_in_force"][0]["same_as"][0], "db.page_size-4096");
    assert_eq!(json["sensitivity"], serde_json::json!([]));
    let compared = bench.dyno(&["compare", "db.page_size-4096", "db.page_size-3000"]).with(3);
    assert!(
        compared.stdout.starts_with("Nothing to compare: the systems are the same"),
        "{}",
        compared.stdout
    );

    let strict = bench.dyno(&["run", "plan.toml", "--strict"]).with(1);
    assert!(strict.stderr.contains(same), "{}", strict.stderr);
}

#[dyno_test]
fn configurations_that_share_data_load_it_once() {
    for (keys, loads) in [("share_data = true", 2), ("share_data = false", 5)] {
        let bench = run("rounds = 1", keys);
        let loaded =
            bench.value("SELECT count(*) FROM trial WHERE step_id = 'load' AND outcome = 'completed'");
        assert_eq!(loaded, Some(loads), "{keys}");
        assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
        assert_eq!(bench.value("SELECT count(*) FROM trial WHERE step_id = 'update'"), Some(10));
        let text = bench.dyno(&["report", "--full"]).stdout;
        assert!(!text.contains("missing"), "{text}");
    }
}

#[dyno_test]
fn systems_that_run_one_at_a_time_are_up_alone() {
    let bench = run("rounds = 2\none_at_a_time = true", "");
    let changes = "SELECT count(*) FROM (SELECT round, system_id, lag(round) OVER places AS round_before, \
                   lag(system_id) OVER places AS system_before FROM trial WINDOW places AS (ORDER BY position)) \
                   WHERE (round, system_id) IS NOT (round_before, system_before)";
    assert_eq!(bench.value(changes), Some(10), "each goes through all its trials, in each round");
    let orders = "SELECT count(DISTINCT ids) FROM (SELECT group_concat(system_id) AS ids FROM \
                  (SELECT round, system_id, min(position) FROM trial GROUP BY round, system_id ORDER BY 3) GROUP BY round)";
    assert_eq!(bench.value(orders), Some(2), "rounds have orders of their own");
    assert_eq!(bench.value("SELECT count(*) FROM slice"), Some(0));
    let resumed = bench.dyno(&["run", "plan.toml", "--resume"]);
    assert!(resumed.stderr.contains("cannot resume"), "{}", resumed.stderr);
}

#[dyno_test]
fn a_sweep_that_the_budget_does_not_allow_is_told_before_it_begins() {
    let bench = bench_with("budget_seconds = 12", "");
    for arguments in [&["run", "plan.toml"][..], &["run", "plan.toml", "--dry-run"]] {
        let ended = bench.dyno(arguments);
        assert_ne!(ended.status, Some(0));
        let words = "with its sweeps the plan has 5 systems; six rounds of them take about ";
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
        assert!(ended.stderr.contains("and the budget is 12 s; `sweep_fraction = "), "{}", ended.stderr);
    }
    assert!(!bench.path("dyno.db").exists());
}

#[dyno_test]
fn slices_of_systems_that_run_one_at_a_time_are_a_mistake() {
    let bench = bench_with("rounds = 1\none_at_a_time = true\nslice_seconds = 0.1", "");
    let ended = bench.dyno(&["run", "plan.toml"]);
    assert_ne!(ended.status, Some(0));
    assert!(ended.stderr.contains("plan.toml:3:17: trials cannot be cut into slices"), "{}", ended.stderr);
}
