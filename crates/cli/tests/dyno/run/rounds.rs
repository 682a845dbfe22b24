//! Rounds, instances and slices in the results file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dyno_engine::testing::{installation, with_engine};
use dyno_testing::dyno_test;
use rusqlite::Connection;
use serde_json::Value;

use crate::bench::{Bench, Ended, sqlite_plan, unwrapped};

const MARIADB: &str = "mariadb@10.11/innodb";
const MYROCKS: &str = "mariadb@10.11/rocksdb";
const MYSQL_56: &str = "mysql@5.6.24";

#[dyno_test]
fn loads_connect_at_the_same_time_and_one_that_fails_stops_no_other() {
    let bench = Bench::new();
    bench.write("connecting.lua", include_str!("scripts/connecting.lua"));
    bench.let_all_write();
    let step = |id: &str, options: &str| {
        format!(
            "[[step]]\nid = '{id}'\ngroup = 'all'\nworkload = './connecting.lua'\noperation = 'query'\n\
             options = {{ {options} }}\n"
        )
    };
    let plan = format!(
        "name = 'connecting'\ntitle = 'Connecting'\nbase = 'delete'\nrounds = 1\nclients = [1]\nseconds = 0.3\n\
         slice_seconds = 0.05\n\
         [[system]]\nid = 'delete'\nengine = 'sqlite'\nsettings = {{ journal_mode = 'DELETE' }}\n\
         [[system]]\nid = 'wal'\nengine = 'sqlite'\nsettings = {{ journal_mode = 'WAL' }}\n{}{}",
        step("together", ""),
        step("one-fails", "fails = 'wal'"),
    );
    bench.write("plan.toml", &plan);
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(1);
    let of = |step: &str, system: &str| {
        let sql = format!(
            "SELECT outcome || ': ' || coalesce(message, (SELECT count(*) > 1 FROM slice WHERE trial_id = trial.id))
             FROM trial WHERE step_id = '{step}' AND system_id = '{system}'"
        );
        bench.value::<String>(&sql).unwrap()
    };
    assert_eq!([of("together", "delete"), of("together", "wal")], ["completed: 1", "completed: 1"]);
    assert_eq!(of("one-fails", "delete"), "completed: 1");
    assert!(of("one-fails", "wal").contains("no connection to wal"), "{}", of("one-fails", "wal"));
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// A plan with two SQLite systems that run a script in whole trials. Each pair in `steps` is a step's id and its
/// kind.
fn turning_plan(keys: &str, steps: &[(&str, &str)]) -> String {
    let step = |(id, kind): &(&str, &str)| {
        format!(
            "[[step]]\nid = '{id}'\ngroup = 'all'\nworkload = './turning.lua'\noperation = 'query'\n\
             options = {{ kind = '{kind}' }}\n"
        )
    };
    let steps: String = steps.iter().map(step).collect();
    format!(
        "name = 'turning'\ntitle = 'Turning'\nbase = 'delete'\nclients = [1]\nseconds = 0.2\n\
         slice_seconds = 'whole'\n{keys}\n[data]\ntables = 1\nrows = 10\n\
         [[system]]\nid = 'delete'\nengine = 'sqlite'\nsettings = {{ journal_mode = 'DELETE' }}\n\
         [[system]]\nid = 'wal'\nengine = 'sqlite'\nsettings = {{ journal_mode = 'WAL' }}\n\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         {steps}"
    )
}

fn bench_of_turning(keys: &str, steps: &[(&str, &str)]) -> Bench {
    let bench = Bench::new();
    bench.write("turning.lua", include_str!("scripts/turning.lua"));
    bench.let_all_write();
    bench.write("plan.toml", &turning_plan(keys, steps));
    bench
}

#[dyno_test]
fn a_decided_test_is_left_and_keeps_its_verdict() {
    // With at most 12 rounds, tests are judged after 7, 9 and 12 rounds.
    let keys = "rounds = 'until-decided'\nrounds_max = 12";
    let steps = [("before", "slower"), ("open", "turning"), ("after", "slower")];
    let bench = bench_of_turning(keys, &steps);
    let run = bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    assert!(run.stderr.contains("1 of 3 tests is decided or out of reach"), "{}", run.stderr);
    let rounds = |step: &str| {
        bench.value::<u32>(&format!("SELECT count(DISTINCT round) FROM trial WHERE step_id = '{step}'"))
    };
    // A script may change data for later steps. Therefore a step before an undecided test is measured in as many rounds
    // as that test, even if the step's own test is decided.
    assert_eq!([rounds("before"), rounds("open")], [Some(12), Some(12)]);
    let of_after = rounds("after").unwrap();
    assert!([7, 9].contains(&of_after), "{of_after}");
    let left =
        "SELECT (left_tests -> '$[0]' ->> 'step') || ' ' || (left_tests -> '$[0]' ->> 'last_round') FROM run";
    assert_eq!(bench.value(left), Some(format!("after {}", of_after - 1)));

    let report: Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).with(0).stdout).unwrap();
    assert_eq!(report["replication"]["left_tests"], 1);
    let compared: Value =
        serde_json::from_str(&bench.dyno(&["compare", "--format", "json"]).with(1).stdout).unwrap();
    let tests = compared["comparisons"][0]["tests"].as_array().unwrap();
    let finding = |step: &str| {
        let test = tests.iter().find(|test| test["step"] == step).unwrap();
        (test["finding"].as_str().unwrap().to_owned(), test["rounds"].as_array().unwrap().len())
    };
    assert_eq!(finding("after"), ("regressed".to_owned(), of_after as usize));
    assert_eq!(finding("before"), ("regressed".to_owned(), 12));
    assert_eq!(finding("open"), ("not_enough_evidence".to_owned(), 12));

    let all = bench_of_turning(&format!("{keys}\nleave_decided = false"), &steps);
    all.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    assert_eq!(all.value("SELECT count(DISTINCT round) FROM trial WHERE step_id = 'after'"), Some(12));
}

