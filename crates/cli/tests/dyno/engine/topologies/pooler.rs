//! Poolers in front of real servers. If a program is not installed, its tests are ignored with the reason; with
//! `DYNO_REQUIRE_CLUSTER=1` they fail instead.

use std::env;

use dyno_engine::testing::with_engine;
use dyno_testing::{Completion, Trial, dyno_test};
use serde_json::Value;

use super::{POSTGRES, bench, plan};
use crate::bench::{Bench, eventually, finish, press_ctrl_c};

/// A maker of tests that need a pooler's program and a PostgreSQL.
fn with_pooler(program: &'static str) -> impl Fn(&str, fn()) -> Vec<Trial> {
    move |name, test| {
        if is_installed(program) || env::var_os("DYNO_REQUIRE_CLUSTER").is_some() {
            return with_engine(POSTGRES)(name, test);
        }
        let run = move || Ok(Completion::ignored_with(format!("there is no program {program}")));
        vec![Trial::ignorable_test(format!("{name} {POSTGRES}"), run)]
    }
}

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(["/usr/sbin".into()]).any(|folder| folder.join(program).is_file())
}

const PGBOUNCER: &str = "pgbouncer";
const PGPOOL: &str = "pgpool";

const POOLED: &str =
    "pooler = 'pgbouncer'\npooler_settings = { pool_mode = 'transaction', default_pool_size = 2 }";

const POOLED_BY_PGPOOL: &str = "pooler = 'pgpool'\npooler_settings = { num_init_children = 8, max_pool = 1 }";

/// A step whose clients record which processes of the server answer them.
fn noting(id: &str, keys: &str, not_for: &str) -> String {
    format!(
        "[[step]]\nid = '{id}'\nworkload = 'pids.lua'\noperation = 'query'\nclients = [8]\ncheck = true\n\
         options = {{ {keys} }}\nnot_for = ['{not_for}']\n"
    )
}

fn pids_bench(systems: &[(&str, &str)], steps: &str) -> Bench {
    let text = plan(POSTGRES, systems, 1, steps);
    let load = "[[step]]\nid = 'pids'\nworkload = 'pids.lua'\ncommand = 'prepare'\n";
    let bench = bench(&text.replacen("[[step]]\nid = 'load'", &format!("{load}[[step]]\nid = 'load'"), 1));
    bench.write("pids.lua", include_str!("pids.lua"));
    bench
}

#[dyno_test(with_pooler(PGBOUNCER))]
fn many_clients_share_few_connections_of_a_pooler() {
    let direct = noting("direct", "processes_min = 8, processes_max = 8", "b");
    let pooled = noting("pooled", "processes_max = 2", "a");
    let both =
        "[[step]]\nid = 'both'\nworkload = 'oltp_point_select'\noptions = { db_ps_mode = 'disable' }\n";
    let bench = pids_bench(&[("a", ""), ("b", POOLED)], &[&direct, &pooled, both].concat());
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    let cpu_us = |system: &str| {
        bench.value::<Option<i64>>(&format!(
            "SELECT pooler_user_cpu_us + pooler_system_cpu_us FROM trial WHERE step_id = 'both' AND system_id = '{system}'"
        ))
    };
    assert_eq!(cpu_us("a"), Some(None));
    assert!(cpu_us("b").flatten() > Some(0));
    let json: Value = serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    assert!(json.to_string().contains("\"pooler_cpu_us_per_operation\":{"), "{json}");
    assert!(bench.dyno(&["report", "--full"]).stdout.contains("pooler CPU µs per operation"));
    assert_eq!(bench.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

#[dyno_test(with_pooler(PGBOUNCER))]
fn a_restarted_server_is_found_by_its_pooler() {
    a_restarted_server_is_found(POOLED);
}

#[dyno_test(with_pooler(PGPOOL))]
fn a_restarted_server_is_found_by_its_pgpool() {
    a_restarted_server_is_found(POOLED_BY_PGPOOL);
}

fn a_restarted_server_is_found(pooled: &str) {
    let steps = "[[step]]\nid = 'first'\nworkload = 'oltp_point_select'\noptions = { db_ps_mode = 'disable' }\n\
                 [[step]]\nid = 'second'\nworkload = 'oltp_point_select'\noptions = { db_ps_mode = 'disable' }\n";
    let text = plan(POSTGRES, &[("a", pooled)], 1, steps).replacen(
        "rounds = 1",
        "rounds = 1\nbetween_steps = 'restart'",
        1,
    );
    let bench = bench(&text);
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'completed'"), Some(3));
    let without_cpu = "SELECT count(*) FROM trial WHERE pooler_user_cpu_us IS NULL";
    assert_eq!(bench.value(without_cpu), Some(0), "all loads went through it");
}

#[dyno_test(with_pooler(PGBOUNCER))]
fn a_setting_that_a_pooler_does_not_know_is_told() {
    a_setting_that_it_does_not_know_is_told(PGBOUNCER, "pgbouncer did not start");
}

#[dyno_test(with_pooler(PGPOOL))]
fn a_setting_that_pgpool_does_not_know_is_told() {
    a_setting_that_it_does_not_know_is_told(PGPOOL, "pgpool does not know the setting");
}

fn a_setting_that_it_does_not_know_is_told(program: &str, told: &str) {
    let keys = format!("pooler = '{program}'\npooler_settings = {{ no_such_setting = 1 }}");
    let steps = "[[step]]\nid = 'reads'\nworkload = 'oltp_point_select'\n";
    let bench = bench(&plan(POSTGRES, &[("a", &keys)], 1, steps));
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert!(ended.stderr.contains("no_such_setting"), "{}", ended.stderr);
    assert_eq!(bench.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

#[dyno_test(with_pooler(PGBOUNCER))]
fn a_stopped_run_leaves_no_pooler() {
    a_stopped_run_ends_its_pooler(POOLED, PGBOUNCER);
}

#[dyno_test(with_pooler(PGPOOL))]
fn a_stopped_run_leaves_no_pgpool() {
    a_stopped_run_ends_its_pooler(POOLED_BY_PGPOOL, PGPOOL);
}

fn a_stopped_run_ends_its_pooler(pooled: &str, program: &str) {
    let steps = "[[step]]\nid = 'writes'\nworkload = 'oltp_update_non_index'\nseconds = 300\n\
                 options = { db_ps_mode = 'disable' }\n";
    let bench = bench(&plan(POSTGRES, &[("a", pooled)], 1, steps));
    let dyno = bench.start_until(&["run", "plan.toml"], 1);
    eventually("a pooler", || bench.processes().iter().any(|pid| is_named(*pid, program)));
    press_ctrl_c(&dyno);
    finish(dyno).with(130);
    eventually("the end of every process", || bench.processes().is_empty());
    assert_eq!(bench.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

fn is_named(pid: u32, program: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == program)
}
