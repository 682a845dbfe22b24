//! TLS with a fake MySQL server.

use dyno_load::TlsMode;

use super::{LOST, SEQUENCE};
use crate::behaviours::Behaviour;
use crate::behaviours::Outcome::{Fails, IsLate};
use crate::listener::Peer;
use crate::mysql::{SSL, greeting, greeting_of, ok};

/// Offers TLS in its greeting, begins TLS, and waits for the client's answer over it.
pub(super) fn greet_over_tls(peer: &mut Peer, plugin: &str) {
    peer.say(greeting_of(plugin, SSL));
    // Reads only the request for TLS, and none of the TLS messages after it.
    peer.hear_bytes(36);
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
                peer.say(greeting(false));
                peer.stay();
            },
        ),
        Behaviour::with_tls("offers TLS and speaks HTTP", Fails("TLS failed: "), |mut peer| {
            peer.say(greeting(true));
            peer.hear();
            peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
            peer.stay();
        }),
        Behaviour::with_tls("offers TLS and is silent", IsLate, |mut peer| {
            peer.say(greeting(true));
            peer.stay();
        }),
        Behaviour::with_tls("offers TLS and closes", Fails(LOST), |mut peer| {
            peer.say(greeting(true));
            peer.hear();
        }),
        Behaviour::with_tls(
            "offers TLS and goes on in clear",
            Fails("more in clear after TLS"),
            |mut peer| {
                peer.say([greeting(true), ok(2)].concat());
                peer.stay();
            },
        ),
        Behaviour::with_tls("sends its part of TLS a byte at a time", IsLate, |mut peer| {
            peer.say(greeting(true));
            peer.hear();
            peer.dribble([&b"\x16\x03\x03\x02\0\x02\0\x01\xfc\x03\x03"[..], &[0; 500]].concat());
        }),
        Behaviour::with_tls("refuses TLS", Fails("TLS failed: "), |mut peer| {
            peer.say(greeting(true));
            peer.hear();
            peer.say(b"\x15\x03\x03\0\x02\x02\x28");
            peer.stay();
        }),
        Behaviour::with_tls("sends records that are too large", Fails("TLS failed: "), |mut peer| {
            peer.say(greeting(true));
            peer.hear();
            peer.say([&b"\x16\x03\x03\xff\xff"[..], &[0; 70_000]].concat());
            peer.stay();
        }),
    ]
}

/// Servers with which TLS succeeds, but which the client should then refuse.
pub(super) fn over_tls() -> Vec<Behaviour> {
    vec![
        Behaviour::with_tls("speaks garbage over TLS", Fails(SEQUENCE), |mut peer| {
            greet_over_tls(&mut peer, "mysql_native_password");
            peer.say([0xAA; 64]);
            peer.stay();
        }),
        Behaviour::with_tls("is silent over TLS", IsLate, |mut peer| {
            greet_over_tls(&mut peer, "mysql_native_password");
            peer.stay();
        }),
        Behaviour::with_tls("closes over TLS", Fails(LOST), |mut peer| {
            greet_over_tls(&mut peer, "mysql_native_password");
        }),
        Behaviour {
            tls: TlsMode::VerifyCa,
            ..Behaviour::new("shows a stranger's certificate", Fails("no trusted authority"), |mut peer| {
                greet_over_tls(&mut peer, "caching_sha2_password");
            })
        },
        Behaviour {
            tls: TlsMode::VerifyIdentity,
            ..Behaviour::new("shows another's certificate", Fails("TLS failed: "), |mut peer| {
                greet_over_tls(&mut peer, "sha256_password");
            })
        },
    ]
}
