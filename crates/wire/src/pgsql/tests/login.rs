//! Logins.

use super::server::{authentication, error, message, notice, ready, welcome};
use super::{LOGIN, hear, refusal, scram, sent};
use crate::pgsql::Connection;
use crate::{Client as _, Event, Login, PgsqlMethod, TlsMode, Trust};

const SSL_REQUEST: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x2f";

/// A connection that has sent its start-up message.
fn started() -> Connection {
    let mut connection = Connection::new(LOGIN());
    let startup = sent(&mut connection);
    assert!(startup.ends_with(b"user\0user\0database\0db\0application_name\0dyno\0\0"));
    connection
}

fn asking_for_tls(tls: TlsMode) -> Connection {
    let mut connection = Connection::new(Login { tls, ..LOGIN() });
    assert_eq!(sent(&mut connection), SSL_REQUEST);
    connection
}

#[test]
fn trust_needs_no_answer() {
    let mut connection = started();
    assert_eq!(hear(&mut connection, &notice("WARNING")), Event::NeedInput);
    assert_eq!(hear(&mut connection, &welcome()), Event::Ready);
    assert_eq!(sent(&mut connection), b"");
    assert_eq!(connection.server_version(), "18.4");
}

/// A connection whose transport is encrypted with TLS.
fn encrypted(login: Login) -> Connection {
    let mut connection = Connection::new(login);
    assert_eq!(sent(&mut connection), SSL_REQUEST);
    assert_eq!(hear(&mut connection, b"S"), Event::StartTls);
    connection.tls_established();
    connection
}

#[test]
fn the_password_itself_is_for_servers_that_are_known_or_where_it_is_asked_for() {
    let tls = TlsMode::Required;
    let asked_for = Trust { methods: vec![PgsqlMethod::Password], ..Trust::default() };
    for (trust, known) in [(Trust::default(), true), (asked_for, false)] {
        let login = || Login { known, trust: trust.clone(), ..LOGIN() };
        let over_tls = encrypted(Login { tls, ..login() });
        for mut connection in [Connection::new(login()), over_tls] {
            sent(&mut connection);
            assert_eq!(hear(&mut connection, &authentication(3, b"")), Event::NeedInput);
            assert_eq!(sent(&mut connection), b"p\0\0\0\x0bpencil\0");
            assert_eq!(hear(&mut connection, &welcome()), Event::Ready);
        }
    }
    let mut local = Connection::new(Login { local: true, ..LOGIN() });
    sent(&mut local);
    hear(&mut local, &authentication(3, b""));
    assert_eq!(sent(&mut local), b"p\0\0\0\x0bpencil\0");
}

#[test]
fn a_server_that_has_not_shown_who_it_is_gets_no_password() {
    // TLS without verification does not prove the server's identity.
    for mut connection in [started(), encrypted(Login { tls: TlsMode::Required, ..LOGIN() })] {
        sent(&mut connection);
        let error = refusal(&mut connection, &authentication(3, b""));
        assert!(error.contains("has not shown who it is") && error.contains("require_auth"), "{error}");
        assert_eq!(sent(&mut connection), b"");
    }
    let mut nothing_to_tell = Connection::new(Login { password: String::new(), ..LOGIN() });
    sent(&mut nothing_to_tell);
    assert_eq!(hear(&mut nothing_to_tell, &authentication(3, b"")), Event::NeedInput);
}

#[test]
fn methods_that_are_required_are_the_only_ones() {
    for (required, answers) in [
        ("scram-sha-256", [false, false, false, true]),
        ("md5, none", [true, false, true, false]),
        ("", [true, false, true, true]),
    ] {
        let trust = Trust { methods: PgsqlMethod::list(required).unwrap(), ..Trust::default() };
        let requests = [
            authentication(0, b""),
            authentication(3, b""),
            authentication(5, b"salt"),
            authentication(10, b"SCRAM-SHA-256\0\0"),
        ];
        for (request, is_allowed) in requests.iter().zip(answers) {
            let mut connection = Connection::new(Login { trust: trust.clone(), ..LOGIN() });
            connection.receive(request);
            assert_eq!(connection.advance().is_ok(), is_allowed, "{required}: {request:?}");
        }
    }
    assert_eq!(PgsqlMethod::list("md5,gss"), Err("gss".to_owned()));
}

#[test]
fn a_login_takes_no_large_message() {
    let mut connection = started();
    connection.receive(b"R\x0f\0\0");
    assert_eq!(connection.advance(), Ok(Event::NeedInput));
    let error = refusal(&mut connection, b"\0");
    assert!(error.contains("larger than the limit of 1048576 bytes"), "{error}");
}

/// The hash is PostgreSQL's: `'md5' || md5(md5('pencil' || 'user') || salt)`.
#[test]
fn md5_salts_the_hash_of_password_and_user() {
    let mut connection = started();
    assert_eq!(hear(&mut connection, &authentication(5, b"salt")), Event::NeedInput);
    assert_eq!(sent(&mut connection), b"p\0\0\0\x28md5d3d9bcccbaa2fb5234570d4d0f22b055\0");
    assert_eq!(hear(&mut connection, &welcome()), Event::Ready);
}

