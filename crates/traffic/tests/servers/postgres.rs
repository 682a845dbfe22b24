//! The logs of PostgreSQL.

use dyno_client::Dialect;
use dyno_engine::Installation;
use dyno_engine::testing::{engines, start_with};
use dyno_testing::dyno_test;
use dyno_traffic::{LogFormat, sql};

use crate::SECRET;
use crate::capture::{Proxy, write};
use crate::client::{Client, Sent};
use crate::imported::{checked, compare, import_with, sessions, transactions};

#[dyno_test(engines(&["postgres@18.4"]))]
fn captures_say_what_was_sent(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_with(installation, folder.path(), &[]);
    let access = server.access();
    let mut proxies = Vec::new();
    let sent = [1, 2].map(|number| {
        let proxy = Proxy::new(&access.socket, folder.path(), number as u16);
        let client = Client::at(&proxy.socket, access, Dialect::Pgsql);
        proxies.push(proxy);
        work(client, number)
    });
    let capture = folder.path().join("traffic.pcap");
    write(&capture, proxies);
    let (file, _) = import_with(&capture, "session 2 ends", folder.path());
    checked(&file, LogFormat::PcapPostgresql);
    let captured = sessions(&file);
    assert_eq!(captured.keys().copied().collect::<Vec<_>>(), [1, 2]);
    for (rows, sent) in captured.values().zip(&sent) {
        compare(rows, sent, sql::Dialect::Postgresql);
        assert_eq!(transactions(rows), [None, Some(1), None]);
        assert!(rows.iter().all(|row| row.latency_us.is_some()), "{rows:?}");
    }
}

/// Settings by which a session asks for logging. The first constant logs durations in the entries of statements,
/// and the second in separate entries.
const DURATIONS: &str = "SET log_min_duration_statement = 0";
const STATEMENTS: &str = "SET log_min_duration_statement = -1, log_statement = 'all', log_duration = on";

#[dyno_test(engines(&["postgres@18.4"]))]
fn logs_say_what_was_sent(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("logging_collector", "on"),
        ("log_destination", "csvlog,jsonlog,stderr"),
        ("log_directory", "log"),
        ("log_filename", "postgresql.log"),
        ("log_line_prefix", "%m %p %c "),
        ("log_connections", "on"),
        ("log_disconnections", "on"),
    ];
    let server = start_with(installation, folder.path(), &settings);
    let sent = [(1, DURATIONS), (2, STATEMENTS)].map(|(number, asked)| {
        let mut client = Client::new(server.access(), Dialect::Pgsql);
        for set in asked.split(", ").map(|set| format!("SET {}", set.trim_start_matches("SET "))) {
            client.query(&set);
        }
        client.sent.clear();
        work(client, number)
    });
    let logs = server.access().datadir.join("log");
    for (format, log) in [
        (LogFormat::Csvlog, "postgresql.csv"),
        (LogFormat::Jsonlog, "postgresql.json"),
        (LogFormat::Stderr, "postgresql.log"),
    ] {
        let (file, _) = import_with(&logs.join(log), "session 2 ends", folder.path());
        let summary = checked(&file, format);
        assert_eq!(summary.dialect, "postgresql");
        let logged = sessions(&file);
        assert_eq!(logged.keys().copied().collect::<Vec<_>>(), [1, 2], "{format}");
        for (rows, sent) in logged.values().zip(&sent) {
            compare(rows, sent, sql::Dialect::Postgresql);
            assert_eq!(transactions(rows), [None, Some(1), None], "{format}");
            // A statement that fails has no latency. The last statement may not have ended yet.
            let (_, ended) = rows.split_last().unwrap();
            assert!(
                ended.iter().all(|row| row.latency_us.is_some() != row.error.is_some()),
                "{format}: {rows:?}"
            );
        }
    }
}

/// Sends statements of every kind that needs care in logs.
fn work(mut client: Client, number: u32) -> Vec<Sent> {
    client.query(&format!("SELECT 'session {number}'"));
    client.query(&format!("CREATE TABLE t{number} (a int PRIMARY KEY, b text)"));
    client.query(&format!(
        "INSERT INTO t{number} VALUES (1, 'it''s'), (2, E'a\\\\b\\nc'), (3, $$d\n\t\"e\",$$)"
    ));
    client.query("BEGIN");
    client.query(&format!("UPDATE t{number}\n   SET b = 'x\nLOG:  y' -- why\n WHERE a = 1"));
    client.query("COMMIT");
    client.refused("SELECT nonsense, 'a\nb'");
    client.execute(
        &format!("SELECT b FROM t{number} WHERE a = $1"),
        2,
        &format!("SELECT b FROM t{number} WHERE a = $1"),
        Some("[\"2\"]"),
    );
    client.query(&format!("CREATE USER u{number} PASSWORD '{SECRET}'"));
    client.query(&format!("SELECT 'session {number} ends'"));
    client.quit()
}
