//! The slow log and the general log of MySQL and MariaDB.

use dyno_client::{Compression, Dialect};
use dyno_engine::Installation;
use dyno_engine::testing::{engines, start_with};
use dyno_testing::dyno_test;
use dyno_traffic::{LogFormat, sql};

use crate::SECRET;
use crate::capture::{Proxy, write};
use crate::client::{Client, Sent};
use crate::imported::{checked, compare, import_with, sessions, transactions};

const ENGINES: &[&str] = &["mariadb@10.11", "mariadb@11.8", "mysql@5.6.24", "mysql@9.7.4"];

#[dyno_test(engines(ENGINES))]
fn captures_say_what_was_sent(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_with(installation, folder.path(), &[]);
    let access = server.access();
    let mut proxies = Vec::new();
    let sent = [1, 2].map(|number| {
        let proxy = Proxy::new(&access.socket, folder.path(), number as u16);
        let client = Client::at(&proxy.socket, access, Dialect::Mysql(Compression::NONE));
        proxies.push(proxy);
        work(client, number)
    });
    let capture = folder.path().join("traffic.pcap");
    write(&capture, proxies);
    let (file, _) = import_with(&capture, "session 2 ends", folder.path());
    checked(&file, LogFormat::PcapMysql);
    let captured = sessions(&file);
    assert_eq!(captured.keys().copied().collect::<Vec<_>>(), [1, 2]);
    for (rows, sent) in captured.values().zip(&sent) {
        compare(rows, sent, sql::Dialect::Mysql);
        assert_eq!(transactions(rows), [None, Some(1), None]);
        assert!(rows.iter().all(|row| row.latency_us.is_some()), "{rows:?}");
    }
}

#[dyno_test(engines(ENGINES))]
fn logs_say_what_was_sent(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = vec![
        ("slow_query_log", "1"),
        ("long_query_time", "0"),
        ("slow_query_log_file", "slow.log"),
        ("general_log", "1"),
        ("general_log_file", "general.log"),
        ("log_output", "FILE"),
    ];
    if installation.entry.to_string() == "mysql@9.7.4" {
        settings.push(("log_slow_extra", "1"));
    }
    let server = start_with(installation, folder.path(), &settings);
    let sent =
        [1, 2].map(|number| work(Client::new(server.access(), Dialect::Mysql(Compression::NONE)), number));
    let datadir = server.access().datadir.clone();
    for (format, log) in [(LogFormat::Slow, "slow.log"), (LogFormat::General, "general.log")] {
        let (file, _) = import_with(&datadir.join(log), "session 2 ends", folder.path());
        let summary = checked(&file, format);
        assert_eq!(summary.dialect, "mysql");
        let logged = sessions(&file);
        assert_eq!(logged.keys().copied().collect::<Vec<_>>(), [1, 2], "{format}");
        for (rows, sent) in logged.values().zip(&sent) {
            compare(rows, sent, sql::Dialect::Mysql);
            assert_eq!(transactions(rows), [None, Some(1), None], "{format}");
            assert!(
                rows.iter().all(|row| row.latency_us.is_some() == (format == LogFormat::Slow)),
                "{format}"
            );
        }
    }
}

/// Sends statements of every kind that needs care in logs.
fn work(mut client: Client, number: u32) -> Vec<Sent> {
    client.query(&format!("SELECT 'session {number}'"));
    client.query(&format!("CREATE TABLE t{number} (a INT PRIMARY KEY, b VARCHAR(200))"));
    client.query(&format!("INSERT INTO t{number} VALUES (1, 'it''s'), (2, \"a\\\\b\\nc\"), (3, NULL)"));
    client.query("BEGIN");
    client.query(&format!("UPDATE t{number}\n   SET b = 'x;\n# Query_time: 1' # why\n WHERE a = 1"));
    client.query("COMMIT");
    client.query(&format!("SELECT *\nFROM t{number} -- all\nWHERE a IN (1, 2, 3)"));
    client.execute(
        &format!("SELECT b FROM t{number} WHERE a = ?"),
        2,
        &format!("SELECT b FROM t{number} WHERE a = 2"),
        None,
    );
    client.query(&format!("CREATE USER 'u{number}'@'localhost' IDENTIFIED BY '{SECRET}'"));
    client.query(&format!("SELECT 'session {number} ends'"));
    client.quit()
}
