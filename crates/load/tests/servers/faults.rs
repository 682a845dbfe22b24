//! Faults of scripts, logins and servers.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::{Signal, Trial, go_on, pause, send, server_test};
use dyno_load::{Address, Job, Scheduler};

use crate::bench::{builtin, job, run, run_and_once_it_works, with_options};

pub(crate) fn tests(system: &'static str) -> Vec<Trial> {
    vec![
        server_test("a wrong statement fails with the server's words and the line", system, wrong_statement),
        server_test("a wrong password is refused, and not shown", system, wrong_password),
        server_test("an address without a server is named", system, nobody_there),
        server_test("unknown options and commands are named with near misses", system, near_misses),
        server_test("a server killed under load fails the job at once", system, killed),
        server_test("a server that hangs does not keep the job", system, hangs),
        server_test("a script that does not end is interrupted, which fails nothing", system, interrupted),
    ]
}

fn both(mut job: Job, scheduler: Scheduler) -> Job {
    job.scheduler = scheduler;
    job
}

fn failure(job: Job) -> String {
    run(job).failure.expect("a failure")
}

fn wrong_statement(server: &mut Server) {
    let source =
        "function event()\n  local con = sysbench.sql.driver():connect()\n  con:query('SELEC 1')\nend";
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let message = failure(both(job(server, "wrong.lua", source, "run"), scheduler));
        assert!(message.contains("wrong.lua:3"), "{message}");
        assert!(message.contains("SELEC"), "{message}");
    }
}

fn wrong_password(server: &mut Server) {
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

fn nobody_there(server: &mut Server) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = both(builtin(server, "oltp_point_select", "run"), scheduler);
        job.target.addresses = vec![Address::Unix("/no/such/socket".into())];
        let message = failure(job);
        assert!(message.contains("/no/such/socket"), "{message}");
    }
}

fn near_misses(server: &mut Server) {
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

fn killed(server: &mut Server) {
    let mut job = job(server, "endless", ENDLESS, "run");
    job.connections = 4;
    let pid = server.access().pid;
    let story = run_and_once_it_works(job, &AtomicBool::new(false), || send(pid, Signal::KILL));
    let message = story.failure.expect("a failure");
    assert!(message.contains("connection"), "{message}");
    assert!(story.total.is_some_and(|total| total.counts.events > 0), "what was measured is kept");
}

fn hangs(server: &mut Server) {
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
fn interrupted(server: &mut Server) {
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
