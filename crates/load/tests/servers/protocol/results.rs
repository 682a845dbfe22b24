//! Results: several results of one command, wide results, long results, and refused statements.

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::Address;
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::ask::{SCHEDULERS, answer, ask, execute, on_every_scheduler};
use crate::bench::{job, run};

/// Code that prints a summary of `result`, and of the results that follow it.
const PRINT_ALL: &str = "
 local function show(result)
    local row = result:fetch_row()
    print(result.nrows .. ' rows, ' .. result.nfields .. ' fields, first ' .. (row and row[1] or 'none'))
 end
 local function show_all(result)
    show(result)
    while con:more_results() do show(con:next_result()) end
 end
";

fn printed(server: &Server, code: &str) -> Vec<Vec<String>> {
    let job = ask(server, &[PRINT_ALL, code].concat());
    let answer = |job| answer(job).unwrap_or_else(|error| panic!("{error}"));
    on_every_scheduler(&job).into_iter().map(answer).collect()
}

#[dyno_test(servers(SYSTEMS))]
fn gives_each_result_of_several_statements(server: &mut Server) {
    execute(server, &["CREATE TABLE few (id INT)"]);
    let code = "
        show_all(con:query('SELECT 7; DELETE FROM few; INSERT INTO few VALUES (8), (9); SELECT id, 1 FROM few ORDER BY id'))
        show_all(con:query('SELECT 10'))";
    for printed in printed(server, code) {
        assert_eq!(
            printed,
            [
                "1 rows, 1 fields, first 7",
                "0 rows, 0 fields, first none",
                "0 rows, 0 fields, first none",
                "2 rows, 2 fields, first 8",
                "1 rows, 1 fields, first 10",
            ]
        );
    }
}

#[dyno_test(servers(&["mariadb@10.11", "mysql@5.6.24"]))]
fn gives_each_result_of_a_procedure(server: &mut Server) {
    execute(server, &["CREATE PROCEDURE two() BEGIN SELECT 1 UNION SELECT 2; SELECT 3, 4; END"]);
    for call in ["con:query('CALL two()')", "con:prepare('CALL two()'):execute()"] {
        for printed in printed(server, &format!("show_all({call}) print(con:query_row('SELECT 5'))")) {
            let last = ["0 rows, 0 fields, first none", "5"];
            let expected =
                [&["2 rows, 1 fields, first 1", "1 rows, 2 fields, first 3"][..], &last[..]].concat();
            assert_eq!(printed, expected, "{call}");
        }
    }
}

#[dyno_test(servers(&["mariadb@10.11", "mysql@5.6.24"]))]
fn gets_no_file_of_the_clients(server: &mut Server) {
    execute(server, &["CREATE TABLE file_lines (line TEXT)"]);
    let code = "
        local loaded, why = pcall(con.query, con, \"LOAD DATA LOCAL INFILE '/proc/self/stat' INTO TABLE file_lines\")
        print(loaded, why)
        print(con:query_row('SELECT COUNT(*) FROM file_lines'))";
    for printed in printed(server, code) {
        assert!(printed[0].starts_with("false"), "{printed:?}");
        assert_eq!(printed[1], "0");
    }
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn gives_a_result_that_counts_along_with_warnings(server: &mut Server) {
    let code = "
        show_all(con:query(\"SELECT CAST('7 dwarfs' AS INT)\"))
        show_all(con:prepare(\"SELECT CAST('7 dwarfs' AS INT)\"):execute())
        print((select(3, con:query_row('SHOW WARNINGS'))))";
    for printed in printed(server, code) {
        assert_eq!(printed[..2], ["1 rows, 1 fields, first 7", "1 rows, 1 fields, first 7"]);
        assert!(printed[2].contains("7 dwarfs"), "{printed:?}");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn gives_a_result_as_wide_as_it_can_be(server: &mut Server) {
    // These are the limits in the servers' manuals.
    let fields = if server.access().engine == "postgres" { 1664 } else { 4096 };
    let code = format!(
        "local sql = 'SELECT ' .. string.rep('1,', {fields} - 1) .. '2'
         show_all(con:query(sql))
         show_all(con:prepare(sql):execute())
         print((select({fields}, con:query_row(sql))))"
    );
    let row = format!("1 rows, {fields} fields, first 1");
    for printed in printed(server, &code) {
        assert_eq!(printed, [row.as_str(), &row, "2"]);
    }
}

/// Three of six connections use the socket, and three the port.
#[dyno_test(servers(SYSTEMS))]
fn is_called_by_its_addresses_in_turn(server: &mut Server) {
    let way = if server.access().engine == "postgres" {
        "SELECT COALESCE(host(inet_client_addr()), 'socket')"
    } else {
        "SELECT IF(SUBSTRING_INDEX(host, ':', 1) = 'localhost', 'socket', '127.0.0.1')
         FROM information_schema.processlist WHERE id = CONNECTION_ID()"
    };
    let source = format!(
        "function thread_init() con = sysbench.sql.driver():connect(); print(con:query_row([[{way}]])) end
         function event() end"
    );
    for scheduler in SCHEDULERS {
        let mut job = job(server, "addresses", &source, "run");
        let port = server.access().port;
        job.target.addresses.push(Address::Tcp { host: dyno_engine::HOST.to_owned(), port });
        job.connections = 6;
        job.events = Some(6);
        job.scheduler = scheduler;
        let mut ways = run(job).printed;
        ways.sort();
        assert_eq!(
            ways,
            ["127.0.0.1", "127.0.0.1", "127.0.0.1", "socket", "socket", "socket"],
            "{scheduler:?}"
        );
    }
}
