//! `dyno engine settings`: shows the settings of a system, and the differences between two systems.

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::Bench;

const WIDTH: usize = 100;

fn shown(arguments: &[&str]) -> String {
    let bench = Bench::new();
    let ended = bench.dyno(&[&["engine", "settings"], arguments].concat()).with(0);
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
    for line in ended.stdout.lines().filter(|_| !arguments.contains(&"json")) {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
    ended.stdout
}

/// The words of the line that begins with a variable's name.
fn line<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.find(|words| words.first() == Some(&name)).unwrap_or_default()
}

#[dyno_test]
fn a_system_is_compared_under_two_profiles() {
    let text = shown(&["sqlite", "--profile", "safe", "--profile", "stock"]);
    assert_eq!(line(&text, "journal_mode"), ["journal_mode", "wal", "*", "delete"]);
    assert_eq!(line(&text, "synchronous"), [""; 0], "both sync fully");
    assert!(text.starts_with("a: sqlite@3 safe\nb: sqlite@3 stock\n"), "{text}");
}

#[dyno_test]
fn one_system_is_shown() {
    let text = shown(&["sqlite", "--profile", "like-56"]);
    assert_eq!(line(&text, "cache_size"), ["cache_size", "-65536", "*"]);
    assert!(text.contains("others, which --all shows"), "{text}");
    assert_eq!(line(&text, "cache_spill"), [""; 0]);
    assert!(!line(&shown(&["sqlite", "--all"]), "cache_spill").is_empty());
    let json: Value = serde_json::from_str(&shown(&["sqlite", "--format", "json"])).unwrap();
    assert_eq!(json["product"]["family"], "sqlite");
    assert_eq!(json["variables"]["journal_mode"]["value"], "delete");
}

#[dyno_test]
fn mistakes_are_told_as_wrong_usage() {
    let bench = Bench::new();
    bench.write("mine.toml", "name = 'x'\ntitle = 'y'\n[sqlite]\njurnal_mode = 'WAL'\n");
    for (arguments, words) in [
        (vec!["sqlite", "--profile", "like56"], "did you mean `like-56`?"),
        (vec!["sqlite", "--profile", "mine.toml"], "mine.toml:4:1: [sqlite] has no setting `jurnal_mode`"),
        (vec!["sqlit"], "did you mean 'sqlite'?"),
    ] {
        let ended = bench.dyno(&[&["engine", "settings"], arguments.as_slice()].concat()).with(2);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[dyno_test(with_engine("mysql@5.6.24"))]
fn two_servers_differ() {
    let text = shown(&["mysql@5.6.24", "postgres"]);
    assert_eq!(line(&text, "fsync"), ["fsync", "-", "on"]);
    let text = shown(&["mysql@5.6.24", "mariadb@10.11"]);
    assert_eq!(line(&text, "eq_range_index_dive_limit"), ["eq_range_index_dive_limit", "10", "200"]);
    assert!(text.find("\ndurability").unwrap() < text.find("\ncomparability").unwrap());
    assert!(!text.contains("timed_mutexes"));
    let all = shown(&["mysql@5.6.24", "mariadb@10.11", "--all"]);
    assert_eq!(line(&all, "timed_mutexes"), ["timed_mutexes", "OFF", "-"]);
}

#[dyno_test(with_engine("mariadb@10.11"))]
fn a_profile_makes_servers_alike() {
    let arguments = ["mysql@5.6.24", "mariadb@10.11", "--profile", "like-56", "--format", "json"];
    let json: Value = serde_json::from_str(&shown(&arguments)).unwrap();
    assert_eq!(json["b"]["left_out"][0]["name"], "innodb_buffer_pool_instances");
    let differences = json["differences"].as_array().unwrap();
    let names: Vec<&str> = differences.iter().filter_map(|difference| difference["name"].as_str()).collect();
    for pinned in ["eq_range_index_dive_limit", "innodb_checksum_algorithm", "performance_schema", "sql_mode"]
    {
        assert!(!names.contains(&pinned), "{pinned}");
    }
    assert!(names.contains(&"optimizer_switch"));
}
