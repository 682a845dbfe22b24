//! Loads that two other hosts send.

use std::time::Duration;

use dyno_engine::testing::installation;
use dyno_engine::{DATABASE, Server, StartOptions, start};
use dyno_testing::dyno_test;

use super::namespaces::Namespaces;
use super::relay::relay;
use super::sshd::Hosts;
use super::{Working, on};
use crate::bench::{Bench, Ended, eventually};

const MARIADB: &str = "mariadb@10.11";
/// One-way delay of the slow network.
const DELAY: Duration = Duration::from_millis(4);

const STEPS: &str = r#"
[[step]]
id = "load"
group = "load"
command = "prepare"
workload = "oltp_insert"
operation = "row"

[[step]]
id = "read"
group = "reads"
workload = "oltp_point_select"
operation = "query"
warmup_seconds = 0.5
"#;

/// Steps that require exactly three threads, and whose events are divided among the drivers.
const MORE_STEPS: &str = r#"
[[step]]
id = "seen-load"
group = "load"
command = "prepare"
workload = "./seen.lua"
operation = "row"

[[step]]
id = "counted"
group = "reads"
workload = "./seen.lua"
operation = "transaction"
events = 101

[[step]]
id = "paced"
group = "reads"
workload = "oltp_point_select"
operation = "transaction"
rate = 200
"#;

/// A plan with two drivers.
fn plan(keys: &str, systems: &str, seconds: f64) -> String {
    format!(
        "name = 'driven'\ntitle = 'Driven'\nbase = 'maria'\nrounds = 1\nclients = [3]\nseconds = {seconds}\n\
         drivers = ['ssh://a', 'ssh://b']\n{keys}[data]\ntables = 1\nrows = 1000\n{systems}{STEPS}"
    )
}

#[dyno_test(on(Namespaces::start))]
fn two_hosts_load_a_server_of_this_one(bench: &Bench, namespaces: &mut Namespaces) {
    let listen = format!("listen = '{}'\n", namespaces.here);
    // MySQL's clients encrypt the password with the server's public key. This host sends the key to the drivers.
    let systems =
        [("maria", "mariadb@10.11"), ("pg", "postgres@18.4"), ("my", "mysql@9.7.4")].map(|(id, engine)| {
            let _installed = installation(engine).unwrap();
            format!("[[system]]\nid = '{id}'\nengine = '{engine}'\n")
        });
    bench.write("seen.lua", include_str!("seen.lua"));
    // On a busy host, a driver may begin some tenths of a second late. A trial fails if a driver begins later than a
    // tenth of the measured time.
    bench.write("plan.toml", &(plan(&listen, &systems.concat(), 5.0) + MORE_STEPS));
    let run = namespaces.hosts.dyno(bench, &["run", "plan.toml", "--full"]).output().unwrap();
    let ended = Ended::from(run).with(0);
    let value = |sql: &str| bench.value::<i64>(sql);
    // The three clients are divided among the two hosts. A trial has the sums of both hosts.
    assert_eq!(value("SELECT count(*) FROM driver"), Some(18));
    let clients =
        "SELECT group_concat(driver_clients) FROM driver WHERE system_id = 'maria' AND step_id = 'read'";
    assert_eq!(bench.value(clients), Some("1,2".to_owned()));
    assert_eq!(value("SELECT count(*) FROM trial WHERE step_id = 'counted' AND events = 101"), Some(3));
    let paced = "SELECT count(*) FROM trial WHERE step_id = 'paced' AND events > 0 AND backlog IS NOT NULL";
    assert_eq!(value(paced), Some(3));
    let adds_up = "SELECT count(*) FROM trial t WHERE step_id = 'read' AND operations > 0
                   AND operations = (SELECT sum(operations) FROM driver WHERE trial_id = t.id)
                   AND client_user_cpu_us > 0 AND server_user_cpu_us > 0 AND client_memory_peak_bytes > 0";
    assert_eq!(value(adds_up), Some(3));
    let seconds = "SELECT count(*) FROM sample p JOIN trial t ON t.id = p.trial_id
                   WHERE step_id = 'read' AND phase = 'measure' AND p.operations > 0";
    assert_eq!(value(seconds), Some(15));
    assert_eq!(
        value("SELECT count(*) FROM driver WHERE round_trip_us > 0 AND bytes_per_second > 1e6"),
        Some(18)
    );
    // Tables are loaded from this host and not from the drivers.
    assert_eq!(value("SELECT count(*) FROM trial WHERE drivers IS NOT NULL AND step_id = 'load'"), Some(0));
    let section = ended.stdout.split("\nDrivers\n").nth(1).unwrap_or_default();
    assert!(section.contains("read at 3 clients · maria") && section.contains("ssh://b"), "{}", ended.stdout);
    eventually("nothing is left", || bench.processes().is_empty());
}

