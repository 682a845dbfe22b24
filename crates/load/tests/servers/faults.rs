//! Faults of scripts, logins and servers.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::{Signal, go_on, pause, send, servers};
use dyno_load::{Address, Job, Scheduler};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::bench::{builtin, job, run, run_and_once_it_works, with_options};

fn both(mut job: Job, scheduler: Scheduler) -> Job {
    job.scheduler = scheduler;
    job
}

fn failure(job: Job) -> String {
    run(job).failure.expect("a failure")
}

#[dyno_test(servers(SYSTEMS))]
fn a_wrong_statement_fails_with_the_servers_words_and_the_line(server: &mut Server) {
    let source =
        "function event()\n  local con = sysbench.sql.driver():connect()\n  con:query('SELEC 1')\nend";
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let message = failure(both(job(server, "wrong.lua", source, "run"), scheduler));
        assert!(message.contains("wrong.lua:3"), "{message}");
        assert!(message.contains("SELEC"), "{message}");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn a_wrong_password_is_refused_and_not_shown(server: &mut Server) {
    if server.access().engine == "postgres" && server.access().password.is_empty() {
        return;
    }
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = both(builtin(server, "oltp_point_select", "run"), scheduler);
        job.target.password = "open sesame".into();
        let message = failure(job);
        assert!(message.contains(&server.access().user), "{message}");
        assert!(!message.contains("sesame"), "{message}");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn an_address_without_a_server_is_named(server: &mut Server) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = both(builtin(server, "oltp_point_select", "run"), scheduler);
        job.target.addresses = vec![Address::Unix("/no/such/socket".into())];
        let message = failure(job);
        assert!(message.contains("/no/such/socket"), "{message}");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn unknown_options_and_commands_are_named_with_near_misses(server: &mut Server) {
    let message = failure(with_options(builtin(server, "oltp_read_only", "run"), &[("tabels", "2")]));
    assert!(message.contains("'tabels'") && message.contains("did you mean 'tables'?"), "{message}");
    let message = failure(builtin(server, "oltp_read_only", "clenup"));
    assert!(message.contains("did you mean 'cleanup'?"), "{message}");
    let message = failure(with_options(builtin(server, "oltp_read_only", "run"), &[("tables", "many")]));
    assert!(message.contains("tables") && message.contains("many"), "{message}");
}

const ENDLESS: &str = "
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT 1') end
";

#[dyno_test(servers(SYSTEMS))]
fn a_server_killed_under_load_fails_the_job_at_once(server: &mut Server) {
    let mut job = job(server, "endless", ENDLESS, "run");
    job.connections = 4;
    let pid = server.access().pid;
    let story = run_and_once_it_works(job, &AtomicBool::new(false), || send(pid, Signal::KILL));
    let message = story.failure.expect("a failure");
    assert!(message.contains("connection"), "{message}");
    assert!(story.total.is_some_and(|total| total.counts.events > 0), "what was measured is kept");
}

#[dyno_test(servers(SYSTEMS))]
fn a_server_that_hangs_does_not_keep_the_job(server: &mut Server) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = both(job(server, "endless", ENDLESS, "run"), scheduler);
        job.connections = 2;
        job.seconds = Some(1.0);
        let began = Instant::now();
        let pid = server.access().pid;
        let total = run_and_once_it_works(job, &AtomicBool::new(false), || pause(pid)).success();
        go_on(pid);
        assert!(began.elapsed() < Duration::from_secs(60), "{scheduler:?}: it never ended");
        assert!(total.counts.events > 0, "{scheduler:?}");
    }
}

/// An endless script is interrupted, whether it loops in an event or in `thread_done`.
#[dyno_test(servers(SYSTEMS))]
fn interrupting_a_script_that_does_not_end_fails_nothing(server: &mut Server) {
    let forever = "while true do sysbench.rand.default(1, 9) end end";
    for source in
        [format!("function event() {forever}"), format!("{ENDLESS}\nfunction thread_done() {forever}")]
    {
        for scheduler in [Scheduler::Event, Scheduler::Thread] {
            let mut job = both(job(server, "endless", &source, "run"), scheduler);
            job.seconds = Some(0.2);
            job.tuning.end_seconds_max = 0.1;
            assert_eq!(run(job).success().unfinished, 1, "{scheduler:?}: {source}");
        }
    }
}
