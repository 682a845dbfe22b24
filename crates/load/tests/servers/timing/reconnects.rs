//! Loads that continue when their connections are lost.

use std::sync::atomic::{AtomicBool, Ordering};

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Frame, Job, Scheduler, TIMELINE_BIN_SECONDS, Total, run_job};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::bench::{job, run};

const CONNECTIONS: u32 = 4;

/// A script that prepares its statement. The prepared statement is lost with the connection.
const EVENTS: &str = "
function thread_init()
  con = sysbench.sql.driver():connect()
  statement = con:prepare('SELECT 1')
end
function event() statement:execute() end
function thread_done() statement:close() con:disconnect() end
";

fn reconnecting(server: &Server, source: &str) -> Job {
    Job {
        connections: CONNECTIONS,
        scheduler: Scheduler::Event,
        lost_connections: dyno_load::LostConnections::Reconnect,
        ..job(server, "reconnecting", source, "run")
    }
}

/// Ends every session on the server except the session that runs this.
fn kill_sessions(server: &Server) {
    if server.access().engine == "postgres" {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        server.query(sql).expect("ended sessions");
        return;
    }
    let sql = "SELECT id FROM information_schema.processlist WHERE user = SUBSTRING_INDEX(USER(), '@', 1)
               AND id <> CONNECTION_ID()";
    for id in server.query(sql).expect("sessions").rows.into_iter().flatten().flatten() {
        // This fails if the session has ended meanwhile. It may be the session of an earlier query of this test.
        let _ = server.query(&format!("KILL {id}"));
    }
}

/// Runs a load, and calls `disturb` once an event has ended. Ends the load when all connections have reconnected and
/// events continue to end. If `ends_at_once` is true, ends the load right after `disturb`.
fn through(job: Job, disturb: impl Fn(), ends_at_once: bool) -> Total {
    let stop = AtomicBool::new(false);
    let (mut is_disturbed, mut reconnects, mut total) = (false, 0, None);
    run_job(Job { tick_seconds: 0.1, ..job }, &stop, &mut |frame| match frame {
        Frame::Tick(tick) => {
            reconnects += tick.counts.reconnects;
            if !is_disturbed && tick.counts.events > 0 {
                disturb();
                is_disturbed = true;
                stop.store(ends_at_once, Ordering::Relaxed);
            } else if reconnects >= u64::from(CONNECTIONS) && tick.counts.events > 0 {
                stop.store(true, Ordering::Relaxed);
            }
        }
        Frame::Finished(finished) => total = Some(finished),
        Frame::Failed { message, .. } => panic!("{message}"),
        _ => {}
    });
    total.expect("a total")
}

#[dyno_test(servers(SYSTEMS))]
fn a_load_that_reconnects_goes_on_when_its_connections_are_killed(server: &mut Server) {
    let total = through(reconnecting(server, EVENTS), || kill_sessions(server), false);
    let counts = total.counts;
    assert!(counts.reconnects >= u64::from(CONNECTIONS), "{counts:?}");
    // Every connection has a failed event. Even if its session was ended between two statements, the next statement
    // fails.
    assert!(counts.failed >= u64::from(CONNECTIONS), "{counts:?}");
    assert_eq!(total.error_codes.values().sum::<u64>(), counts.failed, "{:?}", total.error_codes);
    assert!(total.censored.histogram().len() >= counts.failed, "each with its age");
    let on_timeline: u64 = total.timeline.iter().map(|events| u64::from(*events)).sum();
    assert!(on_timeline >= counts.events, "{on_timeline} {counts:?}");
    assert!(total.timeline.len() as f64 * TIMELINE_BIN_SECONDS < total.seconds + 60.0);
}

#[dyno_test(servers(SYSTEMS))]
fn a_scripts_own_loop_goes_on_too(server: &mut Server) {
    let source = "

function thread_init() con = sysbench.sql.driver():connect() end
function thread_run(tid)
  while ffi.C.sb_more_events(tid) do
    ffi.C.sb_event_start(tid)
    con:query('SELECT 1')
    ffi.C.sb_event_stop(tid)
  end
end
";
    let total = through(reconnecting(server, source), || kill_sessions(server), false);
    assert!(total.counts.reconnects >= u64::from(CONNECTIONS), "{:?}", total.counts);
}

#[dyno_test(servers(SYSTEMS))]
fn a_script_that_is_wrong_fails_a_load_that_reconnects(server: &mut Server) {
    let source = "function event() sysbench.sql.driver():connect():query('SELEC 1') end";
    let message = run(reconnecting(server, source)).failure.expect("a failure");
    assert!(message.contains("SELEC"), "{message}");
}

#[dyno_test(servers(SYSTEMS))]
fn a_load_ends_while_its_server_is_gone(server: &mut Server) {
    let total = through(reconnecting(server, EVENTS), || server.crash(&mut || {}), true);
    assert!(total.counts.events > 0 && total.unfinished == 0, "{:?} {}", total.counts, total.unfinished);
    server.restart().expect("a restart");
}
