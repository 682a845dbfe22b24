//! Ladders of systems, chosen counters, and warm-ups that last until the rate is steady.

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;

use super::steps::UPDATES;
use crate::bench::Bench;

const MARIADB: &str = "mariadb@10.11/innodb";

const SQLITE: &str = r#"
[[system]]
id = "wal"
engine = "sqlite"
share_data = true
settings = { journal_mode = "WAL" }
[[system.ladder]]
id = "fast"
settings = { synchronous = "OFF" }
[[system.ladder]]
id = "commits"
settings = { synchronous = "FULL" }

[[system]]
id = "delete"
engine = "sqlite"
settings = { synchronous = "FULL" }

[[ladder]]
id = "journals"
systems = ["wal.commits", "delete"]
"#;

/// A plan of updates with these keys and systems. `base` is the id of the base.
fn plan(keys: &str, base: &str, systems: &str) -> String {
    format!(
        r#"name = "ladder"
title = "A ladder"
base = "{base}"
one_at_a_time = true
clients = [2]
{keys}

[data]
tables = 1
rows = 500
{systems}{UPDATES}"#
    )
}

fn run(text: &str) -> Bench {
    let bench = Bench::new();
    bench.write("plan.toml", text);
    bench.dyno(&["run", "plan.toml"]).with(0);
    bench
}

#[dyno_test]
fn a_ladder_ends_as_the_price_of_each_of_its_steps() {
    let bench = run(&plan("rounds = 3\nseconds = 0.2", "wal", SQLITE));
    assert_eq!(bench.value("SELECT id FROM system WHERE is_base"), Some("wal.fast".to_owned()));
    assert_eq!(
        bench.value("SELECT ladders ->> '$[1].systems[1]' FROM run"),
        Some("delete".to_owned()),
        "the plan's own ladder comes after that of the system"
    );
    let text = bench.dyno(&["report", "--full"]).stdout;
    for words in ["The price of each promise", "commits: synchronous ", "journals", "delete: journal_mode "] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let html = std::fs::read_to_string(bench.path("ladder-1.html")).unwrap();
    assert!(html.contains("id=\"ladders\"") && html.contains("The price of each promise"));
    let json: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    let rungs = json["ladders"][0]["rungs"].as_array().unwrap();
    assert_eq!((rungs.len(), &rungs[1]["changes"][0]["name"]), (2, &"synchronous".into()));
    let judged = &rungs[1]["tests"][0];
    assert!(judged["against_previous"]["ratio"].is_f64(), "{judged}");
    assert!(rungs[0]["tests"][0]["against_previous"].is_null(), "{}", rungs[0]);
}

#[dyno_test]
fn a_whole_trial_warms_up_until_its_rate_has_a_level() {
    let waits = run(&plan("rounds = 1\nseconds = 0.2\nwarmup_seconds_max = 60", "wal", SQLITE));
    let trials = "FROM trial WHERE step_id = 'update' AND outcome = 'completed'";
    assert_eq!(waits.value(&format!("SELECT count(*) {trials}")), Some(3));
    assert_eq!(
        waits.value(&format!("SELECT count(*) {trials} AND warmup_seconds NOT BETWEEN 5 AND 61")),
        Some(0),
        "a level takes five seconds to tell, and there is a limit"
    );
    let ticks = "SELECT count(*) FROM trial t WHERE step_id = 'update' AND abs(warmup_seconds - \
                 (SELECT sum(seconds) FROM sample WHERE trial_id = t.id AND phase = 'warmup')) < 0.001";
    assert_eq!(waits.value(ticks), Some(3));
    let plain = run(&plan("rounds = 1\nseconds = 0.2", "wal", SQLITE));
    assert_eq!(plain.value(&format!("SELECT count(warmup_seconds) {trials}")), Some(0));
}

#[dyno_test]
fn a_ladder_with_an_unknown_system_is_told_with_its_place() {
    let bench = Bench::new();
    let systems = SQLITE.replace("[\"wal.commits\"", "[\"wal.comits\"");
    bench.write("plan.toml", &plan("rounds = 1\nseconds = 1", "wal", &systems));
    let ended = bench.dyno(&["run", "plan.toml"]);
    assert_ne!(ended.status, Some(0));
    assert!(
        ended
            .stderr
            .contains("plan.toml:32:12: there is no system `wal.comits` — did you mean `wal.commits`?"),
        "{}",
        ended.stderr
    );
}

#[dyno_test(with_engine(MARIADB))]
fn a_ladder_of_servers_names_what_changed_and_shows_the_chosen_counters() {
    let systems = format!(
        "[[system]]\nid = 'innodb'\nengine = '{MARIADB}'\nshare_data = true\n\
         settings = {{ innodb_monitor_enable = 'module_buffer' }}\n\
         [[system.ladder]]\nid = 'fast'\nsettings = {{ log_bin = false, innodb_flush_log_at_trx_commit = 0 }}\n\
         [[system.ladder]]\nid = 'binlog'\nsettings = {{ log_bin = true, sync_binlog = 0 }}\n"
    );
    let keys = "rounds = 2\nseconds = 1\nprofile = 'stock'\n\
                counters = ['Binlog_commits', 'buffer_LRU_batch_flush_total_pages', 'Com_nothing']";
    let bench = run(&plan(keys, "innodb", &systems));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
    let json: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    let changes = json["ladders"][0]["rungs"][1]["changes"].as_array().unwrap();
    let binlog = changes.iter().find(|change| change["name"] == "log_bin").expect("the binlog changed");
    assert_eq!((&binlog["before"], &binlog["after"]), (&"OFF".into(), &"ON".into()), "{changes:?}");
    let counters = json["counters"].as_array().unwrap();
    let commits = &counters[0];
    assert_eq!(commits["name"], "global_status.Binlog_commits");
    let commits_of = |system: &str| -> f64 {
        let values = commits["values"].as_array().unwrap();
        let own = values.iter().find(|it| it["step"] == "update" && it["system"] == system).expect("a value");
        own["median"].as_f64().unwrap()
    };
    assert!(commits_of("innodb.fast") < 0.01 && commits_of("innodb.binlog") > 0.5, "{commits}");
    assert_eq!(counters[1]["name"], "innodb_metrics.buffer_LRU_batch_flush_total_pages");
    assert!(counters[2]["name"].is_null(), "{}", counters[2]);
    let text = bench.dyno(&["report", "--full"]).stdout;
    for words in ["binlog: log_bin OFF → ON", "No system has Com_nothing.", "MiB/s written"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
