//! Queries that a script sends on one connection while it uses another.

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::ask::{SCHEDULERS, answer, ask, execute};
use crate::bench::{job, run};

#[dyno_test(servers(SYSTEMS))]
fn a_sent_query_waits_while_another_connection_works(server: &mut Server) {
    execute(server, &["CREATE TABLE sent (id INT PRIMARY KEY, n INT)"]);
    // The update waits for a lock that only the other connection can release.
    let code = "
        con:query('DELETE FROM sent')
        con:query('INSERT INTO sent VALUES (1, 0)')
        local other = sysbench.sql.driver():connect()
        con:query('BEGIN')
        con:query('UPDATE sent SET n = 1 WHERE id = 1')
        other:send('UPDATE sent SET n = n + 10 WHERE id = 1')
        con:query('COMMIT')
        other:receive()
        print(con:query_row('SELECT n FROM sent'))
        other:send('SELECT 5')
        print(other:receive():fetch_row()[1])
        other:send('SELECT 7')
        print(other:query_row('SELECT 8'))
        print(select(2, pcall(other.receive, other)))
        other:send('SELECT missing FROM sent')
        local is_right, failure = pcall(other.receive, other)
        print(is_right, failure:match('SQL error') ~= nil)
        print(other:query_row('SELECT 9'))
        other:send('SELECT 6')
        other:disconnect()";
    for scheduler in SCHEDULERS {
        let mut job = ask(server, code);
        job.scheduler = scheduler;
        let printed = answer(job).expect("an event");
        let expected = ["11", "5", "8", "no query was sent: call send() first", "false\ttrue", "9"];
        assert_eq!(printed, expected, "{scheduler:?}");
    }
    execute(server, &["DROP TABLE sent"]);
}

/// The first query's answer arrives while the second query's answer is awaited.
#[dyno_test(servers(SYSTEMS))]
fn the_latency_of_a_sent_query_is_from_when_it_was_sent(server: &mut Server) {
    let wait = if server.access().engine == "postgres" { "pg_sleep" } else { "SLEEP" };
    let source = format!(
        "function thread_init() con, other = sysbench.sql.driver():connect(), sysbench.sql.driver():connect() end
         function event() other:send('SELECT {wait}(0.02)') con:query('SELECT {wait}(0.05)') other:receive() end"
    );
    for scheduler in SCHEDULERS {
        let mut job = job(server, "sent", &source, "run");
        (job.events, job.scheduler) = (Some(5), scheduler);
        let total = run(job).success();
        assert_eq!((total.counts.events, total.counts.reads), (5, 10), "{scheduler:?}");
        let reads = total.statements.reads.histogram();
        assert!(reads.min() >= 20_000, "{scheduler:?}: {} µs", reads.min());
        assert!(reads.max() <= total.latency.histogram().max(), "{scheduler:?}: {} µs", reads.max());
    }
}
