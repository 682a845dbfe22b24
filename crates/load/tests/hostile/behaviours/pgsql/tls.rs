//! TLS with a fake PostgreSQL server.

use dyno_load::TlsMode;

use super::{LOST, NOT_SHOWN, ask};
use crate::behaviours::Behaviour;
use crate::behaviours::Outcome::{Fails, IsLate};
use crate::listener::Peer;
use crate::pgsql::{authentication, fatal, ready};

/// Agrees to TLS, and waits for the client's first message over it.
fn begin_tls(peer: &mut Peer) {
    ask(peer, "S");
    peer.encrypt();
    peer.hear();
}

/// Servers with which TLS cannot be established.
pub(super) fn encrypted() -> Vec<Behaviour> {
    vec![
        Behaviour::with_tls(
            "has no TLS",
            Fails("TLS is required, but the server does not offer it"),
            |mut peer| {
                ask(&mut peer, "N");
                peer.stay();
            },
        ),
        Behaviour::with_tls(
            "answers about TLS with something else",
            Fails("has no place in a login"),
            |mut peer| {
                ask(&mut peer, "X");
                peer.stay();
            },
        ),
        Behaviour::with_tls("fails in place of TLS", Fails("no TLS today"), |mut peer| {
            ask(&mut peer, fatal("XX000", "no TLS today"));
        }),
        Behaviour::with_tls("says nothing about TLS", IsLate, Peer::stay),
        Behaviour::with_tls("agrees to TLS and speaks HTTP", Fails("TLS failed: "), |mut peer| {
            ask(&mut peer, "S");
            ask(&mut peer, "HTTP/1.1 400 Bad Request\r\n\r\n");
            peer.stay();
        }),
        Behaviour::with_tls("agrees to TLS and is silent", IsLate, |mut peer| {
            ask(&mut peer, "S");
            peer.stay();
        }),
        Behaviour::with_tls("agrees to TLS and closes", Fails(LOST), |mut peer| {
            ask(&mut peer, "S");
            peer.hear();
        }),
        Behaviour::with_tls(
            "agrees to TLS and goes on in clear",
            Fails("more bytes follow it in clear"),
            |mut peer| {
                ask(&mut peer, [&b"S"[..], &authentication(0, b""), &ready()].concat());
                peer.stay();
            },
        ),
        Behaviour::with_tls("sends its part of TLS a byte at a time", IsLate, |mut peer| {
            ask(&mut peer, "S");
            peer.hear();
            peer.dribble([&b"\x16\x03\x03\x02\0\x02\0\x01\xfc\x03\x03"[..], &[0; 500]].concat());
        }),
        Behaviour::with_tls("refuses TLS after it agreed", Fails("TLS failed: "), |mut peer| {
            ask(&mut peer, "S");
            ask(&mut peer, b"\x15\x03\x03\0\x02\x02\x28");
            peer.stay();
        }),
    ]
}

/// Servers with which TLS succeeds, but which the client should then refuse.
pub(super) fn over_tls() -> Vec<Behaviour> {
    vec![
        Behaviour::with_tls("asks for clear text over TLS", Fails(NOT_SHOWN), |mut peer| {
            begin_tls(&mut peer);
            peer.say(authentication(3, b""));
            peer.stay();
        }),
        Behaviour::with_tls("speaks garbage over TLS", Fails("has no place in a login"), |mut peer| {
            begin_tls(&mut peer);
            peer.say([0xAA; 64]);
            peer.stay();
        }),
        Behaviour::with_tls("is silent over TLS", IsLate, |mut peer| {
            begin_tls(&mut peer);
            peer.stay();
        }),
        Behaviour {
            tls: TlsMode::VerifyCa,
            ..Behaviour::new("shows a stranger's certificate", Fails("no trusted authority"), |mut peer| {
                begin_tls(&mut peer);
                peer.say(authentication(3, b""));
            })
        },
        Behaviour {
            tls: TlsMode::VerifyIdentity,
            ..Behaviour::new("shows another's certificate", Fails("TLS failed: "), |mut peer| {
                begin_tls(&mut peer);
                peer.say(authentication(3, b""));
            })
        },
    ]
}
