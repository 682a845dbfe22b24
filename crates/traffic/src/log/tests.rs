use std::io::Cursor;

use proptest::prelude::*;

use super::{Event, LogFormat, Trouble};
use crate::error::TrafficError;
use crate::import::read_log;

/// The events of a log, one per line.
fn told(format: Option<LogFormat>, log: &[u8]) -> Vec<String> {
    let mut told = Vec::new();
    let content = Cursor::new(log.to_vec());
    let read = read_log(content, format, &mut |line, event| {
        told.push(format!("{line} {}", words(&event)));
        Ok(())
    });
    read.unwrap();
    told
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words(event: &Event<'_>) -> String {
    match event {
        Event::Statement(statement) => {
            let mut words =
                format!("{} {}: {}", text(statement.session), statement.at_us, text(statement.text));
            for (name, value) in
                [("user", statement.user), ("db", statement.database), ("error", statement.error)]
            {
                words += &value.map_or_else(String::new, |value| format!(" {name}={}", text(value)));
            }
            for (name, value) in [("us", statement.latency_us), ("rows", statement.rows_sent)] {
                words += &value.map_or_else(String::new, |value| format!(" {name}={value}"));
            }
            let bound = statement.bound.iter().map(|value| value.as_deref().map_or("NULL".to_owned(), text));
            bound.fold(words, |words, value| format!("{words} [{value}]"))
        }
        Event::Duration { session, latency_us } => format!("{} took {latency_us}", text(session)),
        Event::Failed(statement) => format!("failed {}", words(&Event::Statement(*statement))),
        Event::Connected { session, user, database, .. } => {
            format!("{} connected {:?} {:?}", text(session), user.map(text), database.map(text))
        }
        Event::Database { session, name } => format!("{} uses {}", text(session), text(name)),
        Event::Closed { session, .. } => format!("{} closed", text(session)),
        Event::Server { .. } => "server".to_owned(),
        Event::Command(name) => format!("command {name}"),
        Event::Unrelated => "unrelated".to_owned(),
        Event::Trouble(trouble) => format!("trouble {}", trouble.name()),
    }
}

#[test]
fn the_eventslog_of_proxysql_is_read() {
    let log = br#"{"client":"127.0.0.1:39840","digest":"0x1","duration_us":8570,"endtime":"2019-07-14 18:04:34.400688","endtime_timestamp_us":1563091474400688,"event":"COM_QUERY","hostgroup_id":0,"query":"select 1","rows_affected":0,"rows_sent":1,"schemaname":"shop","server":"127.0.0.1:3306","starttime":"2019-07-14 18:04:34.392118","starttime_timestamp_us":1563091474392118,"thread_id":2,"username":"app"}
{"duration_us":5,"errno":1062,"event":"COM_STMT_EXECUTE","query":"INSERT INTO t VALUES (?, ?)","parameters":[{"type":"INT24","value":"42"},{"type":"VARCHAR","value":"it's"}],"schemaname":"","starttime_timestamp_us":1563091474500000,"thread_id":3,"username":"app"}
{"event":"COM_STMT_EXECUTE","query":"SELECT a FROM t WHERE b = ?","starttime_timestamp_us":1563091474500000,"thread_id":3}
{"event":"COM_STMT_PREPARE","query":"SELECT a FROM t WHERE b = ?","starttime_timestamp_us":1563091474500000,"thread_id":3}
{"event":"COM_QUERY","query":"SELECT 2","thread_id":3}
{"event":"COM_QUERY","query":"SELECT 3","starttime_timestamp_us":1563091474500000}
{"event":"COM_QUERY","query":"SEL
no JSON
"#;
    assert_eq!(
        told(None, log),
        [
            "1 2 1563091474392118: select 1 user=app db=shop us=8570 rows=1",
            "2 3 1563091474500000: INSERT INTO t VALUES (42, 'it''s') user=app error=1062 us=5",
            "3 command Execute without values",
            "4 command Prepare",
            "5 trouble no_time",
            "6 trouble no_session",
            "7 trouble cut",
            "8 trouble not_recognised",
        ]
    );
}

#[test]
fn the_slow_log_of_mysql_5_6_is_read() {
    let log = b"/usr/sbin/mysqld, Version: 5.6.24 (Source distribution). started with:
Tcp port: 3306  Unix socket: /run/m.sock
Time                 Id Command    Argument
# Time: 261127 13:22:21
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 0.000321  Lock_time: 0.000089 Rows_sent: 1  Rows_examined: 2
use test;
SET timestamp=1795785741;
SELECT a,
  b FROM t;
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 1.500000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET insert_id=5,timestamp=1795785742;
INSERT INTO t VALUES (1);
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 0.000002  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1795785742;
# administrator command: Quit;
";
    assert_eq!(
        told(None, log),
        [
            "1 server",
            "4 8 1795785740999679: SELECT a,\n  b FROM t user=root db=test us=321 rows=1",
            "11 8 1795785740500000: INSERT INTO t VALUES (1) user=root db=test us=1500000 rows=0",
            "15 8 closed",
            "15 command Quit",
        ]
    );
}

#[test]
fn the_slow_log_of_mysql_8_with_its_extra_fields_is_read() {
    let log = b"# Time: 2026-11-27T13:22:21.123456Z
# User@Host: app[app] @  [10.0.0.1]  Id:    11
# Query_time: 0.000164  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0 Thread_id: 11 Errno: 1064 Killed: 0 \
Bytes_received: 0 Bytes_sent: 58 Read_first: 0 Start: 2026-11-27T13:22:21.121238Z End: 2026-11-27T13:22:21.121402Z
SET timestamp=1795785741;
SELECT 1;
";
    assert_eq!(told(None, log), ["1 11 1795785741121238: SELECT 1 user=app error=1064 us=164 rows=1"]);
}

#[test]
fn the_slow_log_of_mariadb_is_read() {
    let log = b"# Time: 261127 13:22:21
# User@Host: root[root] @ localhost []
# Thread_id: 3  Schema: shop  QC_hit: No
# Query_time: 0.000123  Lock_time: 0.000045  Rows_sent: 1  Rows_examined: 1
# Rows_affected: 0  Bytes_sent: 60
#
# explain: id\tselect_type\ttable
# explain: 1\tSIMPLE\tt
#
SET timestamp=1795785741;
# a comment of the client
SELECT 'a;
# b';
# User@Host: root[root] @ localhost []
# Thread_id: 4  Schema:  QC_hit: No
# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
# Rows_affected: 0  Bytes_sent: 0
SET timestamp=1795785741;
# administrator command: Prepare;
";
    assert_eq!(
        told(None, log),
        [
            "1 3 1795785740999877: # a comment of the client\nSELECT 'a;\n# b' user=root db=shop us=123 rows=1",
            "14 command Prepare",
        ]
    );
}

#[test]
fn general_logs_are_read() {
    let old = b"/usr/sbin/mysqld, Version: 10.11.6-MariaDB (Debian 12). started with:
Tcp port: 3306  Unix socket: /run/m.sock
Time\t\t    Id Command\tArgument
261127 13:22:21\t     3 Connect\troot@localhost on test using Socket
\t\t     3 Query\tselect 1,
  2
\t\t     3 Prepare\tselect ?
\t\t     3 Execute\tselect 7
\t\t     3 Init DB\tother
261127 13:22:22\t     3 Quit\t
";
    assert_eq!(
        told(None, old),
        [
            "1 server",
            "4 trouble no_zone",
            "4 3 connected Some(\"root\") Some(\"test\")",
            "4 command Connect",
            "5 3 1795785741000000: select 1,\n  2",
            "7 command Prepare",
            "8 3 1795785741000000: select 7",
            "9 3 uses other",
            "9 command Init DB",
            "10 3 closed",
            "10 command Quit",
        ]
    );
    let new = b"2026-11-27T13:22:21.000001Z\t    8 Query\tSELECT 1\n";
    assert_eq!(told(None, new), ["1 8 1795785741000001: SELECT 1"]);
}

const CSV: &str = "2026-11-27 13:22:21.500 UTC,\"me\",\"shop\",77,\"[local]\",6747.4d,3,\"SELECT\",\
                   2026-11-27 13:22:00 UTC,3/7,0,LOG,00000,";

#[test]
fn csvlog_is_read() {
    let log = format!(
        "{CSV}\"duration: 1.250 ms  statement: SELECT \"\"a\"\",\n 1\",,,,,,,,,\"psql\",\"client backend\",,0\n\
         {CSV}\"execute s1: SELECT $1\",\"Parameters: $1 = 'x, \"\"y\"\"'\",,,,,,,,\"psql\",\"client backend\",,0\n\
         {CSV}\"duration: 0.100 ms\",,,,,,,,,\"psql\",\"client backend\",,0\n\
         {CSV}\"duration: 0.100 ms  bind s1: SELECT $1\",,,,,,,,,\"psql\",\"client backend\",,0\n\
         {}\"syntax error\",,,,,,\"SELEC\",1,,\"psql\",\"client backend\",,0\n",
        CSV.replace("LOG,00000", "ERROR,42601")
    );
    assert_eq!(
        told(None, log.as_bytes()),
        [
            "1 6747.4d 1795785741498750: SELECT \"a\",\n 1 user=me db=shop us=1250",
            "3 6747.4d 1795785741500000: SELECT $1 user=me db=shop [x, \"y\"]",
            "4 6747.4d took 100",
            "5 unrelated",
            "6 failed 6747.4d 1795785741500000: SELEC user=me db=shop error=42601",
        ]
    );
}

#[test]
fn a_record_that_is_cut_does_not_swallow_the_next() {
    let whole = format!("{CSV}\"statement: SELECT 1\",,,,,,,,,\"psql\",\"client backend\",,0\n");
    let log = format!("{CSV}\"statement: SELECT \n{whole}{CSV}\"statement: S");
    assert_eq!(
        told(None, log.as_bytes()),
        ["1 trouble cut", "2 6747.4d 1795785741500000: SELECT 1 user=me db=shop", "3 trouble cut"]
    );
}

#[test]
fn jsonlog_is_read() {
    let log = br#"{"timestamp":"2026-11-27 13:22:21.500 UTC","user":"me","dbname":"shop","pid":7,"session_id":"6747.4d","error_severity":"LOG","message":"execute <unnamed>: SELECT $1","detail":"Parameters: $1 = NULL"}
{"timestamp":"2026-11-27 13:22:21.500 UTC","session_id":"6747.4d","error_severity":"LOG","message":"disconnection: session time: 0:00:00.006 user=me database=shop host=[local]"}
{"timestamp":"2026-11-27 13:22:2
"#;
    assert_eq!(
        told(None, log),
        ["1 6747.4d 1795785741500000: SELECT $1 user=me db=shop [NULL]", "2 6747.4d closed", "3 trouble cut"]
    );
}

#[test]
fn stderr_is_read() {
    let log = b"2026-11-27 13:22:21.500 UTC 77 6747.4d LOG:  connection authorized: user=me database=shop application_name=psql
2026-11-27 13:22:21.500 UTC 77 6747.4d LOG:  statement: SELECT a,
\t  b FROM t
2026-11-27 13:22:21.500 UTC 77 6747.4d LOG:  execute a/b: SELECT $1
2026-11-27 13:22:21.500 UTC 77 6747.4d DETAIL:  Parameters: $1 = '7'
2026-11-27 13:22:21.500 UTC [78] me@shop LOG:  duration: 2.000 ms  execute <unnamed>: SELECT 2
2026-11-27 13:22:21.500 UTC 77 6747.4d ERROR:  relation \"t\" does not exist at character 8
2026-11-27 13:22:21.500 UTC 77 6747.4d HINT:  none
2026-11-27 13:22:21.500 UTC 77 6747.4d STATEMENT:  SELECT * FROM t
2026-11-27 13:22:21.500 UTC 1 LOG:  checkpoint starting: time
nonsense
";
    assert_eq!(
        told(None, log),
        [
            "1 6747.4d connected Some(\"me\") Some(\"shop\")",
            "2 6747.4d 1795785741500000: SELECT a,\n  b FROM t",
            "4 6747.4d 1795785741500000: SELECT $1 [7]",
            "6 78 1795785741498000: SELECT 2 user=me db=shop us=2000",
            "7 failed 6747.4d 1795785741500000: SELECT * FROM t error=ERROR",
            "11 trouble not_recognised",
            "10 unrelated",
        ]
    );
}

#[test]
fn parts_that_cannot_be_read_are_told_with_their_lines() {
    let log = b"rest of an entry;
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 0.000321  Lock_time: 0.000089 Rows_sent: 1  Rows_examined: 2
SET timestamp=1795785741;
SELECT 'never en
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 0.000321  Lock_time: 0.000089 Rows_sent: 1  Rows_examined: 2
SELECT 1;
# User@Host: root[root] @ localhost []
# Query_time: 0.000321  Lock_time: 0.000089 Rows_sent: 1  Rows_examined: 2
SET timestamp=1795785741;
SELECT 2;
# User@Host: root[root] @ localhost []  Id:     8
";
    assert_eq!(
        told(None, log),
        [
            "1 trouble not_recognised",
            "2 trouble cut",
            "6 trouble no_time",
            "9 trouble no_session",
            "13 trouble cut"
        ]
    );
}

#[test]
fn a_statement_of_a_hundred_megabytes_is_told_and_passed_over() {
    let entry = |text: &str| {
        format!("# User@Host: a[a] @ h []  Id: 8\n# Query_time: 0.1\nSET timestamp=1795785741;\n{text};\n")
    };
    let huge = "x".repeat(100 << 20);
    let lines = ("y".repeat(1023) + "\n").repeat(20 << 10);
    let log =
        [entry(&format!("SELECT '{huge}'")), entry(&format!("SELECT '{lines}'")), entry("SELECT 1")].concat();
    let told = told(None, log.as_bytes());
    assert_eq!(told[..2], ["1 trouble too_long", "5 trouble too_long"]);
    assert!(told[2].ends_with(": SELECT 1 user=a us=100000"), "{told:?}");
    assert_eq!(told.len(), 3);
}

#[test]
fn what_is_no_log_is_refused() {
    for content in ["", "hello\nworld\n", "\0\0\0\0"] {
        let read = read_log(Cursor::new(content.as_bytes().to_vec()), None, &mut |_, _| Ok(()));
        assert!(matches!(read, Err(TrafficError::Unknown { .. })), "{content:?}");
    }
}

#[test]
fn every_trouble_is_known_by_its_name() {
    for trouble in Trouble::ALL {
        assert_eq!(Trouble::named(trouble.name()), Some(trouble));
    }
}

proptest! {
    /// No bytes cause a panic in any format, and each event has the number of an existing line.
    #[test]
    fn any_bytes_are_read(
        lines in prop::collection::vec(prop_oneof![
            Just("# User@Host: a[a] @ h []  Id: 8".to_owned()),
            Just("# Query_time: 9  Rows_sent: 1".to_owned()),
            Just("SET timestamp=1795785741;".to_owned()),
            Just("use a;".to_owned()),
            Just("SELECT 1;".to_owned()),
            Just("\t\t 3 Query\tx".to_owned()),
            Just("2026-11-27 13:22:21.5 UTC 7 6.7 LOG:  statement: SELECT 1".to_owned()),
            Just("\tmore".to_owned()),
            Just(CSV.to_owned() + "\"statement: \"\""),
            Just("{\"timestamp\":\"2026-11-27 13:22:21.5 UTC\",\"message\":\"\"}".to_owned()),
            "\\PC{0,40}",
            ".{0,20}",
        ], 0..12),
    ) {
        let log = lines.join("\n");
        let count = log.matches('\n').count() as u64 + 1;
        for format in LogFormat::ALL.into_iter().filter(|format| !format.is_capture()) {
            let mut is_there = true;
            let content = Cursor::new(log.clone().into_bytes());
            let read = read_log(content, Some(format), &mut |line, _| {
                is_there &= (1..=count).contains(&line);
                Ok(())
            });
            prop_assert!(read.is_ok() && is_there);
        }
    }
}
