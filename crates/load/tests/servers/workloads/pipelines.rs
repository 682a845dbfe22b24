//! Pipelines in scripts of pgbench. They change the same rows as in pgbench, and errors name the statement that
//! fails.

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Job, Scheduler};
use dyno_testing::dyno_test;

use super::beside_pgbench;
use super::pgbench::{EVENTS, job, query, rows_of_pgbench, run_one, take_rows};
use crate::bench::{run, target};

#[dyno_test(servers(&["mariadb@10.11", "mysql@5.6.24", "mysql@9.7.4", "mariadb@10.11/rocksdb"]))]
fn pipelines_need_postgres(server: &mut Server) {
    let script = "\\startpipeline\nSELECT 1;\n\\endpipeline";
    let failure = run_one(&target(server), script, &[("protocol", "prepared")]).failure.expect("a refusal");
    assert!(failure.contains("one.pgbench:1:1: \\startpipeline needs PostgreSQL"), "{failure}");
}

const SAME: &str = "
\\set n :n + 1
\\startpipeline
\\set number random(1, 1000)
BEGIN;
INSERT INTO noted (client, n, numbers) VALUES (:client_id, :n, ARRAY[:number]::bigint[]);
SELECT count(*) FROM noted;
\\set number random(1, 1000)
UPDATE noted SET ratio = :number WHERE client = :client_id AND n = :n;
END;
\\endpipeline
SELECT 1;
";

#[dyno_test(beside_pgbench)]
fn pipelines_change_the_same_rows(server: &mut Server) {
    let target = target(server);
    query(&target, "CREATE TABLE noted (client int, n int, numbers bigint[], ratio double precision)");
    for protocol in ["extended", "prepared"] {
        let expected = rows_of_pgbench(server, SAME, 1, protocol);
        assert_eq!(expected.len() as u64, EVENTS);
        let options = [("protocol", protocol), ("n", "0"), ("scale", "3")];
        for scheduler in [Scheduler::Event, Scheduler::Thread] {
            let job = Job { scheduler, ..job(&target, &[("same.pgbench", SAME)], &options) };
            let counts = run(job).success().counts;
            assert_eq!(take_rows(server), expected, "{protocol} {scheduler:?}");
            let counted = (counts.events, counts.reads, counts.writes, counts.others);
            assert_eq!(counted, (EVENTS, 2 * EVENTS, 2 * EVENTS, 2 * EVENTS), "{protocol} {scheduler:?}");
        }
    }
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn pipelines_name_the_statement_that_fails(server: &mut Server) {
    let target = target(server);
    query(&target, "CREATE TABLE counted (id INTEGER PRIMARY KEY, n INTEGER)");
    let script = "\\startpipeline\nINSERT INTO counted VALUES (1, 0);\n\\syncpipeline\n\
        INSERT INTO counted VALUES (2, 0);\nINSERT INTO counted VALUES (1, 1);\n\
        INSERT INTO counted VALUES (3, 0);\n\\syncpipeline\nINSERT INTO counted VALUES (4, 0);\n\\endpipeline";
    for protocol in ["extended", "prepared"] {
        query(&target, "DELETE FROM counted");
        let failure = run_one(&target, script, &[("protocol", protocol)]).failure.expect("a failure");
        assert!(
            failure.starts_with("one.pgbench:5: SQL error, errno = 0, state = '23505': duplicate key"),
            "{protocol}: {failure}"
        );
        // The statements between two points of synchronization are one transaction.
        let rows = query(&target, "SELECT id, n FROM counted ORDER BY id");
        let row = |id: &str| vec![Some(id.to_owned()), Some("0".to_owned())];
        assert_eq!(rows, [row("1"), row("4")], "{protocol}");
    }
    for (script, expected) in [
        (
            "\\startpipeline\nSELECT 1 AS a \\gset\n\\endpipeline",
            "one.pgbench:2: \\gset needs an answer at once",
        ),
        ("SELECT 1;\n\\startpipeline\nSELECT nonsense;\n\\endpipeline", "one.pgbench:"),
    ] {
        let failure = run_one(&target, script, &[("protocol", "prepared")]).failure.expect("a failure");
        assert!(failure.starts_with(expected), "{failure}");
    }
    let simple =
        run_one(&target, "\\startpipeline\nSELECT 1;\n\\endpipeline", &[]).failure.expect("a refusal");
    assert!(simple.contains("needs --protocol=extended or prepared"), "{simple}");
}

/// Two clients whose transactions fail by serialization are tried again.
#[dyno_test(servers(&["postgres@18.4"]))]
fn pipelines_are_tried_again(server: &mut Server) {
    let target = target(server);
    query(&target, "CREATE TABLE counted (id INTEGER PRIMARY KEY, n INTEGER)");
    query(&target, "INSERT INTO counted VALUES (1, 0), (2, 0)");
    let script = "\\startpipeline
        BEGIN ISOLATION LEVEL REPEATABLE READ;
        SELECT n FROM counted WHERE id = 1;
        SELECT pg_sleep(0.002);
        UPDATE counted SET n = n + 1 WHERE id = 1;
        UPDATE counted SET n = n + 1 WHERE id = 2;
        COMMIT;
        \\endpipeline";
    let options = [("max_tries", "0"), ("protocol", "prepared")];
    let counts =
        run(Job { connections: 2, ..job(&target, &[("tried.pgbench", script)], &options) }).success().counts;
    assert_eq!(counts.events, EVENTS);
    assert!(counts.errors > 0, "they never met");
    // The failed attempts were rolled back.
    let expected = Some(EVENTS.to_string());
    assert_eq!(query(&target, "SELECT n FROM counted"), [[expected.clone()], [expected]]);
}

/// The pipeline and its answers are both larger than the buffers of sockets.
#[dyno_test(servers(&["postgres@18.4"]))]
fn pipelines_may_be_long(server: &mut Server) {
    const STATEMENTS: u64 = 3000;
    let statements = "SELECT repeat('x', 2000);\n".repeat(STATEMENTS as usize);
    let script = format!("\\startpipeline\n{statements}\\endpipeline");
    for protocol in ["extended", "prepared"] {
        let counts = run_one(&target(server), &script, &[("protocol", protocol)]).success().counts;
        assert_eq!((counts.events, counts.reads), (1, STATEMENTS), "{protocol}");
    }
}