/// A server on this host, and a plan that reaches it through a slow network.
fn slow_server(bench: &Bench, address: &str, seconds: f64) -> Server {
    let server = start(&installation(MARIADB).unwrap(), StartOptions::new(bench.path("data"))).unwrap();
    let access = server.access();
    bench.write("secret", &access.password);
    let port = relay(address, access.port, DELAY);
    let dsn = format!("mariadb://{}:${{file:secret}}@{address}:{port}/{DATABASE}", access.user);
    bench.write("plan.toml", &plan("", &format!("[[system]]\nid = 'maria'\ndsn = '{dsn}'\n"), seconds));
    server
}

#[dyno_test(on(Namespaces::start))]
fn a_slow_network_is_measured_and_a_lost_driver_fails_its_trial(
    bench: &Bench,
    Namespaces { hosts, here, .. }: &mut Namespaces,
) {
    let _server = slow_server(bench, here, 2.0);
    Ended::from(hosts.dyno(bench, &["run", "plan.toml"]).output().unwrap()).with(0);
    let both_ways_us = 2.0 * DELAY.as_secs_f64() * 1e6;
    let round_trip: f64 = bench.value("SELECT min(round_trip_us) FROM driver").unwrap();
    assert!(round_trip > both_ways_us && round_trip < 100.0 * both_ways_us, "{round_trip}");
    let fastest: f64 = bench.value("SELECT latency_p50_us FROM trial WHERE step_id = 'read'").unwrap();
    assert!(fastest > both_ways_us, "{fastest}");

    let longer =
        std::fs::read_to_string(bench.path("plan.toml")).unwrap().replace("seconds = 2\n", "seconds = 30\n");
    assert!(longer.contains("seconds = 30"), "{longer}");
    bench.write("plan.toml", &longer);
    let dyno = Working::start(bench, hosts.dyno(bench, &["run", "plan.toml", "--only", "read"]));
    eventually("both hosts drive", || bench.load_processes().len() >= 2);
    hosts.b.vanish();
    dyno.finish().with(1);
    let message: String =
        bench.value("SELECT message FROM trial WHERE step_id = 'read' AND run_id = 2").unwrap();
    assert!(message.starts_with("driver ssh://b: "), "{message}");
    eventually("what the drivers ran has ended", || bench.load_processes().is_empty());
}

#[dyno_test(on(Hosts::start))]
fn hosts_that_cannot_drive_are_told(bench: &Bench, hosts: &mut Hosts) {
    let _server = slow_server(bench, "127.0.0.1", 0.5);
    hosts.b.vanish();
    let failed = Ended::from(hosts.dyno(bench, &["run", "plan.toml"]).output().unwrap()).with(1);
    assert!(
        failed.stderr.contains("error: driver ssh://b: ") && failed.stderr.contains("refused"),
        "{}",
        failed.stderr
    );
    assert_eq!(bench.count("trial"), 0, "nothing is loaded before");
    let wrong = ["run", "plan.toml", "--remote-dyno", "/nowhere/dyno", "--results", "other.db"];
    let failed = Ended::from(hosts.dyno(bench, &wrong).output().unwrap()).with(1);
    assert!(
        failed.stderr.contains("error: driver ssh://a: ") && failed.stderr.contains("/nowhere/dyno"),
        "{}",
        failed.stderr
    );
    // The plan keeps only the driver that can be reached.
    let text = std::fs::read_to_string(bench.path("plan.toml")).unwrap().replace(", 'ssh://b'", "");
    bench.write("plan.toml", &text);
    Ended::from(hosts.dyno(bench, &["run", "plan.toml"]).output().unwrap()).with(1);
    let message: String = bench.value("SELECT message FROM trial WHERE step_id = 'read'").unwrap();
    assert!(message.contains("127.0.0.1 is their own host to them"), "{message}");
}
