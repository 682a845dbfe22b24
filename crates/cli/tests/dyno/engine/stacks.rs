//! Stacks of servers, from the plan to the reports.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;
use rustix::process::Signal;

use crate::bench::{Bench, eventually, send};

const MARIADB: &str = "mariadb@10.11/innodb";

/// A plan of two rounds with a load and two steps. Stacks are sampled in the first step.
fn bench(systems: &[&str], seconds: f64) -> Bench {
    let system = |(at, engine): (usize, &&str)| format!("[[system]]\nid = 's{at}'\nengine = '{engine}'\n");
    let systems = systems.iter().enumerate().map(system).collect::<Vec<_>>().concat();
    let bench = Bench::new();
    bench.share_tools();
    bench.write(
        "plan.toml",
        &format!(
            "name = 'stacks'\ntitle = 'Stacks'\nbase = 's0'\nrounds = 2\nclients = [4]\nseconds = {seconds}\n\
             rest_seconds_max = 0\n\
             [data]\ntables = 1\nrows = 1000\n{systems}\
             [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
             [[step]]\nid = 'update'\ngroup = 'g'\nworkload = 'oltp_update_index'\noperation = 'query'\n\
             stacks = {{ hertz = 20 }}\n\
             [[step]]\nid = 'after'\ngroup = 'g'\nworkload = 'oltp_point_select'\noperation = 'query'\n"
        ),
    );
    bench
}

#[dyno_test(with_engine(MARIADB))]
fn stacks_are_sampled_in_a_pass_that_is_not_measured() {
    let bench = bench(&[MARIADB, MARIADB], 1.0);
    let ended = bench.dyno(&["run", "plan.toml"]).with(0);
    assert!(ended.stderr.contains("sampling stacks of s1 in update"), "{}", ended.stderr);
    let profiles = "SELECT count(*) FROM stack_profile p JOIN trial t ON t.id = p.trial_id
                    WHERE t.step_id = 'update' AND t.round = 0 AND p.samples > 1 AND p.operations > 0 AND p.seconds > 0.9
                          AND p.sample_ms_median > 0 AND p.ended_early IS NULL AND p.sampler LIKE 'eu-stack%'";
    assert_eq!(bench.value(profiles), Some(2), "a profile of each system in the first round");
    assert_eq!(bench.count("stack_profile"), 2);
    let connections =
        "SELECT count(*) FROM stack WHERE thread_kind = 'connection' AND frames LIKE '%do_command%'";
    assert!(bench.value::<i64>(connections).unwrap() > 0);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));

    let report = bench.dyno(&["report", "--full"]);
    assert!(report.stdout.contains("Stacks: the functions in which threads were"), "{}", report.stdout);
    assert!(report.stdout.contains("s0 in update at 4 clients: connection ("), "{}", report.stdout);
    assert_eq!(bench.dyno(&["report", "--format", "html"]).status, Some(0));
    let page = fs::read_to_string(bench.path("stacks-1.html")).unwrap();
    assert!(page.contains("s1 against s0: ") && page.contains("<figure class=\"flame\">"));
    assert!(bench.processes().is_empty() && bench.leftovers().is_empty());
}

/// The server is killed while stacks are sampled. No trial fails, because the step was measured before, and because
/// later steps get a new server.
#[dyno_test(with_engine(MARIADB))]
fn a_server_that_ends_while_stacks_are_taken_fails_nothing() {
    let bench = bench(&[MARIADB], 5.0);
    let mut command = bench.command(&["run", "plan.toml"]);
    let mut dyno = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = until_sampling(&mut dyno);
    eventually("its load runs", || !bench.load_processes().is_empty());
    send(bench.servers()[0], Signal::KILL);
    told.extend(BufReader::new(dyno.stderr.take().unwrap()).lines().map(Result::unwrap));
    assert_eq!(dyno.wait().unwrap().code(), Some(0), "{told:#?}");
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE operations > 0"), Some(5), "{told:#?}");
    let early = bench.value::<String>("SELECT ended_early FROM stack_profile");
    let is_told = told.iter().any(|line| line.starts_with("warning: the stacks of s0 are not sampled: "));
    assert!(early.is_some() || is_told, "{told:#?}");
}

/// Reads the output of `dyno` until it begins to sample stacks.
fn until_sampling(dyno: &mut Child) -> Vec<String> {
    let pipe = dyno.stderr.take().unwrap();
    let mut lines = Vec::new();
    let mut reader = BufReader::with_capacity(1, pipe);
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "never sampled: {lines:#?}");
        let is_sampling = line.starts_with("sampling stacks of s0 in update");
        lines.push(line.trim_end().to_owned());
        if is_sampling {
            // The reader's buffer has one byte, so it has read nothing after this line.
            dyno.stderr = Some(reader.into_inner());
            return lines;
        }
    }
}

#[dyno_test(with_engine(MARIADB))]
fn systems_without_a_server_are_told() {
    let bench = bench(&["sqlite", MARIADB], 0.5);
    let ended = bench.dyno(&["run", "plan.toml"]).with(0);
    let told = "warning: the stacks of s0 are not sampled: it has no server: it runs inside the load process";
    assert_eq!(ended.stderr.matches(told).count(), 1, "{}", ended.stderr);
    assert_eq!(bench.count("stack_profile"), 1);
}
