//! `dyno tune` on real servers. A script makes the servers slower if a setting has a value, so that the
//! results do not depend on timing.

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::{Bench, finish, press_ctrl_c};

const MARIADB: &str = "mariadb@10.11";

/// A plan with a step at a fixed rate, which a quick statement reaches easily and a slow statement cannot reach.
fn plan(engine: &str, settings: &str, options: &str) -> String {
    format!(
        "name = 'planted'\ntitle = 'A planted setting'\nbase = 'it'\nrounds = 3\n\
         clients = [1]\nseconds = 0.4\nwarmup_seconds = 0.1\nrest_seconds_max = 0\n\
         [[system]]\nid = 'it'\nengine = '{engine}'\nsettings = {{ {settings} }}\n\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'slow_if.lua'\noperation = 'row'\n\
         [[step]]\nid = 'answer'\ngroup = 'reads'\nworkload = 'slow_if.lua'\noperation = 'transaction'\n\
         rate = 100\nspacing = 'constant'\n\
         options = {{ {options} }}\n"
    )
}

/// The options of the script for SQLite. SQLite has no statement that sleeps, so its client sleeps.
fn slow_if(condition: &str) -> String {
    format!("slow_if = \"{condition}\", slow_by = ''")
}

fn bench(plan: &str) -> Bench {
    let bench = Bench::new();
    bench.write("slow_if.lua", include_str!("slow_if.lua"));
    bench.write("plan.toml", plan);
    bench
}

fn json(bench: &Bench, arguments: &[&str]) -> Value {
    let tuned = bench.dyno(&[arguments, &["--format", "json"]].concat()).with(0);
    serde_json::from_str(&tuned.stdout).unwrap()
}

const TUNE: [&str; 8] = ["tune", "plan.toml", "--step", "answer", "--candidates", "4", "--rounds", "4"];

#[dyno_test]
fn a_planted_setting_of_sqlite_is_found_and_kept_through_a_stop() {
    // The cache of SQLite has 2000 KiB by default, and every value that is tried is larger.
    let is_small = "(SELECT cache_size FROM pragma_cache_size) >= -2000";
    let fail_if = "fail_if = \"(SELECT journal_mode FROM pragma_journal_mode) = 'wal'\"";
    let options = format!("{}, {fail_if}", slow_if(is_small));
    let bench = bench(&plan("sqlite", "synchronous = 'FULL'", &options));
    let stopped = bench.start_until(&TUNE, 3);
    press_ctrl_c(&stopped);
    let stopped = finish(stopped).with(130);
    assert!(
        stopped.stdout.contains("Nothing was found yet. The same command continues."),
        "{}",
        stopped.stdout
    );

    let tuned = json(&bench, &TUNE);
    assert_eq!(tuned["tuned"]["ending"], "better", "{tuned:#}");
    let recommendation = &tuned["recommendation"];
    let changed = recommendation["changed"].as_array().unwrap();
    assert!(changed.iter().any(|name| name == "cache_size"), "{tuned:#}");
    let size: i64 = recommendation["settings"]["cache_size"].as_str().unwrap().parse().unwrap();
    assert!(size < -2000, "{size}");
    assert_eq!(recommendation["settings"]["synchronous"], "FULL", "the plan's own settings stay");
    assert!(recommendation["effect"]["interval"]["low"].as_f64() > Some(1.02), "{recommendation}");
    assert_eq!(recommendation["promise"], "no acknowledged commit is lost");
    assert_eq!(recommendation["promise"], recommendation["promise_of_base"]);
    confirmed_in_rounds_of_their_own(&tuned);
    let refused =
        |it: &Value| it["refused"].as_str().is_some_and(|why| why.contains("it fails with these settings"));
    assert!(tuned["comparisons"].as_array().unwrap().iter().any(refused), "a value that fails is an answer");

    let runs = bench.count("run");
    let again = json(&bench, &TUNE);
    assert_eq!(again["recommendation"], tuned["recommendation"]);
    assert_eq!(bench.count("run"), runs, "a second start measures nothing again");
    let text = bench.dyno(&TUNE);
    assert!(text.stdout.contains("\n    [system.settings]\n"), "{}", text.stdout);
    assert!(text.stdout.contains(&format!("\n    cache_size = \"{size}\"\n")), "{}", text.stdout);
    pasted_settings_are_a_plan(&bench, size);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// The confirmed figures come from a run that no other comparison uses.
fn confirmed_in_rounds_of_their_own(tuned: &Value) {
    let comparisons = tuned["comparisons"].as_array().unwrap();
    let runs: Vec<i64> = comparisons.iter().filter_map(|it| it["run"].as_i64()).collect();
    let mut once = runs.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), runs.len(), "each comparison has a run of its own: {runs:?}");
    let recommended = &tuned["tuned"]["recommended"];
    let confirmed = comparisons.iter().filter(|it| it["probe"]["confirm"] == recommended["values"]);
    let effects: Vec<&Value> = confirmed.map(|it| &it["effect"]).collect();
    assert_eq!(effects, [&recommended["effect"]]);
}

