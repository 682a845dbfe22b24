//! What the client sends over a network to a server that has not proven its identity.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use dyno_engine::testing::{Authority, engines, own_address, wait_until};
use dyno_engine::{Installation, Server, StartOptions, start};
use dyno_load::{Address, Job, PgsqlMethod, TlsMode, Trust, read_public_key};
use dyno_testing::dyno_test;

use crate::ask::{answer, ask, execute, on_every_scheduler};

const PASSWORD: &str = "open sesame";

/// Starts a server at an address that other hosts could reach. `None` if this host has no such address.
fn start_on_network(installation: &Installation, folder: &Path, settings: &[(&str, &str)]) -> Option<Server> {
    let host = own_address()?;
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = StartOptions { listen: Some(IpAddr::V4(host)), settings, ..StartOptions::new(folder) };
    Some(start(installation, options).unwrap_or_else(|error| panic!("{error}")))
}

/// A job that logs in over the network.
fn visit(server: &Server, user: &str, tls: TlsMode, trust: &Trust) -> Job {
    let host = own_address().expect("it has started there").to_string();
    let mut job = ask(server, "print(con:query_row('SELECT 1'))");
    let target = &mut job.target;
    target.addresses = vec![Address::Tcp { host, port: server.access().port }];
    (target.user, target.password) = (user.to_owned(), PASSWORD.to_owned());
    if server.access().engine != "postgres" {
        target.database = String::new();
    }
    (target.tls.mode, target.trust) = (tls, trust.clone());
    job
}

fn enters(job: &Job) {
    for job in on_every_scheduler(job) {
        let (mode, trust) = (job.target.tls.mode, job.target.trust.clone());
        assert_eq!(answer(job), Ok(vec!["1".to_owned()]), "{mode:?}, {trust:?}");
    }
}

fn is_refused(job: &Job) {
    for job in on_every_scheduler(job) {
        let message = answer(job).expect_err("it gets no password");
        assert!(message.contains("has not shown who it is"), "{message}");
        assert!(!message.contains(PASSWORD), "{message}");
    }
}

#[dyno_test(engines(&["mysql@9.7.4"]))]
fn mysql_gets_a_password_over_a_network_where_it_may(installation: &Installation) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let files = authority.identify_server();
    let [ca, cert, key] = files.each_ref().map(|path| path.display().to_string());
    let tls = [("ssl_ca", ca.as_str()), ("ssl_cert", cert.as_str()), ("ssl_key", key.as_str())];
    let Some(server) = start_on_network(installation, folder.path(), &tls) else { return };
    execute(
        &server,
        &[
            "CREATE USER caching@'%' IDENTIFIED WITH caching_sha2_password BY 'open sesame'",
            "CREATE USER plain@'%' IDENTIFIED WITH sha256_password BY 'open sesame'",
        ],
    );
    let file = server.access().datadir.join("public_key.pem");
    let pinned = Trust { public_key: Some(read_public_key(&file).expect("its key")), ..Trust::default() };
    let taken = Trust { takes_public_key: true, ..Trust::default() };
    let nothing = Trust::default();
    // The server drops the hash from its cache before each login, so that the login needs full authentication.
    let forgetting = |job: Job| {
        execute(&server, &["FLUSH PRIVILEGES"]);
        job
    };
    for user in ["caching", "plain"] {
        for mode in [TlsMode::Disabled, TlsMode::Preferred, TlsMode::Required] {
            is_refused(&forgetting(visit(&server, user, mode, &nothing)));
            enters(&forgetting(visit(&server, user, mode, &taken)));
        }
        enters(&forgetting(visit(&server, user, TlsMode::Disabled, &pinned)));
        is_refused(&forgetting(visit(&server, user, TlsMode::Required, &pinned)));
        let mut verified = visit(&server, user, TlsMode::VerifyCa, &nothing);
        verified.target.tls.ca = Some(authority.cert.clone());
        enters(&forgetting(verified));
    }
    // Once the server knows the hash, the client need not send the password.
    enters(&visit(&server, "caching", TlsMode::Disabled, &taken));
    enters(&visit(&server, "caching", TlsMode::Disabled, &nothing));
}

/// Makes a PostgreSQL server use other login rules.
fn let_in_by(server: &Server, rules: &str) {
    let value = |sql: &str| {
        let mut client = server.connect(Duration::from_secs(10)).expect("a connection");
        let rows = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
        rows.into_iter().flatten().flatten().next().expect("a value")
    };
    fs::write(value("SHOW hba_file"), rules).expect("the server's own file can be written");
    // The server's main process reads the file some time after `pg_reload_conf`. A new session shows when that was,
    // because it inherits the time from the main process.
    let loaded = value("SELECT pg_conf_load_time()");
    execute(server, &["SELECT pg_reload_conf()"]);
    wait_until("the rules are read", || value("SELECT pg_conf_load_time()") != loaded);
}

#[dyno_test(engines(&["postgres@18.4"]))]
fn postgres_gets_a_password_over_a_network_where_it_may(installation: &Installation) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let files = authority.identify_server();
    let [ca, cert, key] = files.each_ref().map(|path| path.display().to_string());
    let tls = [
        ("ssl", "on"),
        ("ssl_ca_file", ca.as_str()),
        ("ssl_cert_file", cert.as_str()),
        ("ssl_key_file", key.as_str()),
    ];
    let Some(server) = start_on_network(installation, folder.path(), &tls) else { return };
    execute(
        &server,
        &["CREATE ROLE clear LOGIN PASSWORD 'open sesame'", "CREATE ROLE scram LOGIN PASSWORD 'open sesame'"],
    );
    let_in_by(
        &server,
        "local all all scram-sha-256\nhost all clear all password\nhost all all all scram-sha-256\n",
    );
    let methods = |list: &str| Trust { methods: PgsqlMethod::list(list).unwrap(), ..Trust::default() };
    let nothing = Trust::default();
    for mode in [TlsMode::Disabled, TlsMode::Preferred, TlsMode::Required] {
        enters(&visit(&server, "scram", mode, &nothing));
        is_refused(&visit(&server, "clear", mode, &nothing));
        enters(&visit(&server, "clear", mode, &methods("password")));
    }
    let mut verified = visit(&server, "clear", TlsMode::VerifyCa, &nothing);
    verified.target.tls.ca = Some(authority.cert.clone());
    enters(&verified);
    for job in on_every_scheduler(&visit(&server, "clear", TlsMode::Required, &methods("scram-sha-256"))) {
        let message = answer(job).expect_err("another method is required");
        assert!(message.contains("authenticates by password"), "{message}");
    }
}
