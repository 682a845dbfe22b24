//! Servers that misbehave in their request for authentication or before it.

use dyno_load::TlsMode;

use super::{LOST, NOT_SHOWN, ask};
use crate::behaviours::Behaviour;
use crate::behaviours::Outcome::{Fails, IsLate};
use crate::listener::Peer;
use crate::pgsql::{authentication, fatal, message};

const ORDER: &str = "is out of order";

/// Servers that do not speak the protocol at all.
pub(super) fn strangers() -> Vec<Behaviour> {
    vec![
        Behaviour::new("closes at once", Fails(LOST), drop),
        // The kernel's message depends on when the reset arrives.
        Behaviour::new("resets the connection", Fails("connection creation failed"), Peer::reset),
        Behaviour::new("is silent", IsLate, Peer::stay),
        Behaviour::new("speaks HTTP", Fails("'H' has no place in a login"), |mut peer| {
            peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
            peer.stay();
        }),
        Behaviour::new("speaks SSH", Fails("larger than the limit of 1048576 bytes"), |mut peer| {
            peer.say("SSH-2.0-OpenSSH_9.6\r\n");
            peer.stay();
        }),
        Behaviour::new("speaks TLS unasked", Fails("has no place in a login"), |mut peer| {
            peer.say(b"\x16\x03\x03\0\x05hello");
            peer.stay();
        }),
        Behaviour::new("speaks MySQL", Fails("'J' "), |mut peer| {
            peer.say(b"\x4a\0\0\0\x0a8.0.33\0\x07\0\0\0");
            peer.stay();
        }),
        Behaviour::new("sends random bytes", Fails("has no place in a login"), |mut peer| {
            peer.say([0xAA; 256]);
            peer.stay();
        }),
        Behaviour::new("is full", Fails("sorry, too many clients already"), |mut peer| {
            ask(&mut peer, fatal("53300", "sorry, too many clients already"));
        }),
        Behaviour::new("fails without words", Fails("the server gives no reason"), |mut peer| {
            ask(&mut peer, message(b'E', b"\0"));
            peer.stay();
        }),
        Behaviour::new("fails with endless words", Fails("xxxx"), |mut peer| {
            ask(&mut peer, fatal("XX000", &"x".repeat(500_000)));
            peer.stay();
        }),
    ]
}

/// Invalid requests for authentication.
pub(super) fn requests() -> Vec<Behaviour> {
    vec![
        Behaviour::new("asks a byte at a time", IsLate, |mut peer| {
            peer.hear();
            peer.dribble(authentication(10, &[b'x'; 200]));
        }),
        Behaviour::new("closes in the middle of its request", Fails(LOST), |mut peer| {
            ask(&mut peer, &authentication(0, b"")[..6]);
        }),
        Behaviour::new(
            "announces 16 MB and sends little",
            Fails("larger than the limit of 1048576"),
            |mut peer| {
                ask(&mut peer, b"R\x01\0\0\0\0\0");
                peer.stay();
            },
        ),
        Behaviour::new("asks without end", Fails("larger than the limit of 1048576 bytes"), |mut peer| {
            ask(&mut peer, b"R\x0f\0\0\0\0\0\0\x05");
            while peer.say([0; 4096]) {}
        }),
        Behaviour::new("announces 2 GB", Fails("larger than the limit of 1048576"), |mut peer| {
            ask(&mut peer, b"R\x7f\xff\xff\xff");
            peer.stay();
        }),
        Behaviour::new("announces less than a length", Fails("a length of 3 for 'R'"), |mut peer| {
            ask(&mut peer, b"R\0\0\0\x03");
            peer.stay();
        }),
        Behaviour::new("asks for nothing", Fails("malformed authentication request"), |mut peer| {
            ask(&mut peer, message(b'R', b""));
            peer.stay();
        }),
        Behaviour::new("asks for Kerberos", Fails("'Kerberos V5'"), |mut peer| {
            ask(&mut peer, authentication(2, b""));
            peer.stay();
        }),
        Behaviour::new("asks for GSSAPI", Fails("'GSSAPI'"), |mut peer| {
            ask(&mut peer, authentication(7, b""));
            peer.stay();
        }),
        Behaviour::new("asks for SSPI", Fails("'SSPI'"), |mut peer| {
            ask(&mut peer, authentication(9, b""));
            peer.stay();
        }),
    ]
}

/// Requests for authentication that the client cannot fulfil.
pub(super) fn unknown_requests() -> Vec<Behaviour> {
    vec![
        Behaviour::new("asks for an unknown method", Fails("'number 99'"), |mut peer| {
            ask(&mut peer, authentication(99, b""));
            peer.stay();
        }),
        Behaviour::new("offers an unknown mechanism", Fails("'SASL QUANTUM-256'"), |mut peer| {
            ask(&mut peer, authentication(10, b"QUANTUM-256\0\0"));
            peer.stay();
        }),
        Behaviour::new("offers no mechanism", Fails("'SASL '"), |mut peer| {
            ask(&mut peer, authentication(10, b"\0"));
            peer.stay();
        }),
        Behaviour::new("salts with three bytes", Fails("the salt is not 4 bytes"), |mut peer| {
            ask(&mut peer, authentication(5, b"abc"));
            peer.stay();
        }),
        Behaviour::new("asks for the password in clear text", Fails(NOT_SHOWN), |mut peer| {
            ask(&mut peer, authentication(3, b""));
            peer.stay();
        }),
        Behaviour::new("asks for a hash, then for the password", Fails(ORDER), |mut peer| {
            ask(&mut peer, authentication(5, b"salt"));
            ask(&mut peer, authentication(3, b""));
            peer.stay();
        }),
        Behaviour {
            tls: TlsMode::Preferred,
            ..Behaviour::new("has no TLS, which was only preferred", Fails(NOT_SHOWN), |mut peer| {
                ask(&mut peer, "N");
                ask(&mut peer, authentication(3, b""));
                peer.stay();
            })
        },
    ]
}