fn pasted_settings_are_a_plan(bench: &Bench, size: i64) {
    let plan = plan("sqlite", "", "");
    let pasted = format!("[system.settings]\ncache_size = \"{size}\"\nsynchronous = \"FULL\"\n[[step]]");
    bench.write("pasted.toml", &plan.replacen("settings = {  }\n", "", 1).replacen("[[step]]", &pasted, 1));
    bench.dyno(&["run", "pasted.toml", "--rounds", "1", "--no-html", "--results", "pasted.db"]).with(0);
}

/// With a rollback journal, `synchronous = NORMAL` loses no acknowledged commit. With a WAL it may lose some,
/// although the script is faster with a WAL.
#[dyno_test]
fn settings_that_would_lower_a_promise_are_never_tried() {
    let is_no_wal = "(SELECT journal_mode FROM pragma_journal_mode) <> 'wal'";
    let settings = "synchronous = 'NORMAL', journal_mode = 'DELETE'";
    let bench = bench(&plan("sqlite", settings, &slow_if(is_no_wal)));
    let tuned = json(&bench, &["tune", "plan.toml", "--candidates", "6", "--rounds", "4"]);
    let is_wal = |it: &&Value| it["name"] == "journal_mode" && it["value"] == "WAL";
    let left_out = tuned["left_out"].as_array().unwrap();
    let reason = left_out.iter().find(is_wal).unwrap()["reason"].as_str().unwrap();
    assert!(reason.starts_with("would weaken durability: "), "{reason}");
    let modes = "SELECT count(*) FROM variable WHERE name = 'journal_mode' AND value = 'wal'";
    assert_eq!(bench.value(modes), Some(0), "no server ever had it");
    let levels = "SELECT count(*) FROM variable WHERE name = 'synchronous' AND value <> '1'";
    assert_eq!(bench.value(levels), Some(0));
}

#[dyno_test]
fn where_nothing_is_better_that_is_the_answer() {
    // The step reaches its rate with every value of every setting, so no value is better.
    let bench = bench(&plan("sqlite", "", ""));
    let tuned = bench.dyno(&TUNE).with(0);
    assert!(tuned.stdout.contains("No settings better than the base were found."), "{}", tuned.stdout);
    assert!(!tuned.stdout.contains("[system.settings]"), "{}", tuned.stdout);
}

#[dyno_test]
fn what_is_not_there_and_a_budget_that_is_too_short_are_told() {
    let bench = bench(&plan("sqlite", "", ""));
    for (arguments, status, words) in [
        (&["tune", "plan.toml", "--step", "anser"][..], 2, "there is no step `anser`"),
        (&["tune", "plan.toml", "--step", "reads"], 2, "`reads` is a group of steps; name one step"),
        (&["tune", "plan.toml", "--group", "writes"], 2, "there is no group `writes`"),
        (&["tune", "plan.toml", "--system", "other"], 1, "has no system other; it has: it"),
        (
            &["tune", "plan.toml", "--budget", "2s"],
            1,
            "error: the budget of 2s is too short: comparing 4 candidates once",
        ),
        (&["tune", "plan.toml", "--step", "answer", "--group", "reads"], 2, "cannot be used with"),
    ] {
        let ended = bench.dyno(arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
        assert!(!bench.path("dyno.db").exists(), "{arguments:?}: nothing was loaded");
    }
}

#[dyno_test(with_engine(MARIADB))]
fn a_planted_setting_of_mariadb_is_found() {
    // The size of the buffer pool is tried first, and every value that is tried is larger than the plan's.
    let options = "slow_if = '@@innodb_buffer_pool_size < 80000000'";
    let bench = bench(&plan(MARIADB, "innodb_buffer_pool_size = '64M'", options));
    let tuned = json(&bench, &["tune", "plan.toml", "--candidates", "1", "--rounds", "4"]);
    assert_eq!(tuned["tuned"]["ending"], "better", "{tuned:#}");
    let recommendation = &tuned["recommendation"];
    assert_eq!(recommendation["changed"], serde_json::json!(["innodb_buffer_pool_size"]), "{tuned:#}");
    assert_ne!(recommendation["settings"]["innodb_buffer_pool_size"], "64M");
    assert_eq!(recommendation["promise"], "no acknowledged commit is lost");
    assert!(bench.processes().is_empty() && bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}
