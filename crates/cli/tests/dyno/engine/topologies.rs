//! Systems with replicas and poolers, on real servers: reads go to replicas, and the replicas' lag is measured.

mod pooler;

use dyno_engine::Installation;
use dyno_engine::testing::{named_engines, with_engine};
use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::{Bench, eventually, finish, press_ctrl_c, unwrapped};

const MARIADB: &str = "mariadb@10.11";
const POSTGRES: &str = "postgres@18.4";

/// A plan that loads a table of 1000 rows and then runs `steps`. Each system is an id with the further keys of its
/// table in the plan.
fn plan(engine: &str, systems: &[(&str, &str)], rounds: u32, steps: &str) -> String {
    let system = |(id, keys): &(&str, &str)| {
        format!("[[system]]\nid = '{id}'\nengine = '{engine}'\nprofile = 'lean.toml'\n{keys}\n")
    };
    let systems = systems.iter().map(system).collect::<Vec<_>>().concat();
    format!(
        "name = 'replicas'\ntitle = 'Replicas'\nbase = 'a'\nrounds = {rounds}\nclients = [2]\nseconds = 2\n\
         warmup_seconds = 0.2\nwarmup_seconds_max = 0\nrest_seconds_max = 0\n\
         [data]\ntables = 1\nrows = 1000\n{systems}\
         [[step]]\nid = 'load'\nworkload = 'oltp_read_write'\ncommand = 'prepare'\n{steps}"
    )
}

fn bench(plan: &str) -> Bench {
    let bench = Bench::new();
    bench.write_lean_profiles();
    bench.write("plan.toml", plan);
    bench
}

/// Evaluates an SQL expression over the recorded replicas of a system in a step, in all rounds.
fn of_replicas<T: rusqlite::types::FromSql>(bench: &Bench, value: &str, system: &str, step: &str) -> T {
    let sql = format!(
        "SELECT {value} FROM replica r JOIN trial ON trial.id = trial_id
         WHERE system_id = '{system}' AND step_id = '{step}'"
    );
    bench.value(&sql).unwrap_or_else(|| panic!("no {value} of {system} in {step}"))
}

#[dyno_test(named_engines(&[MARIADB, POSTGRES]))]
fn reads_go_to_replicas(_: &Installation, engine: &str) {
    reads_go_to_others(engine, "semi-synchronous");
}

#[dyno_test(with_engine(MARIADB))]
fn reads_go_to_the_nodes_of_a_galera_cluster() {
    reads_go_to_others(MARIADB, "galera");
}

