//! Logins: who may log in by which method, and how all others are refused.

use std::fs;
use std::path::Path;

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Job, TlsMode};
use dyno_testing::dyno_test;

use crate::ask::{answer, ask, every_way, execute};

const PASSWORD: &str = "open sesame";

#[dyno_test(servers(&["mariadb@10.11"]))]
fn users_log_in_by_each_plugin_of_mariadb(server: &mut Server) {
    execute(
        server,
        &[
            "INSTALL SONAME 'auth_ed25519'",
            "CREATE USER native@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('open sesame')",
            "CREATE USER modern@'%' IDENTIFIED VIA ed25519 USING PASSWORD('open sesame')",
            "CREATE USER open@'%'",
        ],
    );
    for user in ["native", "modern"] {
        enters(server, user, PASSWORD);
        is_refused(server, user, "open barley", &format!("Access denied for user '{user}'@"));
        is_refused(server, user, "", &format!("Access denied for user '{user}'@"));
    }
    enters(server, "open", "");
    strangers_are_refused(server, "Access denied for user 'stranger'@", "Unknown database 'nowhere'");
}

#[dyno_test(servers(&["mysql@5.6.24"]))]
fn users_log_in_by_the_native_plugin_of_mysql(server: &mut Server) {
    execute(
        server,
        &[
            "CREATE USER native@'%' IDENTIFIED BY 'open sesame'",
            "CREATE USER native@localhost IDENTIFIED BY 'open sesame'",
        ],
    );
    enters(server, "native", PASSWORD);
    is_refused(server, "native", "open barley", "Access denied for user 'native'@");
    strangers_are_refused(server, "Access denied for user 'stranger'@", "Unknown database 'nowhere'");
}

/// After the server has dropped its cache, the first login needs full authentication, and the second uses fast
/// authentication.
#[dyno_test(servers(&["mysql@8.0.33", "mysql@9.7.4"]))]
fn users_log_in_by_sha256_in_clear_and_by_tls(server: &mut Server) {
    execute(
        server,
        &[
            "CREATE USER caching@'%' IDENTIFIED WITH caching_sha2_password BY 'open sesame'",
            "CREATE USER plain@'%' IDENTIFIED WITH sha256_password BY 'open sesame'",
        ],
    );
    for user in ["caching", "plain"] {
        for tls in [TlsMode::Disabled, TlsMode::Required] {
            for mut job in every_way(&visit(server, user, PASSWORD), server) {
                job.target.tls.mode = tls;
                execute(server, &["FLUSH PRIVILEGES"]);
                assert_eq!(answer(job.clone()), Ok(vec![format!("{user}@%")]), "the full path, {tls:?}");
                assert_eq!(answer(job), Ok(vec![format!("{user}@%")]), "the fast path, {tls:?}");
            }
        }
        is_refused(server, user, "open barley", &format!("Access denied for user '{user}'@"));
    }
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn users_log_in_by_each_method_of_postgres(server: &mut Server) {
    for method in ["md5", "scram-sha-256"] {
        let mut client = server.connect(std::time::Duration::from_secs(10)).expect("a connection");
        for sql in [
            format!("SET password_encryption = '{method}'"),
            format!("CREATE ROLE \"{method}\" LOGIN PASSWORD '{PASSWORD}'"),
        ] {
            client.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }
    execute(server, &["CREATE ROLE trusted LOGIN", "CREATE ROLE clear LOGIN PASSWORD 'open sesame'"]);
    let methods =
        [("trusted", "trust"), ("clear", "password"), ("md5", "md5"), ("scram-sha-256", "scram-sha-256")];
    let datadir = server.access().datadir.clone();
    set_methods(&datadir, &methods);
    server.restart().expect("a restart");
    clear_passwords_stay_on_the_machine(server);
    for (user, method) in methods.into_iter().filter(|(_, method)| *method != "password") {
        enters(server, user, PASSWORD);
        if method != "trust" {
            let words = format!("password authentication failed for user \"{user}\"");
            is_refused(server, user, "open barley", &words);
        }
    }
    strangers_are_refused(server, "\"stranger\"", "database \"nowhere\" does not exist");
}

/// A password in clear text is sent over the socket and the loopback interface. `trust.rs` tests other
/// networks.
fn clear_passwords_stay_on_the_machine(server: &Server) {
    for job in every_way(&visit(server, "clear", PASSWORD), server) {
        assert_eq!(answer(job), Ok(vec!["clear".to_owned()]));
    }
    refused_with(visit(server, "clear", "open barley"), "password authentication failed for user \"clear\"");
}

/// Sets the method by which each user logs in. All other users log in by SCRAM.
fn set_methods(datadir: &Path, methods: &[(&str, &str)]) {
    let path = datadir.join("pg_hba.conf");
    let rules = |user: &str, method: &str| {
        format!("local all {user} {method}\nhost all {user} 127.0.0.1/32 {method}\n")
    };
    let text: String =
        methods.iter().map(|(user, method)| rules(&format!("\"{user}\""), method)).collect::<String>()
            + &rules("all", "scram-sha-256");
    fs::write(&path, text).expect("the server's own file can be written");
}

/// A job that asks the server who has logged in.
fn visit(server: &Server, user: &str, password: &str) -> Job {
    let mut job = ask(server, "print(con:query_row('SELECT CURRENT_USER'))");
    job.target.user = user.into();
    job.target.password = password.into();
    if server.access().engine != "postgres" {
        // Accounts here have no rights on the database.
        job.target.database = String::new();
    }
    job
}

fn enters(server: &Server, user: &str, password: &str) {
    for job in every_way(&visit(server, user, password), server) {
        let name = answer(job).unwrap_or_else(|error| panic!("{user}: {error}"));
        assert_eq!(name[0].split('@').next(), Some(user));
    }
}

fn is_refused(server: &Server, user: &str, password: &str, words: &str) {
    for job in every_way(&visit(server, user, password), server) {
        refused_with(job, words);
    }
}

fn refused_with(job: Job, words: &str) {
    let message = answer(job).expect_err("it may not enter");
    assert!(message.contains(words), "{message}");
    assert!(!message.contains("open"), "the password is shown: {message}");
}

fn strangers_are_refused(server: &Server, unknown_user: &str, unknown_database: &str) {
    is_refused(server, "stranger", PASSWORD, unknown_user);
    let access = server.access();
    let mut job = visit(server, &access.user, &access.password);
    job.target.database = "nowhere".into();
    for job in every_way(&job, server) {
        refused_with(job, unknown_database);
    }
}
