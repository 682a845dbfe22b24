//! Accepted and refused logins.

use rsa::pkcs8::{EncodePublicKey as _, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;

use super::super::logins::capabilities::{PROTOCOL_41, SECURE_CONNECTION};
use super::super::logins::scramble;
use super::server::{Form, NONCE, error, greeting, greeting_with, more_data, numbered, ok, switch_to};
use super::{LOGIN, hear, refusal, sent};
use crate::mysql::Connection;
use crate::{Client as _, Event, Login, ProtocolError, ServerError, TlsMode, Trust};

/// A connection that has received a handshake packet with `plugin` as the default plugin.
fn greeted(login: Login, plugin: &str) -> Connection {
    let mut connection = Connection::new(login);
    assert_eq!(hear(&mut connection, &greeting(Form::Ok, plugin)), Event::NeedInput);
    connection
}

fn local() -> Login {
    Login { local: true, ..LOGIN() }
}

#[test]
fn a_scramble_logs_in() {
    let mut connection = greeted(LOGIN(), "mysql_native_password");
    let introduction = sent(&mut connection);
    let scramble = scramble::native(b"pencil", NONCE);
    let expected = [b"user\0\x14", scramble.as_slice(), b"db\0mysql_native_password\0"].concat();
    assert_eq!(introduction[3], 1, "it is the second packet");
    assert_eq!(introduction[36..], expected);
    assert_eq!(hear(&mut connection, &numbered(2, &[ok(0, 2)])), Event::Ready);
    assert_eq!(connection.server_version(), "10.11.19-MariaDB");
}

#[test]
fn the_account_may_have_another_plugin_than_the_server() {
    let mut connection = greeted(LOGIN(), "auth_gssapi_client");
    sent(&mut connection);
    let nonce = [7; 32];
    hear(&mut connection, &numbered(2, &[switch_to("client_ed25519", &nonce)]));
    assert_eq!(sent(&mut connection), numbered(3, &[scramble::ed25519(b"pencil", &nonce)]));
    assert_eq!(hear(&mut connection, &numbered(4, &[ok(0, 2)])), Event::Ready);
}

#[test]
fn a_cached_password_is_enough() {
    let mut connection = greeted(LOGIN(), "caching_sha2_password");
    assert!(sent(&mut connection).ends_with(b"db\0caching_sha2_password\0"));
    assert_eq!(hear(&mut connection, &numbered(2, &[more_data(&[3]), ok(0, 2)])), Event::Ready);
    assert_eq!(sent(&mut connection), b"");
}

#[test]
fn a_password_that_is_not_cached_goes_over_a_socket_in_clear() {
    let mut connection = greeted(local(), "caching_sha2_password");
    sent(&mut connection);
    hear(&mut connection, &numbered(2, &[more_data(&[4])]));
    assert_eq!(sent(&mut connection), b"\x07\0\0\x03pencil\0");
    assert_eq!(hear(&mut connection, &numbered(4, &[ok(0, 2)])), Event::Ready);
}

/// A server's key pair, and the text of the public key.
fn key_pair() -> (RsaPrivateKey, String) {
    let key = RsaPrivateKey::new(&mut OsRng, 768).unwrap();
    let pem = RsaPublicKey::from(&key).to_public_key_pem(LineEnding::LF).unwrap();
    (key, pem)
}

/// The password in an encrypted answer, with its NUL.
fn decrypted(answer: &[u8], key: &RsaPrivateKey) -> Vec<u8> {
    let crossed = key.decrypt(Oaep::new::<Sha1>(), &answer[4..]).unwrap();
    crossed.iter().zip(NONCE).map(|(a, b)| a ^ b).collect()
}

/// The two plugins that require the password itself, each with the messages that the server sends before it
/// requires the password.
fn wanting_it_all() -> [(&'static str, Vec<Vec<u8>>); 2] {
    [("caching_sha2_password", vec![more_data(&[4])]), ("sha256_password", vec![])]
}

#[test]
fn the_key_of_a_server_that_is_known_is_taken_or_where_that_is_asked_for() {
    let (key, pem) = key_pair();
    let asked_for = Trust { takes_public_key: true, ..Trust::default() };
    let logins = [Login { known: true, ..LOGIN() }, Login { trust: asked_for, ..LOGIN() }];
    for ((plugin, until_key), login) in wanting_it_all().into_iter().zip(logins) {
        let request = if plugin == "sha256_password" { 1 } else { 2 };
        let mut connection = greeted(login, "mysql_native_password");
        sent(&mut connection);
        let mut number = 2;
        for payload in [vec![switch_to(plugin, NONCE)], until_key].concat() {
            sent(&mut connection);
            hear(&mut connection, &numbered(number, &[payload]));
            number += 2;
        }
        assert_eq!(sent(&mut connection), numbered(number - 1, &[vec![request]]));
        hear(&mut connection, &numbered(number, &[more_data(pem.as_bytes())]));
        assert_eq!(decrypted(&sent(&mut connection), &key), b"pencil\0");
        assert_eq!(hear(&mut connection, &numbered(number + 2, &[ok(0, 2)])), Event::Ready);
    }
}

#[test]
fn a_key_that_is_known_beforehand_is_not_asked_for() {
    let (key, pem) = key_pair();
    // The file that MySQL creates also ends with a NUL.
    let trust = Trust { public_key: Some(pem + "\0"), ..Trust::default() };
    for (plugin, until_key) in wanting_it_all() {
        let mut connection = greeted(Login { trust: trust.clone(), ..LOGIN() }, "mysql_native_password");
        let mut number = 2;
        for payload in [vec![switch_to(plugin, NONCE)], until_key].concat() {
            sent(&mut connection);
            hear(&mut connection, &numbered(number, &[payload]));
            number += 2;
        }
        assert_eq!(decrypted(&sent(&mut connection), &key), b"pencil\0");
        // If an impostor requests the password again, it gets the password in a form that only the true server can
        // read.
        hear(&mut connection, &numbered(number, &[switch_to("sha256_password", NONCE)]));
        assert_eq!(decrypted(&sent(&mut connection), &key), b"pencil\0");
    }
}

/// A connection after the server's greeting. It is encrypted, but the server is not verified.
fn encrypted(login: Login, plugin: &str) -> Connection {
    let mut connection = Connection::new(Login { tls: TlsMode::Required, ..login });
    assert_eq!(hear(&mut connection, &greeting(Form::Ok, plugin)), Event::StartTls);
    sent(&mut connection);
    connection.tls_established();
    sent(&mut connection);
    connection
}

#[test]
fn a_server_that_has_not_shown_who_it_is_learns_no_password() {
    let (_, pem) = key_pair();
    let pinned = Trust { public_key: Some(pem.clone()), ..Trust::default() };
    for trust in [Trust::default(), pinned] {
        for (plugin, until_key) in wanting_it_all() {
            let login = Login { trust: trust.clone(), ..LOGIN() };
            let open = (greeted(login.clone(), "mysql_native_password"), 2);
            // TLS without verification proves nothing about the server, and a known key is not used over TLS.
            let over_tls = (encrypted(login, "mysql_native_password"), 3);
            let is_pinned = trust.public_key.is_some();
            for (mut connection, mut number) in [open, over_tls].into_iter().skip(usize::from(is_pinned)) {
                sent(&mut connection);
                let mut outcome = Ok(Event::NeedInput);
                for payload in [vec![switch_to(plugin, NONCE)], until_key.clone()].concat() {
                    connection.receive(&numbered(number, &[payload]));
                    outcome = connection.advance();
                    number += 2;
                }
                assert_eq!(outcome, Err(ProtocolError::PasswordWanted), "{plugin}, {trust:?}");
                let said = sent(&mut connection);
                assert!(!said.windows(6).any(|bytes| bytes == b"pencil"), "{plugin}: {said:?}");
            }
        }
    }
    // The login also fails if the server sends its key without a request, or if its default plugin requires the
    // password itself.
    let mut connection = greeted(LOGIN(), "caching_sha2_password");
    let error = refusal(&mut connection, &numbered(2, &[more_data(pem.as_bytes())]));
    assert!(error.contains("get-server-public-key"), "{error}");
    for plugin in ["sha256_password", "mysql_clear_password"] {
        let error = refusal(&mut Connection::new(LOGIN()), &greeting(Form::Ok, plugin));
        assert!(error.contains("has not shown who it is"), "{plugin}: {error}");
    }
}

#[test]
fn a_password_that_is_not_cached_goes_over_tls_in_clear_to_whom_it_may() {
    let asked_for = Trust { takes_public_key: true, ..Trust::default() };
    for login in [Login { known: true, ..LOGIN() }, Login { trust: asked_for, ..LOGIN() }] {
        let mut connection = encrypted(login, "caching_sha2_password");
        hear(&mut connection, &numbered(3, &[more_data(&[4])]));
        assert_eq!(sent(&mut connection), b"\x07\0\0\x04pencil\0");
    }
}

#[test]
fn an_empty_password_is_nobody_s_secret() {
    let login = || Login { password: String::new(), ..LOGIN() };
    for plugin in ["sha256_password", "mysql_clear_password", "caching_sha2_password"] {
        let mut connection = greeted(login(), plugin);
        assert!(sent(&mut connection).ends_with(&[plugin.as_bytes(), b"\0"].concat()), "{plugin}");
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let mut connection = greeted(Login { known: true, ..LOGIN() }, "caching_sha2_password");
    let no_key = numbered(2, &[more_data(b"-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n")]);
    assert!(refusal(&mut connection, &no_key).contains("no RSA public key"));
}

#[test]
fn a_clear_password_goes_to_known_servers_or_where_that_is_asked_for() {
    let ask = numbered(2, &[switch_to("mysql_clear_password", b"")]);
    let mut connection = greeted(LOGIN(), "mysql_native_password");
    assert!(refusal(&mut connection, &ask).contains("in clear text"));
    let asked_for = Trust { sends_clear_text: true, ..Trust::default() };
    for login in [local(), Login { known: true, ..LOGIN() }, Login { trust: asked_for, ..LOGIN() }] {
        let mut connection = greeted(login, "mysql_native_password");
        sent(&mut connection);
        hear(&mut connection, &ask);
        assert_eq!(sent(&mut connection), b"\x07\0\0\x03pencil\0");
    }
}

#[test]
fn an_unknown_plugin_is_named() {
    for (request, name) in [(switch_to("dialog", b""), "'dialog'"), (vec![0xFE], "'mysql_old_password'")] {
        let mut connection = greeted(LOGIN(), "mysql_native_password");
        assert!(refusal(&mut connection, &numbered(2, &[request])).contains(name));
    }
}

#[test]
fn servers_refuse_before_and_after_their_greeting() {
    let mut connection = Connection::new(LOGIN());
    let too_many = numbered(0, &[b"\xFF\x10\x04Too many connections".to_vec()]);
    let state = "HY000".to_owned();
    let message = "Too many connections".to_owned();
    assert_eq!(hear(&mut connection, &too_many), Event::Failed(ServerError { code: 1040, state, message }));

    let mut connection = greeted(LOGIN(), "mysql_native_password");
    let denied = numbered(2, &[error(1045, "28000", "Access denied")]);
    let state = "28000".to_owned();
    let message = "Access denied".to_owned();
    assert_eq!(hear(&mut connection, &denied), Event::Failed(ServerError { code: 1045, state, message }));
    assert_eq!(connection.advance(), Ok(Event::NeedInput), "and says no more");
}

#[test]
fn tls_hides_the_introduction() {
    let mut connection = Connection::new(Login { tls: TlsMode::Preferred, ..LOGIN() });
    assert_eq!(hear(&mut connection, &greeting(Form::Ok, "mysql_native_password")), Event::StartTls);
    assert_eq!(sent(&mut connection)[..4], [32, 0, 0, 1]);
    assert_eq!(connection.advance(), Ok(Event::NeedInput));
    connection.tls_established();
    let introduction = sent(&mut connection);
    assert_eq!(introduction[3], 2, "it is the third packet");
    assert!(introduction.ends_with(b"db\0mysql_native_password\0"));
    assert_eq!(hear(&mut connection, &numbered(3, &[ok(0, 2)])), Event::Ready);
}

#[test]
fn nothing_said_in_clear_counts_after_tls() {
    let mut connection = Connection::new(Login { tls: TlsMode::Required, ..LOGIN() });
    let said = [greeting(Form::Ok, "mysql_native_password"), numbered(3, &[ok(0, 2)])].concat();
    assert!(refusal(&mut connection, &said).contains("more in clear after TLS was offered"));
}

#[test]
fn tls_is_done_without_only_if_that_is_allowed() {
    let without = greeting_with(PROTOCOL_41 | SECURE_CONNECTION, "");
    let mut connection = Connection::new(Login { tls: TlsMode::Required, ..LOGIN() });
    assert!(refusal(&mut connection, &without).contains("TLS is required"));
    let mut connection = Connection::new(Login { tls: TlsMode::Preferred, ..LOGIN() });
    assert_eq!(hear(&mut connection, &without), Event::NeedInput);
    assert!(!sent(&mut connection).is_empty());
}

#[test]
fn servers_of_before_4_1_are_refused() {
    let mut connection = Connection::new(LOGIN());
    assert!(refusal(&mut connection, &greeting_with(0, "")).contains("older than MySQL 4.1"));
}
