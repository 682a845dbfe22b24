//! `dyno cost`: prices of systems, and the cheapest for a load.

use dyno_testing::dyno_test;

use crate::bench::Bench;

const LIST: &str = r#"name = "ours"
currency = "USD"
date = "2026-11-01"
source = "our vendor"

[[instance]]
name = "small"
kind = "box"
cpus = 1000
memory = "8G"
dollars_per_year = 100

[[instance]]
name = "large"
kind = "box"
cpus = 2000
memory = "64G"
dollars_per_year = 900
"#;

/// The same system at two prices, so the verdict on which is cheaper does not depend on speed.
const PLAN: &str = r#"name = "priced"
title = "Prices"
base = "dear"
rounds = 6
clients = [1]
seconds = 0.1
slice_seconds = 0.03

[data]
tables = 1
rows = 50

[[system]]
id = "dear"
engine = "sqlite"
price = { list = "ours.toml", instance = "large" }

[[system]]
id = "cheap"
engine = "sqlite"
price = { list = "ours.toml", instance = "box" }

[[step]]
id = "load"
group = "load"
command = "prepare"
workload = "oltp_point_select"
operation = "row"

[[step]]
id = "point-query"
group = "reads"
workload = "oltp_point_select"
operation = "query"
"#;

fn run(plan: &str) -> Bench {
    let bench = Bench::new();
    bench.write("ours.toml", LIST);
    bench.write("plan.toml", plan);
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    bench
}

#[dyno_test]
fn the_cheapest_system_for_a_load_is_told_first() {
    let bench = run(PLAN);
    let kept = "SELECT group_concat(price ->> '$.instance.name', ' ') FROM (SELECT price FROM system ORDER BY position)";
    assert_eq!(bench.value(kept), Some("large small".to_owned()));
    let found = bench.dyno(&["cost", "--tps", "1"]).with(0);
    let first = "The cheapest that gives 1.00 operations a second in point-query is cheap: $100 a year as small \
                 (other hardware than was measured, see below), ";
    let text = found.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with(first), "{text}");
    for words in ["measured (cheap): 1000 CPUs (small) against ", "Prices of ours, 2026-11-01: our vendor."] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let none = bench.dyno(&["cost", "--tps", "1e12", "--p99-ms", "1"]).with(1);
    assert!(none.stdout.starts_with("No system that was measured and has a price gives "), "{}", none.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["cost", "--tps", "1", "--format", "json"]).stdout).unwrap();
    let candidates = json["candidates"].as_array().unwrap();
    let ids: Vec<&str> = candidates.iter().map(|it| it["system"].as_str().unwrap()).collect();
    assert_eq!(ids, ["cheap", "dear"]);
    assert_eq!(
        (&json["cheapest"]["system"], &candidates[1]["dollars_per_year"]),
        (&"cheap".into(), &900.0.into())
    );
    let report = bench.dyno(&["report", "--full"]).stdout;
    for words in ["Price: which systems are worth it", "Prices of ours, 2026-11-01: our vendor.", "$900"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(bench.dyno(&["report", "--format", "html", "--out", "-"]).stdout.contains("id=\"frontier\""));
}

/// The plan without its prices.
fn without_prices() -> String {
    PLAN.split_inclusive('\n').filter(|line| !line.starts_with("price")).collect()
}

#[dyno_test]
fn a_list_prices_a_run_whose_plan_has_none() {
    let bench = run(&without_prices());
    let unpriced = bench.dyno(&["cost", "--tps", "1"]).with(2);
    let expected = "error: run 1 has no prices; name a list with --prices, or give its plan's systems a `price` (docs/do/cost.md)\n";
    assert_eq!(unpriced.stderr, expected);
    for (instance, dollars) in [("large", "$900 a year"), ("box", "$100 a year")] {
        let found =
            bench.dyno(&["cost", "--tps", "1", "--prices", "ours.toml", "--instance", instance]).with(0);
        assert!(found.stdout.contains(dollars), "{}", found.stdout);
    }
}

#[dyno_test]
fn cpus_that_were_not_measured_have_a_bound() {
    let bench = run(PLAN);
    let found = bench.dyno(&["cost", "--tps", "1e12", "--cpus", "1500", "--prices", "ours.toml"]).with(1);
    for words in [
        "dear with 1500 CPUs at 1 client: only a bound by CPUs: its systems do not differ in CPUs alone",
        "≤ ",
        "$900",
    ] {
        assert!(found.stdout.contains(words), "{words}: {}", found.stdout);
    }
}

#[dyno_test]
fn what_cannot_be_answered_says_what_to_do() {
    let second = "\n[[step]]\nid = \"again\"\ngroup = \"reads\"\nworkload = \"oltp_point_select\"\noperation = \"query\"\n";
    let bench = run(&format!("{}{second}", PLAN.replace("rounds = 6", "rounds = 1")));
    for (arguments, expected) in [
        (&["--tps", "1"][..], "error: run 1 has several tests; choose one with --test: point-query, again\n"),
        (&["--tps", "1", "--test", "load"], "error: run 1 has no test load; it has point-query, again\n"),
        (
            &["--tps", "1", "--test", "again", "--clients", "7"],
            "error: run 1 has not measured again at 7 clients, but at 1\n",
        ),
    ] {
        let ended = bench.dyno(&[&["cost"], arguments].concat());
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(2), expected));
    }
    let once = bench.dyno(&["cost", "--tps", "1", "--test", "again"]);
    assert_eq!(once.status, Some(3), "one round decides nothing");
    assert!(once.stdout.contains("Not decided: cheap, dear."), "{}", once.stdout);
}

#[dyno_test]
fn a_mistake_in_a_price_list_has_its_place() {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    bench.write("ours.toml", &LIST.replace("\"USD\"", "\"EUR\""));
    let ended = bench.dyno(&["run", "plan.toml"]).with(2);
    assert!(
        ended.stderr.starts_with("error: ours.toml:2:12: prices are compared in USD, not in EUR;"),
        "{}",
        ended.stderr
    );
}