/// Runs SCRAM up to the client's proof and checks it. Returns the server's signature.
fn scram_as_far_as_the_proof(connection: &mut Connection) -> String {
    let offer = b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
    assert_eq!(hear(connection, &authentication(10, offer)), Event::NeedInput);
    let initial = String::from_utf8(sent(connection)).unwrap();
    let (_, client_first) = initial.split_once("n,,").expect("no channel binding");
    assert!(initial[5..].starts_with("SCRAM-SHA-256\0"));

    let nonce = client_first.strip_prefix("n=,r=").unwrap();
    let server_first = format!("r={nonce}server,s={},i={}", scram::SALT, scram::ITERATIONS);
    assert_eq!(hear(connection, &authentication(11, server_first.as_bytes())), Event::NeedInput);
    let response = String::from_utf8(sent(connection)[5..].to_vec()).unwrap();
    let (client_final, proof) = response.split_once(",p=").unwrap();
    assert_eq!(client_final, format!("c=biws,r={nonce}server"));

    let (expected_proof, signature) =
        scram::proof_and_signature(&format!("{client_first},{server_first},{client_final}"));
    assert_eq!(proof, expected_proof);
    signature
}

#[test]
fn scram_proves_the_password_both_ways() {
    let mut connection = started();
    let signature = scram_as_far_as_the_proof(&mut connection);
    let server_final = authentication(12, format!("v={signature}").as_bytes());
    assert_eq!(hear(&mut connection, &[server_final, welcome()].concat()), Event::Ready);
}

#[test]
fn scram_refuses_a_server_that_does_not_know_the_password() {
    let mut connection = started();
    scram_as_far_as_the_proof(&mut connection);
    let wrong = authentication(12, b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    let error = refusal(&mut connection, &wrong);
    assert!(error.contains("SCRAM verification error"), "{error}");

    let mut connection = started();
    scram_as_far_as_the_proof(&mut connection);
    let error = refusal(&mut connection, &welcome());
    assert!(error.contains("AuthenticationOk is out of order"), "{error}");
}

#[test]
fn scram_refuses_to_compute_for_hours() {
    let mut connection = started();
    hear(&mut connection, &authentication(10, b"SCRAM-SHA-256\0\0"));
    let initial = String::from_utf8(sent(&mut connection)).unwrap();
    let (_, nonce) = initial.split_once("r=").unwrap();
    let server_first = format!("r={nonce}x,s={},i=4000000000", scram::SALT);
    let error = refusal(&mut connection, &authentication(11, server_first.as_bytes()));
    assert!(error.contains("iteration count"), "{error}");
}

#[test]
fn unknown_methods_are_named() {
    for (kind, detail, name) in [
        (7, b"".as_slice(), "GSSAPI"),
        (9, b"", "SSPI"),
        (99, b"", "number 99"),
        (10, b"OAUTHBEARER\0OTHER\0\0", "SASL OAUTHBEARER, OTHER"),
    ] {
        let error = refusal(&mut started(), &authentication(kind, detail));
        assert!(error.contains(&format!("'{name}'")), "{error}");
    }
}

#[test]
fn a_refused_login_gives_the_servers_words() {
    let mut connection = started();
    let refused = error("FATAL", "28P01", "password authentication failed");
    let Event::Failed(error) = hear(&mut connection, &refused) else { panic!("not refused") };
    assert_eq!((&*error.state, &*error.message), ("28P01", "password authentication failed"));
}

#[test]
fn nothing_else_is_taken_for_a_login() {
    for bytes in [ready(), authentication(5, b"abc"), message(b'R', b"\0"), message(b'D', b"")] {
        assert!(refusal(&mut started(), &bytes).starts_with("malformed"), "{bytes:?}");
    }
}

#[test]
fn tls_comes_before_the_start_up_message() {
    for tls in [TlsMode::Preferred, TlsMode::Required] {
        let mut connection = asking_for_tls(tls);
        assert_eq!(hear(&mut connection, b"S"), Event::StartTls);
        assert_eq!(connection.advance(), Ok(Event::NeedInput));
        assert_eq!(sent(&mut connection), b"");
        connection.tls_established();
        assert_eq!(sent(&mut connection), sent(&mut Connection::new(LOGIN())));
        assert_eq!(hear(&mut connection, &welcome()), Event::Ready);
    }
}

#[test]
fn a_server_without_tls_is_used_only_where_that_is_allowed() {
    let mut connection = asking_for_tls(TlsMode::Preferred);
    assert_eq!(hear(&mut connection, b"N"), Event::NeedInput);
    assert_eq!(sent(&mut connection), sent(&mut Connection::new(LOGIN())));
    assert_eq!(hear(&mut connection, &welcome()), Event::Ready);

    let error = refusal(&mut asking_for_tls(TlsMode::Required), b"N");
    assert_eq!(error, "TLS is required, but the server does not offer it");
}

#[test]
fn tls_is_not_asked_for_where_it_cannot_be() {
    let local = Login { tls: TlsMode::Preferred, local: true, ..LOGIN() };
    assert_eq!(sent(&mut Connection::new(local)), sent(&mut Connection::new(LOGIN())));
}

#[test]
fn clear_bytes_are_not_smuggled_into_tls() {
    let stuffed = [b"S".as_slice(), &welcome()].concat();
    let error = refusal(&mut asking_for_tls(TlsMode::Preferred), &stuffed);
    assert!(error.contains("in clear"), "{error}");
}

#[test]
fn an_error_instead_of_an_answer_about_tls_is_told() {
    let refused = error("FATAL", "53300", "too many clients");
    let event = hear(&mut asking_for_tls(TlsMode::Preferred), &refused);
    assert!(matches!(event, Event::Failed(error) if error.state == "53300"));
}
