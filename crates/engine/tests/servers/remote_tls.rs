//! Connections to running servers use TLS as the addresses in the connection strings demand.

use std::path::Path;

use dyno_engine::testing::{Authority, Identity, engines, servers, start_with_tls};
use dyno_engine::{Access, DATABASE, Dsn, Installation, Remote, Server};
use dyno_testing::dyno_test;

/// The systems that can offer TLS.
const SYSTEMS: &[&str] = &["mariadb@10.11", "postgres@18.4"];

/// The names that a product gives to the TLS modes and parameters of an address.
struct Words {
    scheme: &'static str,
    mode: &'static str,
    ca: &'static str,
    disabled: &'static str,
    required: &'static str,
    verify_ca: &'static str,
    verify_full: &'static str,
}

const POSTGRES: Words = Words {
    scheme: "postgres",
    mode: "sslmode",
    ca: "sslrootcert",
    disabled: "disable",
    required: "require",
    verify_ca: "verify-ca",
    verify_full: "verify-full",
};

const MYSQL: Words = Words {
    scheme: "mysql",
    mode: "ssl-mode",
    ca: "ssl-ca",
    disabled: "DISABLED",
    required: "REQUIRED",
    verify_ca: "VERIFY_CA",
    verify_full: "VERIFY_IDENTITY",
};

impl Words {
    fn of(server: &Server) -> &'static Self {
        if server.access().engine == "postgres" { &POSTGRES } else { &MYSQL }
    }

    /// An address without parameters. `host` is one of the names of this host.
    fn address(&self, access: &Access, host: &str) -> String {
        let Access { user, password, port, .. } = access;
        format!("{}://{user}:{password}@{host}:{port}/{DATABASE}", self.scheme)
    }

    fn verified(&self, address: &str, mode: &str, ca: &Path) -> String {
        format!("{address}?{}={mode}&{}={}", self.mode, self.ca, ca.display())
    }
}

fn connect(dsn: &str) -> Result<Remote, String> {
    Remote::connect(&Dsn::parse(dsn).unwrap()).map_err(|error| {
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    })
}

/// Whether the server says that a connection is encrypted. Asserts that the client says the same.
fn is_encrypted(remote: &Remote) -> bool {
    let sql = match remote.family() {
        dyno_engine::Family::Postgres => {
            "SELECT version || ', ' || cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl"
        }
        _ => {
            "SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME DESC SEPARATOR ', ')
             FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME IN ('Ssl_version', 'Ssl_cipher')
             HAVING MAX(VARIABLE_VALUE) <> ''"
        }
    };
    let rows = remote.query(sql).unwrap().rows;
    let server_says = rows.into_iter().flatten().next().flatten();
    let client_says = remote.encryption().map(|encryption| encryption.to_string().replace("TLS ", "TLSv"));
    assert_eq!(server_says, client_says);
    client_says.is_some()
}

#[dyno_test(engines(SYSTEMS))]
fn a_server_is_reached_by_tls_as_its_address_says(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "authority");
    let stranger = Authority::new(folder.path(), "stranger");
    let server = start_with_tls(installation, folder.path(), &authority, &[]);
    let words = Words::of(&server);
    // The server's certificate is for the name `localhost`, so it is not valid for the address `127.0.0.1`.
    let [by_number, by_name] = ["127.0.0.1", "localhost"].map(|host| words.address(server.access(), host));

    assert!(is_encrypted(&connect(&by_number).unwrap()), "where nothing is said");
    assert!(!is_encrypted(&connect(&format!("{by_number}?{}={}", words.mode, words.disabled)).unwrap()));
    assert!(is_encrypted(&connect(&format!("{by_number}?{}={}", words.mode, words.required)).unwrap()));
    for (address, mode) in
        [(&by_number, words.verify_ca), (&by_name, words.verify_ca), (&by_name, words.verify_full)]
    {
        assert!(is_encrypted(&connect(&words.verified(address, mode, &authority.cert)).unwrap()), "{mode}");
    }

    let wrong_name = connect(&words.verified(&by_number, words.verify_full, &authority.cert)).unwrap_err();
    assert!(
        wrong_name.contains("TLS failed: ") && wrong_name.contains("not valid for name \"127.0.0.1\""),
        "{wrong_name}"
    );
    for mode in [words.verify_ca, words.verify_full] {
        let error = connect(&words.verified(&by_name, mode, &stranger.cert)).unwrap_err();
        assert!(error.contains("TLS failed: no trusted authority has signed"), "{error}");
        assert!(!error.contains(&server.access().password), "{error}");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn a_server_without_tls_is_refused_where_tls_is_required(server: &mut Server) {
    let words = Words::of(server);
    let address = words.address(server.access(), "127.0.0.1");
    assert!(!is_encrypted(&connect(&address).unwrap()), "where nothing is said");
    let error = connect(&format!("{address}?{}={}", words.mode, words.required)).unwrap_err();
    assert!(error.contains("TLS is required, but the server does not offer it"), "{error}");
}

/// If TLS fails, nothing is sent in clear text to a server that offers TLS, unless the address allows it.
#[dyno_test(engines(&["mariadb@10.11"]))]
fn tls_that_fails_is_told_with_how_to_do_without(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "authority");
    let of_old = [("tls_version", "TLSv1.2"), ("ssl_cipher", "ECDHE-ECDSA-AES256-SHA384")];
    let server = start_with_tls(installation, folder.path(), &authority, &of_old);
    let address = MYSQL.address(server.access(), "127.0.0.1");
    let error = connect(&address).unwrap_err();
    assert!(error.contains("TLS failed: "), "{error}");
    assert!(error.contains("which is used unless the dsn has ssl-mode=DISABLED"), "{error}");
    let error = connect(&format!("{address}?ssl-mode=REQUIRED")).unwrap_err();
    assert!(error.contains("TLS failed: ") && !error.contains("unless"), "{error}");
    assert!(!is_encrypted(&connect(&format!("{address}?ssl-mode=DISABLED")).unwrap()));
}

#[dyno_test(engines(&["mariadb@10.11"]))]
fn a_server_sees_the_certificate_that_an_address_names(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "authority");
    let server = start_with_tls(installation, folder.path(), &authority, &[]);
    server.query("CREATE USER proven@'%' IDENTIFIED BY 'open sesame' REQUIRE X509").unwrap();
    server.query(&format!("GRANT ALL ON {DATABASE}.* TO proven@'%'")).unwrap();
    let address = format!(
        "mariadb://proven:open%20sesame@127.0.0.1:{}/{DATABASE}?ssl-mode=REQUIRED",
        server.access().port
    );
    let error = connect(&address).unwrap_err();
    assert!(error.contains("Access denied for user 'proven'"), "{error}");
    let Identity { cert, key } = authority.identify("proven");
    let proven = format!("{address}&ssl-cert={}&ssl-key={}", cert.display(), key.display());
    assert!(is_encrypted(&connect(&proven).unwrap()));
}
