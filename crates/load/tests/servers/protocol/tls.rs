//! TLS: what each mode requires of a server.

use std::path::{Path, PathBuf};

use dyno_engine::testing::{Authority, Identity, engines, servers, start_with_tls};
use dyno_engine::{Installation, Server};
use dyno_load::{Address, Job, TlsMode};
use dyno_testing::dyno_test;

use crate::ask::{answer, ask, execute, on_every_scheduler};
use crate::bench::over_tcp;

/// A job that asks a server whether the job's connection is encrypted.
fn is_encrypted(server: &Server) -> Job {
    let code = if server.access().engine == "postgres" {
        "print(con:query_row('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()') == 't')"
    } else {
        "local _, cipher = con:query_row(\"SHOW STATUS LIKE 'Ssl_cipher'\"); print(cipher ~= '')"
    };
    over_tcp(ask(server, code), server)
}

fn with_tls(job: &Job, mode: TlsMode, ca: Option<&Path>) -> Job {
    let mut job = job.clone();
    job.target.tls.mode = mode;
    job.target.tls.ca = ca.map(Path::to_owned);
    job
}

/// Changes a job to connect to the same server by the name in its certificate.
fn by_name(mut job: Job) -> Job {
    for address in &mut job.target.addresses {
        if let Address::Tcp { host, .. } = address {
            *host = "localhost".into();
        }
    }
    job
}

fn gives(job: &Job, encrypted: bool) {
    for job in on_every_scheduler(job) {
        let mode = job.target.tls.mode;
        assert_eq!(answer(job), Ok(vec![encrypted.to_string()]), "{mode:?}");
    }
}

fn is_refused(job: &Job, words: &str) {
    for job in on_every_scheduler(job) {
        let mode = job.target.tls.mode;
        let message = answer(job).expect_err("a server that cannot be trusted");
        assert!(message.contains("TLS") && message.contains(words), "{mode:?}: {message}");
    }
}

#[dyno_test(engines(&["mariadb@10.11", "postgres@18.4"]))]
fn a_server_is_verified_as_far_as_the_mode_says(installation: &Installation) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let server = start_with_tls(installation, folder.path(), &authority, &[]);
    let stranger = Authority::new(folder.path(), "stranger");
    let (ca, wrong_ca) = (Some(authority.cert.as_path()), Some(stranger.cert.as_path()));
    let job = is_encrypted(&server);

    gives(&with_tls(&job, TlsMode::Disabled, None), false);
    for mode in [TlsMode::Preferred, TlsMode::Required] {
        gives(&with_tls(&job, mode, None), true);
    }
    // The job uses the server's numeric address, which its certificate does not contain.
    gives(&with_tls(&job, TlsMode::VerifyCa, ca), true);
    is_refused(&with_tls(&job, TlsMode::VerifyIdentity, ca), "not valid for name");
    gives(&by_name(with_tls(&job, TlsMode::VerifyIdentity, ca)), true);
    for mode in [TlsMode::VerifyCa, TlsMode::VerifyIdentity] {
        is_refused(&by_name(with_tls(&job, mode, wrong_ca)), "UnknownIssuer");
        is_refused(&with_tls(&job, mode, None), "certificates to trust");
    }
    is_refused(&with_tls(&job, TlsMode::VerifyCa, Some(Path::new("/no/such/file"))), "/no/such/file");
}

#[dyno_test(servers(&["mariadb@10.11", "postgres@18.4"]))]
fn a_server_without_tls_is_taken_where_tls_is_only_preferred(server: &mut Server) {
    let job = is_encrypted(server);
    gives(&with_tls(&job, TlsMode::Preferred, None), false);
    is_refused(&with_tls(&job, TlsMode::Required, None), "does not offer it");
}

