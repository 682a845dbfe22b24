//! Servers that let nobody in, and options for TLS that would do nothing.

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use support::sysbench;

/// The port of a server that accepts everybody and then says `word` again and again, or nothing.
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

#[test]
fn a_command_does_not_wait_for_ever_for_a_server_that_accepts_and_is_silent() {
    // Of the first bytes of a long greeting, and of a notice without end.
    for (driver, words) in [("mysql", [&b""[..], b"\0"]), ("pgsql", [&b""[..], b"N\0\0\0\x06S\0"])] {
        for word in words {
            for command in ["prepare", "run", "cleanup"] {
                let port = format!("--{driver}-port={}", listen(word));
                let host = format!("--{driver}-host=127.0.0.1");
                let options =
                    ["oltp_read_only", &host, &port, "--connect-timeout=0.5", "--pgsql-sslmode=disable"];
                let driver = format!("--db-driver={driver}");
                let outcome = sysbench(&[&options, &[driver.as_str(), command]]);
                assert_eq!(outcome.status, 1, "{outcome:?}");
                let all = [outcome.out, outcome.err].concat();
                let told = all.contains("lets nobody in: the login was not complete after 0.5 s");
                // A MySQL server that sends zeros sends empty packets, which are no greeting.
                assert!(
                    told || (word == b"\0" && all.contains("malformed handshake")),
                    "{driver} {command}: {all}"
                );
            }
        }
    }
}

#[test]
fn options_for_tls_that_would_do_nothing_are_refused_before_anything_is_connected() {
    for (options, words) in [
        (&["--mysql-ssl-ca=/no/such.pem"][..], "--mysql-ssl-ca is used with --mysql-ssl=VERIFY_CA"),
        (&["--mysql-ssl-cipher=AES128-SHA"], "--mysql-ssl-cipher is used on encrypted connections"),
        (
            &["--mysql-ssl-cert=/no/such.pem", "--mysql-ssl-key=/no/such.pem"],
            "--mysql-ssl-cert is used on encrypted connections",
        ),
        (&["--mysql-ssl=REQUIRED", "--mysql-ssl-ca=/no/such.pem"], "not with --mysql-ssl=REQUIRED"),
        (&["--mysql-ssl=on", "--mysql-ssl-ca=/no/such.pem"], "not with --mysql-ssl=REQUIRED"),
        (&["--mysql-ssl=VERIFY_CA", "--mysql-ssl-ca=/no/such.pem"], "cannot use /no/such.pem for TLS"),
        (&["--db-driver=pgsql", "--pgsql-sslmode=allow"], "allow"),
    ] {
        let outcome = sysbench(&[&["oltp_point_select"], options, &["prepare"]]);
        let all = [outcome.out, outcome.err].concat();
        assert!(outcome.status == 1 && all.contains(words), "{options:?}: {all}");
    }
}