#[dyno_test]
fn loads_are_made_anew_after_some_rounds_and_their_variance_is_shown() {
    let bench = bench_of_turning("rounds = 5\nrounds_per_load = 2", &[("read", "seen")]);
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    let loads = "SELECT group_concat(round, ' ' ORDER BY round) FROM trial
                 WHERE step_id = 'load' AND system_id = 'wal'";
    assert_eq!(bench.value(loads), Some("0 2 4".to_owned()));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE loaded_again <> '[]'"), Some(0));
    for mode in ["wal", "delete"] {
        let seen = fs::read_to_string(bench.path(&format!("{mode}.seen"))).unwrap();
        let rows: Vec<&str> = seen.lines().collect();
        assert_eq!(rows.len(), 5, "{seen}");
        assert!(rows[0] == rows[1] && rows[2] == rows[3], "rounds share a load: {seen}");
        assert!(rows[1] != rows[2] && rows[3] != rows[4], "loads differ: {seen}");
    }
    let report: Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).with(0).stdout).unwrap();
    assert!(report["replication"]["between_loads"].is_number(), "{}", report["replication"]);
    assert!(report["evidence"].to_string().contains("between loads"), "{}", report["evidence"]);
    let ended = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0);
    assert!(ended.stdout.contains("(every 2 rounds)"), "{}", ended.stdout);
}

/// MySQL 5.6 reads a page of its log before it overwrites part of the page, unless the page is cached.
#[dyno_test(with_engine(MYSQL_56))]
fn a_warm_server_has_its_log_in_the_page_cache() {
    let bench = Bench::new();
    let plan = format!(
        "name = 'log'\ntitle = 'Log'\nbase = 'mysql'\nrounds = 2\nclients = [4]\nseconds = 0.5\nwarm = true\n\
         [data]\ntables = 1\nrows = 100\n[[system]]\nid = 'mysql'\nengine = '{MYSQL_56}'\n\
         settings = {{ innodb_flush_log_at_trx_commit = 2 }}\n\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         [[step]]\nid = 'update'\ngroup = 'all'\nworkload = 'oltp_update_non_index'\noperation = 'query'\n"
    );
    bench.write("plan.toml", &plan);
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    let report: Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).with(0).stdout).unwrap();
    let steps = report["efficiency"].as_array().unwrap();
    let update = steps.iter().find(|step| step["step"] == "update").unwrap();
    let rounds = update["cells"][0]["read_kib_per_operation"]["rounds"].as_array().unwrap();
    let read_kib: Vec<f64> = rounds.iter().map(|round| round["value"].as_f64().unwrap()).collect();
    assert!(read_kib.len() == 2 && read_kib.iter().all(|kib| *kib < 0.2), "KiB read an update: {read_kib:?}");
}

