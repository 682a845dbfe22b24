//! Servers that misbehave in their greeting or before it.

use super::{LOST, SEQUENCE};
use crate::behaviours::Behaviour;
use crate::behaviours::Outcome::{Fails, IsLate};
use crate::listener::Peer;
use crate::mysql::{greeting, greeting_of, packet};

/// Servers that do not speak the protocol at all.
pub(super) fn strangers() -> Vec<Behaviour> {
    vec![
        Behaviour::new("closes at once", Fails(LOST), drop),
        // The kernel's message depends on when the reset arrives.
        Behaviour::new("resets the connection", Fails("connection creation failed"), Peer::reset),
        Behaviour::new("is silent", IsLate, Peer::stay),
        Behaviour::new("speaks HTTP", Fails(SEQUENCE), |mut peer| {
            peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
            peer.stay();
        }),
        Behaviour::new("speaks SSH", Fails(SEQUENCE), |mut peer| {
            peer.say("SSH-2.0-OpenSSH_9.6\r\n");
            peer.stay();
        }),
        Behaviour::new("is a mail server", Fails(SEQUENCE), |mut peer| {
            peer.say("220 mail.example ESMTP\r\n");
            peer.stay();
        }),
        Behaviour::new("speaks TLS unasked", IsLate, |mut peer| {
            peer.say(b"\x15\x03\x01\0\x02\x02\x28");
            peer.stay();
        }),
        Behaviour::new("speaks PostgreSQL", Fails("protocol version 92"), |mut peer| {
            peer.say([&b"E\0\0\0\x5cSFATAL\0"[..], &[b'x'; 80]].concat());
            peer.stay();
        }),
        Behaviour::new("sends random bytes", Fails(SEQUENCE), |mut peer| {
            peer.say([0xAA; 256]);
            peer.stay();
        }),
    ]
}

/// Invalid greetings.
pub(super) fn greetings() -> Vec<Behaviour> {
    vec![
        Behaviour::new("sends its greeting a byte at a time", IsLate, |peer| {
            peer.dribble(greeting_of(&"x".repeat(1000), 0));
        }),
        Behaviour::new("closes in the middle of its greeting", Fails(LOST), |mut peer| {
            peer.say(&greeting(false)[..20]);
        }),
        Behaviour::new("stops in the middle of its greeting", IsLate, |mut peer| {
            peer.say(&greeting(false)[..20]);
            peer.stay();
        }),
        Behaviour::new(
            "announces 16 MB and sends little",
            Fails("larger than the limit of 1048576"),
            |mut peer| {
                peer.say(b"\xff\xff\xff\0\x0a8.0");
                peer.stay();
            },
        ),
        Behaviour::new("greets without end", Fails("larger than the limit of 1048576 bytes"), |mut peer| {
            peer.say(b"\xff\xff\xff\0\x0a");
            while peer.say([b'8'; 4096]) {}
        }),
        Behaviour::new("greets with nothing", Fails("malformed handshake"), |mut peer| {
            peer.say(packet(0, b""));
            peer.stay();
        }),
        Behaviour::new("greets with too little", Fails("malformed handshake"), |mut peer| {
            peer.say(packet(0, b"\x0a8.0.33\0\x07\0\0\0abcd"));
            peer.stay();
        }),
        Behaviour::new("is of another time", Fails("protocol version 9, expected 10"), |mut peer| {
            peer.say(packet(0, b"\x093.22.1\0"));
            peer.stay();
        }),
        Behaviour::new("is older than MySQL 4.1", Fails("older than MySQL 4.1"), |mut peer| {
            let mut old = greeting(false);
            // The capabilities follow the version, the connection's number and the nonce.
            let at = 4 + 1 + b"8.0.33-hostile\0".len() + 4 + 9;
            old[at..at + 2].fill(0);
            peer.say(old);
            peer.stay();
        }),
        Behaviour::new("begins with another number", Fails(SEQUENCE), |mut peer| {
            peer.say(packet(5, &greeting(false)[4..]));
            peer.stay();
        }),
        Behaviour::new("is full", Fails("Too many connections"), |mut peer| {
            peer.say(packet(0, b"\xff\x10\x04Too many connections"));
        }),
        Behaviour::new("greets with half an error", Fails("malformed ERR packet"), |mut peer| {
            peer.say(packet(0, b"\xff"));
            peer.stay();
        }),
        Behaviour::new("greets with an endless error", Fails("xxxx"), |mut peer| {
            peer.say(packet(0, &[&b"\xff\x10\x04"[..], &[b'x'; 500_000]].concat()));
            peer.stay();
        }),
    ]
}
