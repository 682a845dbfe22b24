//! Servers that never complete a login, and TLS options that would have no effect.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use crate::support::sysbench;

/// Starts a server that accepts all connections and then sends `word` repeatedly, or nothing if `word` is empty.
/// Returns its port.
fn listen(word: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        for caller in listener.incoming() {
            let Ok(mut caller) = caller else { return };
            thread::spawn(move || {
                while !word.is_empty() && caller.write_all(word).is_ok() {
                    thread::sleep(Duration::from_millis(100));
                }
                while caller.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {}
            });
        }
    });
    port.to_string()
}

/// No command waits for ever for a server that accepts connections but never completes a login.
pub(crate) fn silent_servers_are_given_up() {
    // A silent server for each driver, and one that sends notices without end.
    for (driver, word) in [("mysql", &b""[..]), ("pgsql", b""), ("pgsql", b"N\0\0\0\x05\0")] {
        let port = format!("--{driver}-port={}", listen(word));
        let host = format!("--{driver}-host=127.0.0.1");
        let options = ["oltp_read_only", &host, &port, "--connect-timeout=0.5", "--pgsql-sslmode=disable"];
        let driver = format!("--db-driver={driver}");
        for command in ["prepare", "run", "cleanup"] {
            let outcome = sysbench(&[&options, &[driver.as_str(), command]]);
            assert_eq!(outcome.status, 1, "{outcome:?}");
            let said = [outcome.out, outcome.err].concat();
            let words = format!("127.0.0.1:{} did not complete the login within 0.5 s", &port[13..]);
            assert!(said.contains(&words), "{driver} {command}: {said}");
        }
    }
}

#[test]
fn options_for_tls_that_would_do_nothing_are_refused_before_anything_is_connected() {
    for (options, words) in [
        (&["--mysql-ssl-ca=/no/such.pem"][..], "--mysql-ssl-ca is used with --mysql-ssl=VERIFY_CA"),
        (&["--mysql-ssl-cipher=AES128-SHA"], "--mysql-ssl-cipher applies only to encrypted connections"),
        (
            &["--mysql-ssl-cert=/no/such.pem", "--mysql-ssl-key=/no/such.pem"],
            "--mysql-ssl-cert applies only to encrypted connections",
        ),
        (&["--mysql-ssl=REQUIRED", "--mysql-ssl-ca=/no/such.pem"], "not with --mysql-ssl=REQUIRED"),
        (&["--mysql-ssl=on", "--mysql-ssl-ca=/no/such.pem"], "not with --mysql-ssl=on"),
        (&["--mysql-ssl=VERIFY_CA", "--mysql-ssl-ca=/no/such.pem"], "cannot use /no/such.pem for TLS"),
        (&["--db-driver=pgsql", "--pgsql-sslmode=allow"], "allow"),
    ] {
        let outcome = sysbench(&[&["oltp_point_select"], options, &["prepare"]]);
        let all = [outcome.out, outcome.err].concat();
        assert!(outcome.status == 1 && all.contains(words), "{options:?}: {all}");
    }
}
