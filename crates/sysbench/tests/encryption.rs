//! The TLS options on real servers, compared with what the server reports about the connection.

mod support;

use std::path::Path;
use std::process::ExitCode;

use dyno_engine::testing::{Authority, Identity, engines, start_with_tls};
use dyno_engine::{Installation, Server};
use dyno_testing::dyno_test;
use support::{Outcome, number_after, sysbench};

fn main() -> ExitCode {
    dyno_testing::main(&[])
}

/// Runs a script that connects, runs `code` to print one line about its connection, and does one event.
fn asks(folder: &Path, server: &Server, driver: &str, code: &str, options: &[&str]) -> Outcome {
    let script = folder.join("tls.lua");
    let text = format!(
        "function thread_init() con = sysbench.sql.driver():connect() {code} end\nfunction event() end"
    );
    std::fs::write(&script, text).expect("a script");
    let access = server.access();
    let place = [
        format!("--db-driver={driver}"),
        format!("--{driver}-host=localhost"),
        format!("--{driver}-port={}", access.port),
        format!("--{driver}-user={}", access.user),
        format!("--{driver}-password={}", access.password),
    ];
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    sysbench(&[&[script.to_str().expect("UTF-8"), "run", "--events=1", "--time=0"], &place, options])
}

fn option(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

fn is_refused(outcome: &Outcome, words: &str) {
    let is_refused = outcome.status == 1 && outcome.err.is_empty() && outcome.out.contains(words);
    assert!(is_refused, "{words}: {outcome:?}");
}

#[dyno_test(engines(&["mariadb@10.11"]))]
fn mariadb_connections_are_encrypted_as_the_options_say(installation: &Installation) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let server = start_with_tls(installation, folder.path(), &authority, &[]);
    let mut client = server.connect(std::time::Duration::from_secs(10)).expect("a connection");
    client.query("CREATE USER proven@'%' IDENTIFIED BY 'sesame' REQUIRE X509").expect("a user");
    let code =
        "local _, cipher = con:query_row(\"SHOW STATUS LIKE 'Ssl_cipher'\") print('[' .. cipher .. ']')";
    let run = |options: &[&str]| asks(folder.path(), &server, "mysql", code, options);
    let ca = option("mysql-ssl-ca", &authority.cert);
    for plain in [&[][..], &["--mysql-ssl=off"], &["--mysql-ssl=DISABLED"]] {
        assert!(run(plain).success().contains("[]\n"), "{plain:?}");
    }
    for encrypted in [
        &["--mysql-ssl"][..],
        &["--mysql-ssl=on"],
        &["--mysql-ssl=PREFERRED"],
        &["--mysql-ssl=REQUIRED"],
        &["--mysql-ssl=VERIFY_CA", &ca],
        &["--mysql-ssl=VERIFY_IDENTITY", &ca],
    ] {
        assert!(run(encrypted).success().contains("[TLS_"), "{encrypted:?}");
    }
    let cipher = "TLS_CHACHA20_POLY1305_SHA256";
    let out = run(&["--mysql-ssl=on", &format!("--mysql-ssl-cipher={cipher}")]).success();
    assert!(out.contains(&format!("[{cipher}]\n")), "{out}");

    let stranger = option("mysql-ssl-ca", &Authority::new(folder.path(), "stranger").cert);
    is_refused(&run(&["--mysql-ssl=VERIFY_CA", &stranger]), "TLS failed");

    let Identity { cert, key } = authority.identify("proven");
    let account = ["--mysql-user=proven", "--mysql-password=sesame", "--mysql-db=", "--mysql-ssl=on"];
    is_refused(&run(&account), "Access denied for user 'proven'");
    let [cert, key] = [option("mysql-ssl-cert", &cert), option("mysql-ssl-key", &key)];
    let out = run(&[&account[..], &[&cert, &key]].concat()).success();
    assert_eq!(number_after(&out, "total number of events:") as u32, 1);
}

#[dyno_test(engines(&["postgres@18.4"]))]
fn postgres_connections_are_encrypted_as_the_options_say(installation: &Installation) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let server = start_with_tls(installation, folder.path(), &authority, &[]);
    let code =
        "print('[' .. con:query_row('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()') .. ']')";
    let run = |options: &[&str]| asks(folder.path(), &server, "pgsql", code, options);
    let ca = option("pgsql-ssl-ca", &authority.cert);
    assert!(run(&["--pgsql-sslmode=disable"]).success().contains("[f]\n"));
    for encrypted in [
        &[][..],
        &["--pgsql-sslmode=prefer"],
        &["--pgsql-sslmode=require"],
        &["--pgsql-sslmode=verify-ca", &ca],
        &["--pgsql-sslmode=verify-full", &ca],
    ] {
        assert!(run(encrypted).success().contains("[t]\n"), "{encrypted:?}");
    }
    let stranger = option("pgsql-ssl-ca", &Authority::new(folder.path(), "stranger").cert);
    is_refused(&run(&["--pgsql-sslmode=verify-ca", &stranger]), "TLS failed");
}
