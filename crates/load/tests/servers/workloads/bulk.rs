//! Bulk inserts of commands. They run ahead of the server: a statement is built while the server works on the previous
//! one.

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::Job;
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::ask::{SCHEDULERS, execute};
use crate::bench::{job, run};

const ROWS: &str = "
function rows(con, first, last)
   con:bulk_insert_init('INSERT INTO bulk VALUES')
   for id = first, last do con:bulk_insert_next(string.format(\"(%d, '%s')\", id, ('w'):rep(100))) end
end
";

fn commands<'a>(server: &'a Server, body: &str) -> impl Iterator<Item = Job> + use<'a> {
    let source =
        format!("{ROWS} function prepare() local con = sysbench.sql.driver():connect()\n{body}\nend");
    SCHEDULERS.iter().map(move |&scheduler| Job { scheduler, ..job(server, "bulk", &source, "prepare") })
}

#[dyno_test(servers(SYSTEMS))]
fn bulk_inserts_run_ahead_of_the_server_and_lose_nothing(server: &mut Server) {
    execute(server, &["CREATE TABLE bulk (id INT PRIMARY KEY, word VARCHAR(100))"]);
    // The count in the middle, the rollback and the disconnect each wait for statements in flight.
    let body = "
        rows(con, 1, 12000)
        print(tonumber(con:query_row('SELECT COUNT(*) FROM bulk')) > 0)
        con:bulk_insert_done()
        print(con:query_row('SELECT COUNT(*), MAX(id) FROM bulk'))
        con:query('BEGIN')
        rows(con, 20001, 32000)
        con:query('ROLLBACK')
        print(con:query_row('SELECT COUNT(*) FROM bulk'))
        con:query('DELETE FROM bulk')
        rows(con, 1, 6000)
        con:disconnect()
        con = sysbench.sql.driver():connect()
        local left = tonumber(con:query_row('SELECT COUNT(*) FROM bulk'))
        print(left > 4000 and left < 6000)
        con:query('DELETE FROM bulk')";
    for job in commands(server, body) {
        let scheduler = job.scheduler;
        let story = run(job);
        assert_eq!(story.failure, None, "{scheduler:?}");
        assert_eq!(story.printed, ["true", "12000\t12000", "12000", "true"], "{scheduler:?}");
        // At least two statements of the second insert and one of the third were sent.
        let rows = story.total.expect("a total").counts.rows;
        assert!((12_000 + 8_000 + 4_000..12_000 + 12_000 + 6_000).contains(&rows), "{scheduler:?}: {rows}");
    }
    execute(server, &["DROP TABLE bulk"]);
}

#[dyno_test(servers(SYSTEMS))]
fn an_error_behind_a_bulk_insert_is_that_of_its_statement(server: &mut Server) {
    execute(
        server,
        &["CREATE TABLE bulk (id INT PRIMARY KEY, word VARCHAR(100))", "INSERT INTO bulk VALUES (1, 'x')"],
    );
    let body = "
        local failed, message = pcall(function() rows(con, 1, 12000) con:bulk_insert_done() end)
        print(failed, type(message) == 'table' or message:match('^bulk:%d+: SQL error') ~= nil)
        print(con:query_row('SELECT COUNT(*) FROM bulk'))";
    for job in commands(server, body) {
        let scheduler = job.scheduler;
        let story = run(job);
        assert_eq!(
            (story.failure, story.printed),
            (None, vec!["false\ttrue".to_owned(), "1".to_owned()]),
            "{scheduler:?}"
        );
    }
    execute(server, &["DROP TABLE bulk"]);
}

/// Servers that accept rows of TPC-H as lines (`COPY`, `LOAD DATA LOCAL`). A value that does not fit into a column
/// is an error, even if the server would only truncate it with a warning.
#[dyno_test(servers(SYSTEMS))]
fn lines_are_loaded_whole_or_not_at_all(server: &mut Server) {
    let is_postgres = server.access().engine == "postgres";
    let wide = "CREATE TABLE nation (n_nationkey INT PRIMARY KEY, n_name VARCHAR(25), n_regionkey INT, n_comment VARCHAR(152))";
    let refusal = if is_postgres { "value too long" } else { "the server took the data with 25 warnings" };
    for (create, expected) in [(wide.to_owned(), None), (wide.replace("152", "5"), Some(refusal))] {
        let body = "
            require('dyno.tpch').insert(con, 'nation', 1)
            print(con:query_row('SELECT COUNT(*), MAX(n_name) FROM nation'))";
        for job in commands(server, body) {
            let scheduler = job.scheduler;
            execute(server, &[&create]);
            let story = run(job);
            match expected {
                None => {
                    assert_eq!((story.failure, story.printed), (None, vec!["25\tVIETNAM".to_owned()]));
                    assert_eq!(story.total.expect("a total").counts.rows, 25, "{scheduler:?}");
                }
                Some(words) => {
                    let failure = story.failure.expect("a failure");
                    assert!(failure.contains(words), "{scheduler:?}: {failure}");
                }
            }
            execute(server, &["DROP TABLE nation"]);
        }
    }
}
