//! The command on real servers. Its counts are compared with the server's own counts.

mod support;
#[path = "support/until.rs"]
mod until;

use std::net::TcpListener;
use std::process::ExitCode;

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_testing::dyno_test;
use support::{number_after, sysbench};
use until::sysbench_until_there_is;

fn main() -> ExitCode {
    dyno_testing::main(&[])
}

const TABLES: &[&str] = &["--tables=2", "--table-size=100", "--threads=2"];

/// The options for a server, over its socket or over TCP.
fn mysql(server: &Server, tcp: bool) -> Vec<String> {
    let access = server.access();
    let place = if tcp {
        vec!["--mysql-host=127.0.0.1".to_owned(), format!("--mysql-port={}", access.port)]
    } else {
        vec![format!("--mysql-socket={}", access.socket.display())]
    };
    let account = [format!("--mysql-user={}", access.user), format!("--mysql-password={}", access.password)];
    place.into_iter().chain(account).collect()
}

fn call(server: &[String], arguments: &[&[&str]]) -> support::Outcome {
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    sysbench(&[&[&server[..]], arguments].concat())
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn a_workload_runs_over_a_socket_and_over_tcp(server: &mut Server) {
    for place in [mysql(server, false), mysql(server, true)] {
        call(&place, &[&["oltp_read_write"], TABLES, &["prepare"]]).success();
        call(&place, &[&["oltp_read_write"], TABLES, &["--events=5", "--io=epoll", "run"]]).success();
        let out = call(&place, &[&["oltp_read_write"], TABLES, &["--events=50", "run"]]).success();
        assert_eq!(number_after(&out, "transactions:") as u32, 50);
        assert!(number_after(&out, "read:") as u32 >= 700, "{out}");
        call(&place, &[&["oltp_read_write"], TABLES, &["cleanup"]]).success();
    }
    let wrong = call(&mysql(server, false), &[&["oltp_read_write", "--mysql-password=wrong", "run"]]);
    assert!(wrong.status == 1 && wrong.err.is_empty() && wrong.out.contains("error 1045"), "{wrong:?}");
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn errors_are_ignored_if_the_options_say_so(server: &mut Server) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("restart.lua");
    let text = "
        function thread_init() con = sysbench.sql.driver():connect() end
        local n = 0
        function event()
          n = n + 1
          if n % 2 == 1 then con:query('SELECT * FROM no_such_table') end
        end";
    std::fs::write(&script, text).expect("a script");
    let script = [script.to_str().expect("a path in UTF-8"), "--events=5"];
    let place = mysql(server, false);
    let fatal = call(&place, &[&script, &["run"]]);
    assert!(fatal.status == 1 && fatal.out.contains("restart.lua:6: SQL error, errno = 1146"), "{fatal:?}");
    let out = call(&place, &[&script, &["--mysql-ignore-errors=1146", "run"]]).success();
    assert_eq!(number_after(&out, "ignored errors:") as u32, 5);
    let json = call(&place, &[&script, &["--mysql-ignore-errors=all", "--format=json", "run"]]).success();
    assert!(json.contains("\"error_codes\":{\"1146\":5}"), "{json}");
}

/// An error of the server is printed as one line without control characters. The script's own output is printed
/// unchanged.
#[dyno_test(servers(&["mariadb@10.11"]))]
fn what_the_server_says_is_shown_and_not_obeyed(server: &mut Server) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("signal.lua");
    let text = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event()
          print('\\27[1mown\\27[0m')
          con:query(\"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a\\27[2J\\nFATAL: forged\\226\\128\\174b'\")
        end";
    std::fs::write(&script, text).expect("a script");
    let script = [script.to_str().expect("a path in UTF-8"), "--events=1", "run"];
    let fatal = call(&mysql(server, false), &[&script]);
    // The server itself escapes some of the characters. The query, which Dyno adds, contains all of them.
    assert!(fatal.status == 1 && fatal.out.contains(r"[2J\nFATAL: forged\u{202e}b, for query"), "{fatal:?}");
    assert!(fatal.out.contains(r"'a\u{1b}[2J FATAL: forged\u{202e}b'"), "{fatal:?}");
    assert!(fatal.out.contains("\u{1b}[1mown\u{1b}[0m\n"), "{fatal:?}");
    assert!(!fatal.out.replace("\u{1b}[1mown\u{1b}[0m", "").contains('\u{1b}'), "{fatal:?}");
    assert!(!fatal.out.lines().any(|line| line.starts_with("FATAL: forged")), "{fatal:?}");
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn what_does_not_end_in_time_is_dropped(server: &mut Server) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("slow.lua");
    let text = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event() con:query('SELECT SLEEP(60)') end";
    std::fs::write(&script, text).expect("a script");
    let options = [script.to_str().expect("a path in UTF-8"), "--time=0.2", "--forced-shutdown=0", "run"];
    let late = call(&mysql(server, false), &[&options]);
    assert_eq!(late.status, 2, "{late:?}");
    assert!(late.out.contains("\nNumber of unfinished transactions on forced shutdown: 1\n"), "{late:?}");
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn every_call_is_printed_if_the_options_say_so(server: &mut Server) {
    let place = mysql(server, false);
    let options = ["oltp_point_select", "--tables=1", "--table-size=10", "--mysql-debug"];
    let out = call(&place, &[&options, &["prepare"]]).success();
    assert!(out.contains("connection 0: query CREATE TABLE sbtest1"), "{out}");
    let out = call(&place, &[&options, &["--events=1", "run"]]).success();
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("DEBUG: thread 0")).collect();
    assert_eq!(lines[0], "DEBUG: thread 0: connect -> connection 0");
    assert!(lines.iter().any(|line| line.contains(": prepare SELECT c FROM sbtest1 WHERE id=?")), "{out}");
    assert!(lines.iter().any(|line| line.contains(": execute ") && line.ends_with(" -> rows")), "{out}");
    assert!(!out.contains(&server.access().password), "{out}");
    let wrong = call(&place, &[&["oltp_point_select", "--tables=9", "--mysql-debug", "run"]]);
    assert!(wrong.status == 1 && wrong.out.contains("-> error 1146 (42S02)"), "{wrong:?}");
    call(&place, &[&options, &["cleanup"]]).success();
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn what_was_measured_until_a_stop_is_reported(server: &mut Server) {
    let place = mysql(server, false);
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let folder = tempfile::tempdir().unwrap();
    let (script, begun) = (folder.path().join("script.lua"), folder.path().join("begun"));
    let text = format!(
        "local n = 0
         function thread_init() con = sysbench.sql.driver():connect() end
         function event()
           con:query('SELECT 1')
           n = n + 1
           if n == 2 then io.open('{}', 'w'):close() end
         end",
        begun.display()
    );
    std::fs::write(&script, text).unwrap();
    let arguments: [&[&str]; 3] = [&place, &[script.to_str().unwrap()], &["--time=600", "run"]];
    let out = sysbench_until_there_is(&begun, &arguments).success();
    assert!(number_after(&out, "transactions:") > 0.0 && number_after(&out, "total time:") < 600.0, "{out}");
}

fn pgsql(server: &Server) -> [String; 5] {
    let access = server.access();
    [
        "--db-driver=pgsql".to_owned(),
        "--pgsql-host=127.0.0.1".to_owned(),
        format!("--pgsql-port={}", access.port),
        format!("--pgsql-user={}", access.user),
        format!("--pgsql-password={}", access.password),
    ]
}

/// Checks a hook that counts orders as TPC-C scripts do. The hook opens a connection of its own, and reads the rows of
/// only some results.
fn check_hooks(place: &[String]) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("orders.lua");
    let text = "
        function prepare() sysbench.sql.driver():connect():query('CREATE TABLE orders (id INT)') end
        function cleanup() sysbench.sql.driver():connect():query('DROP TABLE orders') end
        function thread_init() con = sysbench.sql.driver():connect() end
        function event() con:query('INSERT INTO orders VALUES (1)') end
        function sysbench.hooks.report_cumulative(stat)
          if not con then thread_init() end
          local stmt = con:prepare('SELECT id FROM orders WHERE id = 1')
          local rs = stmt:execute()
          local counted = con:query_row('SELECT COUNT(*) FROM orders')
          con:query('DELETE FROM orders')
          print('orders', counted, stat.events, stat.writes, stat.reads, con:query_row('SELECT COUNT(*) FROM orders'))
        end";
    std::fs::write(&script, text).expect("a script");
    let script = [script.to_str().expect("a path in UTF-8"), "--threads=2", "--events=20"];
    call(place, &[&script, &["prepare"]]).success();
    let out = call(place, &[&script, &["run"]]).success();
    assert!(out.contains("\norders\t20\t20\t20\t0\t0\n"), "{out}");
    call(place, &[&script, &["cleanup"]]).success();
    // The table is dropped. The events do not need it. The hook needs it, and its failure is reported with the reason.
    let text = "function event() end
        function sysbench.hooks.report_cumulative() sysbench.sql.driver():connect():query('SELECT * FROM orders') end";
    std::fs::write(script[0], text).expect("a script");
    let out = call(place, &[&script, &["run"]]).success();
    assert!(
        out.contains("WARNING: a report hook failed") && out.contains("for query 'SELECT * FROM orders'"),
        "{out}"
    );
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn report_hooks_query_mariadb(server: &mut Server) {
    check_hooks(&mysql(server, false));
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn report_hooks_query_postgres(server: &mut Server) {
    check_hooks(&pgsql(server));
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn a_workload_runs_on_postgres(server: &mut Server) {
    let place = pgsql(server);
    call(&place, &[&["oltp_read_write"], TABLES, &["prepare"]]).success();
    let out = call(&place, &[&["oltp_read_write"], TABLES, &["--events=50", "run"]]).success();
    assert_eq!(number_after(&out, "transactions:") as u32, 50);
}

/// Checks which parameter type the server sees for each declared type. Where sysbench has a type, the expected
/// value is that of sysbench 1.0.20.
#[dyno_test(servers(&["postgres@18.4"]))]
fn parameters_are_declared_as_sysbench_does(server: &mut Server) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("types.lua");
    let text = "
        local t = sysbench.sql.type
        function prepare()
          local con = sysbench.sql.driver():connect()
          for _, name in ipairs({ 'TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'FLOAT', 'DOUBLE', 'CHAR', 'VARCHAR',
              'DATE', 'TIMESTAMP' }) do
            local inferred = t[name] < t.CHAR and t[name] > t.DOUBLE and name:lower() or 'text'
            local statement = con:prepare('SELECT CAST(? AS ' .. inferred .. ') AS ' .. name)
            local parameter = statement:bind_create(t[name], 20)
            statement:bind_param(parameter)
            parameter:set(inferred == 'text' and 1 or '2020-01-02')
            statement:execute()
          end
          local rows = con:query([[SELECT substring(statement FROM ' AS ([A-Z]+)$'), parameter_types::text
            FROM pg_prepared_statements ORDER BY prepare_time]])
          for _ = 1, rows.nrows do print(table.concat(rows:fetch_row(), ' ')) end
        end";
    std::fs::write(&script, text).expect("a script");
    let script = script.to_str().expect("a path in UTF-8");
    let out = call(&pgsql(server), &[&[script, "prepare"]]).success();
    let declared: Vec<&str> = out.lines().filter(|line| line.contains('{')).collect();
    assert_eq!(
        declared,
        [
            "TINYINT {bigint}",
            "SMALLINT {bigint}",
            "INT {bigint}",
            "BIGINT {bigint}",
            "FLOAT {\"double precision\"}",
            "DOUBLE {\"double precision\"}",
            "CHAR {\"character varying\"}",
            "VARCHAR {\"character varying\"}",
            "DATE {date}",
            "TIMESTAMP {\"timestamp without time zone\"}",
        ],
        "{out}"
    );
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn a_script_connects_at_its_top_level(server: &mut Server) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("top.lua");
    let text = "
        con = sysbench.sql.driver():connect()
        statement = con:prepare('SELECT ?')
        parameter = statement:bind_create(sysbench.sql.type.INT)
        statement:bind_param(parameter)
        function event() parameter:set(7) statement:execute() end
        function prepare() print('the answer is', con:query_row('SELECT 6 * 7')) end";
    std::fs::write(&script, text).expect("a script");
    let script = script.to_str().expect("a path in UTF-8");
    let place = pgsql(server);
    let out = call(&place, &[&[script, "prepare"]]).success();
    assert!(out.ends_with("the answer is\t42\n"), "{out}");
    let out = call(&place, &[&[script, "--threads=3", "--events=30", "run"]]).success();
    assert_eq!((number_after(&out, "transactions:") as u32, number_after(&out, "read:") as u32), (30, 30));
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn oltp_insert_begins_with_empty_tables(server: &mut Server) {
    let place = pgsql(server);
    let folder = tempfile::tempdir().expect("a folder");
    let count = folder.path().join("count.lua");
    let counting = "print('rows', sysbench.sql.driver():connect():query_row('SELECT COUNT(*) FROM sbtest1'))";
    std::fs::write(&count, counting).expect("a script");
    let count = count.to_str().expect("a path in UTF-8");
    for (auto_inc, rows) in [("--auto-inc=off", "rows\t0\n"), ("--auto-inc=on", "rows\t100\n")] {
        let insert = ["oltp_insert", auto_inc, "--table-size=100"];
        call(&place, &[&insert, &["prepare"]]).success();
        let out = call(&place, &[&[count]]).success();
        assert!(out.ends_with(rows), "{out}");
        call(&place, &[&insert, &["--events=20", "run"]]).success();
        call(&place, &[&insert, &["cleanup"]]).success();
    }
}

/// Checks that a list of addresses works although no server listens at the first address, the second name does not
/// exist, and the server at the third address is silent.
#[dyno_test(servers(&["postgres@18.4"]))]
fn the_first_host_of_a_list_that_accepts_is_found(server: &mut Server) {
    let access = server.access();
    let account = [
        "--db-driver=pgsql".to_owned(),
        format!("--pgsql-port={}", access.port),
        format!("--pgsql-user={}", access.user),
        format!("--pgsql-password={}", access.password),
    ];
    let account: Vec<&str> = account.iter().map(String::as_str).collect();
    let _silent = TcpListener::bind(("127.0.0.10", access.port)).expect("an address without servers");
    let prepare = ["oltp_point_select", "--tables=1", "--table-size=10"];
    for scheduler in ["--scheduler=event", "--scheduler=thread"] {
        let hosts = "--pgsql-host=127.0.0.9,no.such.host.invalid,127.0.0.10,127.0.0.1";
        for command in ["prepare", "run", "cleanup"] {
            let options = [hosts, "--connect-timeout=0.5", "--events=5", scheduler, command];
            sysbench(&[&prepare, &account, &options]).success();
        }
    }
    let nobody = sysbench(&[&prepare, &account, &["--pgsql-host=127.0.0.9,127.0.0.8", "prepare"]]);
    let all = [nobody.out, nobody.err].concat();
    assert!(all.contains("cannot connect to 127.0.0.9:") && all.contains(", 127.0.0.8:"), "{all}");
}
