//! A server starts, answers, and leaves no trace.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use dyno_engine::testing::{Signal, engines, send, servers, start_in};
use dyno_engine::{
    Access, ClientError, HOST, Installation, Server, ShutdownError, StartError, StartOptions, Transport,
    connect, start,
};
use dyno_testing::dyno_test;

use crate::ALL_VERSIONS;
use crate::leftovers::{assert_nothing_left, processes_of, wait_until};

#[dyno_test(servers(ALL_VERSIONS))]
fn a_server_shuts_down_cleanly_and_comes_back_without_recovery(server: &mut Server) {
    server.query("CREATE TABLE kept (id INT)").unwrap();
    server.query("INSERT INTO kept VALUES (7)").unwrap();
    server.restart_cleanly(Duration::from_secs(60)).unwrap();
    let log = server.log_tail(1000).join("\n");
    for word in ["crash recovery", "not properly shut down", "was interrupted"] {
        assert!(!log.contains(word), "{log}");
    }
    assert_eq!(one_field(&server.query("SELECT id FROM kept").unwrap().rows), "7");
}

#[dyno_test(servers(ALL_VERSIONS))]
fn a_server_that_is_dead_or_has_no_time_is_not_shut_down_cleanly(server: &mut Server) {
    let error = server.shut_down_cleanly(Duration::ZERO).unwrap_err();
    assert!(matches!(error, ShutdownError::Slow { .. }), "{error}");
    wait_until("the server is down", || !server.is_alive());
    let error = server.shut_down_cleanly(Duration::from_secs(60)).unwrap_err();
    assert!(matches!(error, ShutdownError::Dead { .. }), "{error}");
}

#[dyno_test(servers(ALL_VERSIONS))]
fn a_killed_server_comes_back_with_its_data(server: &mut Server) {
    server.query("CREATE TABLE kept (id INT)").unwrap();
    server.query("INSERT INTO kept VALUES (7)").unwrap();
    let killed = server.access().pid;
    send(killed, Signal::KILL);
    wait_until("the server is dead", || !server.is_alive());
    server.restart().unwrap();
    assert_ne!(server.access().pid, killed);
    assert_eq!(one_field(&server.query("SELECT id FROM kept").unwrap().rows), "7");
}

#[dyno_test(servers(&["mariadb@10.5/rocksdb", "mariadb@10.11/rocksdb", "mariadb@11.8/rocksdb"]))]
fn tables_are_kept_in_myrocks_and_compressed(server: &mut Server) {
    server.query("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let engine = server.query("SELECT engine FROM information_schema.tables WHERE table_name = 't'").unwrap();
    assert_eq!(one_field(&engine.rows), "ROCKSDB");
    let options = server.query("SELECT @@rocksdb_default_cf_options").unwrap();
    assert!(one_field(&options.rows).contains("kZSTD"), "{options:?}");
}

fn one_field(rows: &[Vec<Option<String>>]) -> &str {
    rows[0][0].as_deref().unwrap()
}

#[dyno_test(engines(ALL_VERSIONS))]
fn a_server_starts_answers_and_leaves_nothing(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_in(folder.path(), installation, "");
    let access = server.access().clone();
    assert!(access.version.starts_with(&installation.entry.version), "{access:?}");
    assert!(access.datadir.starts_with(folder.path()), "{access:?}");
    assert_eq!(one_field(&server.query("SELECT 1 + 1").unwrap().rows), "2");
    assert!(
        server
            .variables()
            .unwrap()
            .iter()
            .any(|(name, value)| name == "port" && *value == access.port.to_string())
    );
    assert!(server.disk_bytes() > 1_000_000);
    assert!(processes_of(folder.path()).iter().all(|line| !line.contains(&access.password)));
    assert!(!secrets_remain(access.datadir.parent().unwrap(), &access.password));

    server.stop().unwrap();

    assert_nothing_left(folder.path());
    assert!(!access.socket.parent().unwrap().exists());
}

/// Whether any file in a server's folder contains the password. The data of the server is not searched.
fn secrets_remain(home: &std::path::Path, password: &str) -> bool {
    fs::read_dir(home)
        .unwrap()
        .filter_map(|item| fs::read(item.unwrap().path()).ok())
        .any(|bytes| String::from_utf8_lossy(&bytes).contains(password))
}

#[dyno_test(engines(ALL_VERSIONS))]
fn a_server_lets_in_only_who_has_the_password_by_port_too(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_in(folder.path(), installation, "");
    let connect = |user: &str, password: &str, transport| {
        let (user, password) = (user.to_owned(), password.to_owned());
        let access = Access { user, password, ..server.access().clone() };
        connect(installation.entry.family, &access, transport, Duration::from_secs(10))
    };
    let Access { user, password, .. } = server.access();
    for transport in [Transport::Socket, Transport::Tcp] {
        connect(user, password, transport).unwrap().query("SELECT 1").unwrap();
        for (user, password) in [(user.as_str(), ""), (user, "wrong"), ("", ""), ("nobody", "")] {
            let refusal = connect(user, password, transport).err();
            assert!(matches!(refusal, Some(ClientError::Server(_))), "{user}, {transport:?}: {refusal:?}");
        }
    }
}

#[dyno_test(engines(ALL_VERSIONS))]
fn a_server_starts_where_paths_are_long(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("a-name-of-some-length/".repeat(10));
    let server = start_in(&long, installation, "");
    assert!(server.access().socket.as_os_str().len() < 108);
    server.query("SELECT 1").unwrap();
}

#[dyno_test(engines(ALL_VERSIONS))]
fn the_last_words_of_a_server_that_a_setting_kept_from_starting_are_told(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = StartOptions::new(folder.path());
    options.settings.insert("no_such_setting".to_owned(), "1".to_owned());
    let error = start(installation, options).err().expect("the server must not start");
    assert!(matches!(error, StartError::Ended { .. }), "{error}");
    assert!(error.to_string().replace('-', "_").contains("no_such_setting"), "{error}");
    assert_nothing_left(folder.path());
}

#[dyno_test(engines(ALL_VERSIONS))]
fn a_port_that_is_taken_is_told(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind((HOST, 0)).unwrap();
    let taken = listener.local_addr().unwrap().port();
    let options = StartOptions { port: Some(taken), ..StartOptions::new(folder.path()) };
    let error = start(installation, options).err().expect("the server must not start");
    assert!(matches!(error, StartError::PortTaken { port, .. } if port == taken), "{error}");
    assert_nothing_left(folder.path());
}

#[dyno_test(engines(ALL_VERSIONS))]
fn a_server_that_does_not_answer_in_time_is_ended(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let options = StartOptions { patience: Duration::from_millis(1), ..StartOptions::new(folder.path()) };
    let error = start(installation, options).err().expect("a server does not start in a millisecond");
    assert!(matches!(error, StartError::Silent { .. }), "{error}");
    assert_nothing_left(folder.path());
}