#[dyno_test(with_engine(MARIADB))]
fn a_client_and_its_server_have_cores_of_their_own() {
    let cores = std::thread::available_parallelism().unwrap().get();
    for (key, pins) in [("", cores >= 2), ("pin_threads = false\n", false)] {
        let bench = Bench::new();
        bench.write("cpus.lua", include_str!("scripts/cpus.lua"));
        bench.let_all_write();
        let plan = format!(
            "{key}name = 'cpus'\ntitle = 'CPUs'\nbase = 'mariadb'\nrounds = 1\nclients = [1]\nseconds = 1\n\
             slice_seconds = 0.05\n[[system]]\nid = 'mariadb'\nengine = '{MARIADB}'\n\
             [[step]]\nid = 'cpus'\ngroup = 'all'\nworkload = './cpus.lua'\noperation = 'query'\n"
        );
        bench.write("plan.toml", &plan);
        // Dyno does not pin threads if disturbances by other programs are expected.
        let mut run = bench.command(&["run", "plan.toml", "--no-html"]);
        Ended::from(run.env_remove("DYNO_COUNT_DISTURBED").output().unwrap()).with(0);
        let pinned = "SELECT count(limits ->> '$.in_force.pinned_server_threads') FROM trial";
        assert_eq!(bench.value::<i64>(pinned), Some(i64::from(pins)));
        // Lines are `THREADS Cpus_allowed_list: CPUS`.
        let seen = |name: &str| -> BTreeSet<(String, usize)> {
            let text = fs::read_to_string(bench.path(name)).unwrap();
            let fields = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            fields.map(|fields| (fields[2].to_owned(), fields[0].parse().unwrap())).collect()
        };
        let (server, load) = (seen("server"), seen("load"));
        let masks = |seen: &BTreeSet<(String, usize)>| -> BTreeSet<String> {
            seen.iter().map(|(cpus, _)| cpus.clone()).collect()
        };
        // One thread of the server is pinned to a core, and all threads of the load to other cores. The script's
        // first records may be from before the threads were pinned.
        assert_eq!(masks(&server).len(), 1 + usize::from(pins), "{key}{server:?}");
        let one = server.iter().find(|(_, threads)| *threads == 1).map(|(cpus, _)| cpus);
        assert_eq!(one.is_some(), pins, "{server:?}");
        assert_eq!(load.iter().any(|(cpus, _)| !masks(&server).contains(cpus)), pins, "{load:?} {server:?}");
    }
}

/// A plan of two servers with three steps in three rounds. The first step fails unless it finds exactly the rows of
/// the load. The second step adds rows. The third step fails unless it finds additional rows.
fn servers_plan() -> String {
    let step = |id: &str, workload: &str, options: &str| {
        format!(
            "[[step]]\nid = '{id}'\ngroup = 'all'\nworkload = '{workload}'\noperation = 'query'\n\
             options = {{ {options} }}\n"
        )
    };
    format!(
        "name = 'servers'\ntitle = 'Servers'\nbase = 'innodb'\nrounds = 3\nclients = [1]\nseconds = 0.4\n\
         slice_seconds = 0.05\nwarm = true\n[data]\ntables = 1\nrows = 100\n\
         [[system]]\nid = 'innodb'\nengine = '{MARIADB}'\n[[system]]\nid = 'myrocks'\nengine = '{MYROCKS}'\n\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         {}{}{}",
        step("loaded", "./rows.lua", "rows_min = 100, rows_max = 100"),
        step("insert", "oltp_insert", ""),
        step("grown", "./rows.lua", "rows_min = 101, rows_max = 1000000000"),
    )
}