#[dyno_test(engines(&["mariadb@10.11"]))]
fn a_server_may_ask_for_the_clients_certificate(installation: &Installation) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let server = start_with_tls(installation, folder.path(), &authority, &[]);
    execute(&server, &["CREATE USER proven@'%' IDENTIFIED BY 'open sesame' REQUIRE X509"]);
    let mut job = with_tls(&is_encrypted(&server), TlsMode::Required, None);
    job.target.user = "proven".into();
    job.target.password = "open sesame".into();
    job.target.database = String::new();
    for job in on_every_scheduler(&job) {
        let message = answer(job).expect_err("no certificate was shown");
        assert!(message.contains("Access denied for user 'proven'"), "{message}");
    }
    let Identity { cert, key } = authority.identify("proven");
    let show = |cert: Option<PathBuf>, key: Option<PathBuf>| {
        let mut job = job.clone();
        (job.target.tls.cert, job.target.tls.key) = (cert, key);
        job
    };
    gives(&show(Some(cert.clone()), Some(key)), true);
    is_refused(&show(Some(cert), None), "cert and key go together");
}

#[dyno_test(engines(&["mariadb@10.11"]))]
fn a_server_is_offered_only_the_ciphers_of_a_list(installation: &Installation) {
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    let [tls13, tls12] =
        [("TLSv1.2,TLSv1.3", &folders[0]), ("TLSv1.2", &folders[1])].map(|(versions, folder)| {
            let authority = Authority::new(folder.path(), "authority");
            start_with_tls(installation, folder.path(), &authority, &[("tls_version", versions)])
        });

    for cipher in ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"] {
        agree_on(&tls13, cipher, cipher);
    }
    for cipher in
        ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"]
    {
        agree_on(&tls12, cipher, cipher);
    }
    // A list of one version's ciphers does not affect the other version.
    agree_on(&tls13, "ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_");
    agree_on(&tls12, "TLS_AES_128_GCM_SHA256", "ECDHE-ECDSA-");
    let both = "TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256";
    agree_on(&tls13, both, "TLS_CHACHA20_POLY1305_SHA256");
    agree_on(&tls12, both, "ECDHE-ECDSA-AES128-GCM-SHA256");
    agree_on(&tls12, "DHE-RSA-AES256-SHA:ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305");

    // The server's key is not an RSA key.
    is_refused(&with_ciphers(&tls12, "ECDHE-RSA-AES128-GCM-SHA256"), "HandshakeFailure");
    is_refused(&with_ciphers(&tls13, "DHE-RSA-AES256-SHA:AES128-SHA"), "'DHE-RSA-AES256-SHA:AES128-SHA'");
    is_refused(&with_ciphers(&tls13, "HIGH:!aNULL"), "OpenSSL's keywords");
}

/// MySQL 8 creates an RSA key itself. By default, it has no cipher with `CHACHA20`.
#[dyno_test(servers(&["mysql@8.0.33"]))]
fn a_server_with_an_rsa_key_is_offered_only_the_ciphers_of_a_list(server: &mut Server) {
    let ciphers =
        ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"];
    let set = format!("SET GLOBAL ssl_cipher = '{}'", ciphers.join(":"));
    execute(server, &["SET GLOBAL tls_version = 'TLSv1.2'", &set, "ALTER INSTANCE RELOAD TLS"]);
    for cipher in ciphers {
        agree_on(server, cipher, cipher);
    }
}

/// A job that offers the ciphers of a list, and asks the server which cipher its connection uses.
fn with_ciphers(server: &Server, list: &str) -> Job {
    let code = "local _, cipher = con:query_row(\"SHOW STATUS LIKE 'Ssl_cipher'\"); print(cipher)";
    let mut job = with_tls(&over_tcp(ask(server, code), server), TlsMode::Required, None);
    job.target.tls.ciphers = Some(list.to_owned());
    job
}

/// Checks that the name of the agreed cipher begins with `beginning`.
fn agree_on(server: &Server, list: &str, beginning: &str) {
    for job in on_every_scheduler(&with_ciphers(server, list)) {
        let printed = answer(job).unwrap_or_else(|error| panic!("{list}: {error}"));
        assert!(printed.len() == 1 && printed[0].starts_with(beginning), "{list}: {printed:?}");
    }
}
