//! Runs Lua code once on a connection, and returns what the code prints.

use dyno_engine::Server;
use dyno_load::{Job, Scheduler};

use crate::bench::{job, over_tcp, run};

/// Both ways to run a connection: on an event loop and on a thread.
pub(crate) const SCHEDULERS: [Scheduler; 2] = [Scheduler::Event, Scheduler::Thread];

/// A job of one event. The event opens a connection `con`, then runs `code`.
pub(crate) fn ask(server: &Server, code: &str) -> Job {
    let source = ["function event()\n local con = sysbench.sql.driver():connect()\n", code, "\nend"].concat();
    let mut job = job(server, "ask", &source, "run");
    job.events = Some(1);
    job
}

/// A job in four ways: by socket and by port, each on an event loop and on a thread.
pub(crate) fn every_way(job: &Job, server: &Server) -> Vec<Job> {
    let ways = [job.clone(), over_tcp(job.clone(), server)];
    ways.iter().flat_map(on_every_scheduler).collect()
}

/// A job in two ways: on an event loop and on a thread.
pub(crate) fn on_every_scheduler(job: &Job) -> Vec<Job> {
    SCHEDULERS.map(|scheduler| Job { scheduler, ..job.clone() }).into()
}

/// What a job printed, or the message with which it failed.
pub(crate) fn answer(job: Job) -> Result<Vec<String>, String> {
    let story = run(job);
    story.failure.map_or(Ok(story.printed), Err)
}

/// Executes statements, each on a connection of its own.
pub(crate) fn execute(server: &Server, statements: &[&str]) {
    for sql in statements {
        server.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}