#[dyno_test(with_engine(MARIADB))]
fn every_round_has_fresh_servers_that_take_turns() {
    installation(MYROCKS).unwrap();
    let bench = Bench::new();
    bench.write("rows.lua", include_str!("scripts/rows.lua"));
    bench.let_all_write();
    bench.write("plan.toml", &servers_plan());
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());

    // Tables were loaded and measured once. Each round begins without the rows that the round before has inserted,
    // because the step `loaded` fails if it finds such rows.
    let loads = "SELECT group_concat(system_id || round, ' ' ORDER BY system_id, round) FROM trial
                 WHERE step_id = 'load'";
    assert_eq!(bench.value(loads), Some("innodb0 myrocks0".to_owned()));
    assert_eq!(
        bench.value("SELECT group_concat(rounds, ' ' ORDER BY position) FROM step"),
        Some("1 3 3 3".to_owned())
    );
    let measured = "SELECT count(*) FROM trial WHERE outcome = 'completed' AND step_id <> 'load'
                    AND operations > 0 AND lead_seconds > 0 AND rest_cpu_us IS NOT NULL";
    assert_eq!(bench.value(measured), Some(2 * 3 * 3));

    // Within a round, a server is the same process in all steps. In the next round it is another process.
    let pids = fs::read_to_string(bench.path("pids")).unwrap();
    let mut steps_of = BTreeMap::new();
    for pid in pids.lines() {
        *steps_of.entry(pid).or_insert(0) += 1;
    }
    assert_eq!(steps_of.into_values().collect::<Vec<_>>(), [2; 6], "{pids}");
    let instances =
        "SELECT count(*) || ' ' || count(DISTINCT started_at_ms) || ' ' || min(is_fresh) || ' ' || (min(start_seconds) > 0)
                     || ' ' || (min(warm_seconds) > 0) || ' ' || (min(settle_seconds) > 1) FROM instance";
    assert_eq!(bench.value(instances), Some("6 3 1 1 1 1".to_owned()), "systems of a round start together");
    assert_systems_take_turns(&bench);
}

/// Checks that each cycle of slices has one slice of each system, and that the two cycles of each pair have
/// opposite orders.
fn assert_systems_take_turns(bench: &Bench) {
    let file = Connection::open(bench.path("dyno.db")).unwrap();
    let sql = "SELECT round, step_id, cycle, system_id FROM slice JOIN trial ON trial.id = trial_id
               ORDER BY round, step_id, started_us";
    let mut statement = file.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        Ok((
            (row.get::<_, u32>(0)?, row.get::<_, String>(1)?),
            (row.get::<_, u32>(2)?, row.get::<_, String>(3)?),
        ))
    });
    let mut blocks: BTreeMap<_, Vec<(u32, String)>> = BTreeMap::new();
    for (block, slice) in rows.unwrap().map(Result::unwrap) {
        blocks.entry(block).or_default().push(slice);
    }
    assert_eq!(blocks.len(), 3 * 3);
    for (block, slices) in blocks {
        assert_eq!(slices.len(), 2 * 8, "{block:?}");
        let cycles: Vec<_> = slices.chunks(2).collect();
        for (number, cycle) in (0..).zip(&cycles) {
            assert!(cycle.iter().all(|(at, _)| *at == number), "{block:?}: {cycle:?}");
            assert_ne!(cycle[0].1, cycle[1].1, "{block:?}");
        }
        for two in cycles.chunks(2) {
            let [first, second] = two else { panic!("{block:?}: cycles come in twos") };
            assert_eq!(
                (&first[0].1, &first[1].1),
                (&second[1].1, &second[0].1),
                "{block:?}: the order turns round"
            );
        }
    }
}

