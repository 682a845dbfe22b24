//! Servers that let nobody log in.

use dyno_load::Protocol::{Mysql, Pgsql};
use dyno_load::TlsMode;

use crate::job::{fails, fails_with_tls, meet};
use crate::listener::Peer;
use crate::{mysql, pgsql};

#[test]
fn one_that_closes_at_once() {
    for driver in [Mysql, Pgsql] {
        fails(driver, "lost the connection to the server", |_| ());
    }
}

#[test]
fn one_that_resets_the_connection() {
    for story in [Mysql, Pgsql].into_iter().flat_map(|driver| meet(driver, TlsMode::Disabled, Peer::reset)) {
        let message = story.failure.expect("a failure");
        // A unix socket cannot be reset, so it is closed.
        assert!(message.contains("reset by peer") || message.contains("closed the connection"), "{message}");
    }
}

#[test]
fn one_of_another_protocol() {
    let play = |mut peer: Peer| {
        peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
        peer.stay();
    };
    fails(Mysql, "malformed packet sequence from the server", play);
    fails(Pgsql, "malformed message from the server: 'H' has no place in a login", play);
}

#[test]
fn one_that_speaks_tls_unasked() {
    fails(Pgsql, "malformed message from the server: '\\x16' has no place in a login", |mut peer| {
        peer.say(b"\x16\x03\x03\0\x05hello");
        peer.stay();
    });
}

#[test]
fn one_that_closes_in_the_middle_of_its_greeting() {
    fails(Mysql, "the server closed the connection", |mut peer| {
        peer.say(&mysql::greeting(false)[..20]);
    });
    fails(Pgsql, "the server closed the connection", |mut peer| {
        peer.hear();
        peer.say(&pgsql::authentication(0, b"")[..6]);
    });
}

#[test]
fn one_whose_greeting_does_not_end() {
    fails(Mysql, "larger than the limit of 1048576 bytes", |mut peer| {
        peer.say(b"\xff\xff\xff\0\x0a");
        while peer.say([b'8'; 4096]) {}
    });
    fails(Pgsql, "larger than the limit", |mut peer| {
        peer.say(b"R\x10\0\0\x08\0\0\0\x05");
        while peer.say([0; 4096]) {}
    });
}

#[test]
fn one_with_an_unknown_way_to_authenticate() {
    fails(Mysql, "'quantum_entanglement'", |mut peer| {
        peer.say(mysql::greeting(false));
        peer.hear();
        peer.say(mysql::packet(2, b"\xfequantum_entanglement\0abcdefghijklmnopqrst\0"));
        peer.stay();
    });
    fails(Pgsql, "'SASL QUANTUM-256'", |mut peer| {
        peer.hear();
        peer.say(pgsql::authentication(10, b"QUANTUM-256\0\0"));
        peer.stay();
    });
    fails(Pgsql, "'number 99'", |mut peer| {
        peer.hear();
        peer.say(pgsql::authentication(99, b""));
        peer.stay();
    });
}

#[test]
fn one_that_is_full() {
    fails(Mysql, "error 1040 (HY000): Too many connections", |mut peer| {
        // The client has not announced yet that it knows SQL states.
        peer.say(mysql::packet(0, b"\xff\x10\x04Too many connections"));
    });
    fails(Pgsql, "(53300): sorry, too many clients already", |mut peer| {
        peer.hear();
        peer.say(pgsql::fatal("53300", "sorry, too many clients already"));
    });
}

#[test]
fn one_whose_tls_is_none() {
    for mode in [TlsMode::Preferred, TlsMode::Required] {
        fails_with_tls(Mysql, mode, "TLS failed: ", |mut peer| {
            peer.say(mysql::greeting(true));
            peer.hear();
            peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
            peer.stay();
        });
    }
    fails_with_tls(Pgsql, TlsMode::Required, "TLS failed: ", |mut peer| {
        peer.hear();
        peer.say("S");
        peer.hear();
        peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
        peer.stay();
    });
}