fn reads_go_to_others(engine: &str, mode: &str) {
    let steps = "[[step]]\nid = 'writes'\nworkload = 'oltp_update_non_index'\nnot_for = ['a']\n\
                 [[step.background]]\nid = 'readers'\nworkload = 'oltp_point_select'\noperation = 'query'\nclients = 2\n\
                 endpoint = 'replicas'\n\
                 [[step]]\nid = 'reads'\nworkload = 'oltp_point_select'\nendpoint = 'replicas'\nnot_for = ['a']\n\
                 [[step]]\nid = 'all'\nworkload = 'oltp_update_non_index'\n";
    let replicated = format!("replicas = 2\nreplication = '{mode}'");
    let bench = bench(&plan(engine, &[("a", ""), ("b", &replicated)], 2, steps));
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    for step in ["writes", "reads", "all"] {
        assert_eq!(
            of_replicas::<i64>(&bench, "count(*)", "b", step),
            4,
            "{step}: two replicas in two rounds"
        );
        assert!(of_replicas::<i64>(&bench, "min(tokens)", "b", step) > 0, "{step}");
        assert_eq!(of_replicas::<String>(&bench, "min(mode)", "b", step), mode);
        let cpu_us: i64 = of_replicas(&bench, "min(user_cpu_us + system_cpu_us)", "b", step);
        assert!(cpu_us > 0, "{step}");
    }
    let of_a = "SELECT count(*) FROM replica JOIN trial ON trial.id = trial_id WHERE system_id = 'a'";
    assert_eq!(bench.value(of_a), Some(0));
    let server_cpu =
        "SELECT server_user_cpu_us + server_system_cpu_us FROM trial WHERE step_id = 'reads' AND round = 0";
    let of_primary: i64 = bench.value(server_cpu).unwrap();
    let of_all: i64 = of_replicas(&bench, "sum(user_cpu_us + system_cpu_us)", "b", "reads");
    assert!(of_all > of_primary, "the readers used the replicas: {of_all} {of_primary}");
    let read: i64 = bench.value("SELECT sum(reads) FROM trial WHERE step_id = 'writes.readers'").unwrap();
    assert!(read > 0);
    let text = unwrapped(&bench.dyno(&["report", "--full"]).stdout);
    assert!(text.contains("Replicas: how late they were"), "{text}");
    assert!(text.contains(&format!("b, 2 {mode}")), "{text}");
    let json: Value = serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    // The load also has lags, but it runs only once. So the step `writes` is looked up.
    let writes = json["lags"].as_array().unwrap().iter().find(|lag| lag["step"] == "writes").unwrap();
    let figures = &writes["systems"][0]["figures"];
    assert_eq!(figures["lag_p99_ms"]["rounds"].as_array().unwrap().len(), 2, "{json}");
    assert_eq!(bench.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

/// The server holds replicas back, so the machine's speed does not matter. MariaDB counts the delay in whole
/// seconds of its clock. PostgreSQL counts it from a moment within the commit, which ends some milliseconds later.
#[dyno_test(named_engines(&[MARIADB, POSTGRES]))]
fn replicas_that_are_held_back_are_late_by_that_time(_: &Installation, engine: &str) {
    let steps = "[[step]]\nid = 'writes'\nworkload = 'oltp_update_non_index'\nseconds = 4\n";
    let held = "replicas = 1\nreplica_delay_seconds = 3";
    let bench = bench(&plan(engine, &[("a", "replicas = 1"), ("b", held)], 1, steps));
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    let least_ms = if engine == MARIADB { 2000.0 } else { 2900.0 };
    let p50_ms: f64 = of_replicas(&bench, "lag_p50_ms", "b", "writes");
    assert!(p50_ms >= least_ms, "{p50_ms}");
    assert_eq!(of_replicas::<i64>(&bench, "delay_seconds", "b", "writes"), 3);
    let caught_up: f64 = of_replicas(&bench, "catch_up_seconds", "b", "writes");
    assert!(caught_up > 1.0, "its last tokens were held back too: {caught_up}");
    let free_p50_ms: f64 = of_replicas(&bench, "lag_p50_ms", "a", "writes");
    assert!(free_p50_ms < p50_ms, "{free_p50_ms} {p50_ms}");
    let said: f64 = of_replicas(&bench, "said_max_seconds", "b", "writes");
    assert!(said >= 1.0, "{said}");
}

/// After a kill, a node gets from the other nodes the writes that it has missed.
#[dyno_test(with_engine(MARIADB))]
fn an_outage_of_a_galera_node_ends_when_it_has_joined_again() {
    let steps = "[[step]]\nid = 'writes'\nworkload = 'oltp_update_non_index'\nseconds = 12\n\
                 [[step.event]]\nid = 'crash'\nat_seconds = 2\nkill = 'server'\n";
    let bench = bench(&plan(MARIADB, &[("a", "replicas = 2\nreplication = 'galera'")], 1, steps));
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    let outcome: String = bench.value("SELECT outcome FROM step_event").unwrap();
    assert_eq!(outcome, "done");
    assert_eq!(of_replicas::<i64>(&bench, "count(*)", "a", "writes"), 2);
    let caught_up: i64 = of_replicas(&bench, "count(catch_up_seconds)", "a", "writes");
    assert_eq!(caught_up, 2, "both have what was written after it");
}

#[dyno_test(with_engine(MARIADB))]
fn a_stopped_run_leaves_no_replica() {
    a_stopped_run_leaves_no_server("asynchronous");
}

#[dyno_test(with_engine(MARIADB))]
fn a_stopped_run_leaves_no_galera_node() {
    a_stopped_run_leaves_no_server("galera");
}

fn a_stopped_run_leaves_no_server(mode: &str) {
    let steps = "[[step]]\nid = 'writes'\nworkload = 'oltp_update_non_index'\nseconds = 300\n";
    let keys = format!("replicas = 2\nreplication = '{mode}'");
    let bench = bench(&plan(MARIADB, &[("a", &keys)], 1, steps));
    let dyno = bench.start_until(&["run", "plan.toml"], 1);
    eventually("three servers", || bench.servers().len() == 3);
    press_ctrl_c(&dyno);
    finish(dyno).with(130);
    eventually("the end of every process", || bench.servers().is_empty() && bench.processes().is_empty());
    assert_eq!(bench.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

#[dyno_test]
fn replicas_that_cannot_be_are_refused_before_anything_runs() {
    for (engine, keys, told) in [
        ("sqlite", "replicas = 1", "an engine inside the load process has no replicas; leave `replicas` out"),
        (MARIADB, "replication = 'synchronous'", "`replication` is for systems with `replicas`"),
        (
            MARIADB,
            "replicas = 2\nreplication = 'synchronous'",
            "a commit of MariaDB waits for one replica at most",
        ),
        (
            POSTGRES,
            "replicas = 2\nreplication = 'galera'",
            "Galera is a cluster of MariaDB; write another mode",
        ),
    ] {
        let steps = "[[step]]\nid = 'writes'\nworkload = 'oltp_update_non_index'\n";
        let text = plan(engine, &[("a", keys)], 1, steps).replace("profile = 'lean.toml'\n", "");
        let bench = bench(&text);
        let ended = bench.dyno(&["run", "plan.toml"]).with(2);
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
        assert_eq!(bench.count("run"), 0);
    }
}