#[dyno_test]
fn loads_of_every_round_are_measured_in_every_round() {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        &sqlite_plan(0.1).replacen("rounds = 2", "rounds = 2\nload = \"every-round\"", 1),
    );
    let ended = bench.dyno(&["run", "plan.toml", "--only", "reads"]).with(0);
    let loads = "SELECT group_concat(round || system_id, ' ' ORDER BY round, system_id) FROM trial
                 WHERE step_id = 'load' AND outcome = 'completed'";
    assert_eq!(bench.value(loads), Some("0rollback 0wal 1rollback 1wal".to_owned()));
    assert!(!ended.stderr.contains("restoring the data"), "{}", ended.stderr);
}

#[dyno_test]
fn a_budget_is_divided_and_kept() {
    let bench = Bench::new();
    let plan = sqlite_plan(0.1).replacen("rounds = 2", "budget_seconds = 20", 1).replacen(
        "seconds = 0.1\nslice_seconds = 0.03",
        "seconds = 0.6\nslice_seconds = 0.1",
        1,
    );
    bench.write("plan.toml", &plan);
    let ended = bench.dyno(&["run", "plan.toml", "--only", "reads"]).with(0);
    assert!(ended.stderr.contains("the time allows about"), "{}", ended.stderr);
    let allocation: String = bench.value("SELECT allocation FROM run").unwrap();
    let allocation: Value = serde_json::from_str(&allocation).unwrap();
    assert_eq!((&allocation["budget_seconds"], &allocation["pilot_rounds"]), (&20.0.into(), &3.into()));
    let seconds = allocation["seconds_per_trial"].as_f64().unwrap();
    assert!((0.4..=10.0).contains(&seconds), "{allocation}");
    let rounds: u32 = bench.value("SELECT count(DISTINCT round) FROM trial").unwrap();
    assert!(rounds >= 6, "{rounds} rounds: {allocation}");
}

#[dyno_test]
fn every_report_has_the_verdict_of_the_comparison() {
    let bench = Bench::new();
    let plan = sqlite_plan(0.1)
        .replace("rounds = 2", "rounds = 8")
        .replace("journal_mode = \"WAL\"", "journal_mode = \"WAL\", synchronous = \"OFF\"");
    bench.write("plan.toml", &plan);
    bench.dyno(&["run", "plan.toml"]).with(0);
    let json = |command: &str| -> Value {
        serde_json::from_str(&bench.dyno(&[command, "--format", "json"]).stdout).unwrap()
    };
    let (report, comparison) = (json("report"), json("compare"));
    let in_report: BTreeSet<_> = report["relative"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| {
            let cells = row["cells"].as_array().unwrap().iter();
            cells.filter(|cell| cell["system"] == "wal").map(|cell| judged(&row["step"], cell))
        })
        .collect();
    let in_comparison: BTreeSet<_> = comparison["comparisons"][0]["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| judged(&test["step"], test))
        .collect();
    assert_eq!(in_report, in_comparison);
    assert_eq!(in_report.len(), 3);
    assert!(in_report.iter().any(|judged| judged.contains("update") && judged.contains("improved")));
    let counts = &report["verdicts"][0];
    let sum = |names: &[&str]| names.iter().map(|name| counts[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        sum(&["improved", "regressed", "same", "not_enough_evidence", "failed", "decays", "unjudged"]),
        3
    );
    // `dyno report` prints a sentence of the JSON report in the same words.
    let sentence = report["summary"][0].as_str().unwrap();
    let said = |command: &str| unwrapped(&bench.dyno(&[command]).stdout);
    assert!(said("report").contains(sentence), "{sentence}");
    assert_eq!(bench.dyno(&["compare"]).status == Some(0), comparison["outcome"] == "none_regressed");
}

/// The finding and the figures of a test, from a JSON document.
fn judged(step: &Value, of: &Value) -> String {
    let keys = ["finding", "ratio", "interval", "method", "p_adjusted", "more_rounds"];
    let facts: Vec<String> = keys.iter().map(|key| format!("{key} {}", of[key])).collect();
    format!("{step}: {}", facts.join(", "))
}
