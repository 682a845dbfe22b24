//! Logins to a fake PostgreSQL server.

use super::{LOST, ask};
use crate::behaviours::Behaviour;
use crate::behaviours::Outcome::{Fails, IsLate};
use crate::listener::Peer;
use crate::pgsql::{authentication, fatal, message, ready, row};

const ORDER: &str = "is out of order";
const SCRAM: &str = "malformed SCRAM message";

/// Logins that never succeed.
pub(super) fn logins() -> Vec<Behaviour> {
    vec![
        Behaviour::new("is silent after the proof", IsLate, |mut peer| {
            ask(&mut peer, authentication(5, b"salt"));
            peer.stay();
        }),
        Behaviour::new("closes after the proof", Fails(LOST), |mut peer| {
            ask(&mut peer, authentication(5, b"salt"));
            peer.hear();
        }),
        Behaviour::new("denies access", Fails("password authentication failed"), |mut peer| {
            ask(&mut peer, authentication(5, b"salt"));
            ask(&mut peer, fatal("28P01", "password authentication failed for user \"dyno\""));
        }),
        Behaviour::new("is ready before it asks", Fails("'Z' is unexpected here"), |mut peer| {
            ask(&mut peer, ready());
            peer.stay();
        }),
        Behaviour::new("sends rows before it asks", Fails("'D' "), |mut peer| {
            ask(&mut peer, row(b"hello"));
            peer.stay();
        }),
        Behaviour::new("sends a key before it asks", Fails("'K' is unexpected here"), |mut peer| {
            ask(&mut peer, message(b'K', &[0; 8]));
            peer.stay();
        }),
        Behaviour::new("lets in and is never ready", IsLate, |mut peer| {
            ask(&mut peer, authentication(0, b""));
            peer.stay();
        }),
        Behaviour::new("lets in twice", Fails("'R' is unexpected here"), |mut peer| {
            ask(&mut peer, [authentication(0, b""), authentication(0, b"")].concat());
            peer.stay();
        }),
        Behaviour::new("has notices without end before it asks", IsLate, |mut peer| {
            peer.hear();
            peer.repeat(message(b'N', b"SWARNING\0VWARNING\0Mhello\0\0"));
        }),
        Behaviour::new("has parameters without end", IsLate, |mut peer| {
            ask(&mut peer, authentication(0, b""));
            peer.repeat(message(b'S', b"server_version\x0018.4\0"));
        }),
        Behaviour::new("has a parameter of 2 MB", Fails("larger than the limit"), |mut peer| {
            ask(&mut peer, authentication(0, b""));
            peer.say(message(b'S', &[&b"server_version\0"[..], &vec![b'9'; 2 << 20]].concat()));
            peer.stay();
        }),
    ]
}

/// SCRAM exchanges that fail. The server does not know the password, so an exchange that reaches the server's proof
/// fails there.
pub(super) fn scram() -> Vec<Behaviour> {
    vec![
        Behaviour::new("has a nonce of its own", Fails(SCRAM), |mut peer| {
            continue_with(&mut peer, b"r=abcdefgh,s=c2FsdA==,i=4096");
        }),
        Behaviour::new("continues with nothing", Fails(SCRAM), |mut peer| continue_with(&mut peer, b"")),
        Behaviour::new("continues with random bytes", Fails(SCRAM), |mut peer| {
            continue_with(&mut peer, &[0xAA; 64]);
        }),
        Behaviour::new("refuses by SCRAM's own words", Fails(SCRAM), |mut peer| {
            continue_with(&mut peer, b"e=other-error");
        }),
        Behaviour::new("wants 4,000,000,000 iterations", Fails("iteration count"), |mut peer| {
            continue_with_nonce(&mut peer, ",s=c2FsdA==,i=4000000000");
        }),
        Behaviour::new("has a salt that is none", Fails(SCRAM), |mut peer| {
            continue_with_nonce(&mut peer, ",s=!!!!,i=4096");
        }),
        Behaviour::new("does not know the password", Fails(SCRAM), |mut peer| {
            continue_with_nonce(&mut peer, "x,s=c2FsdA==,i=4096");
            ask(&mut peer, authentication(12, b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
            peer.stay();
        }),
        Behaviour::new("lets in without its own proof", Fails(ORDER), |mut peer| {
            continue_with_nonce(&mut peer, "x,s=c2FsdA==,i=4096");
            ask(&mut peer, authentication(0, b""));
            peer.stay();
        }),
        Behaviour::new("lets in before the proof", Fails(ORDER), |mut peer| {
            ask(&mut peer, authentication(10, b"SCRAM-SHA-256\0\0"));
            ask(&mut peer, authentication(0, b""));
            peer.stay();
        }),
        Behaviour::new("begins SCRAM twice", Fails(ORDER), |mut peer| {
            let begin = authentication(10, b"SCRAM-SHA-256\0\0");
            ask(&mut peer, &begin);
            ask(&mut peer, &begin);
            peer.stay();
        }),
        Behaviour::new("asks for the password within SCRAM", Fails(ORDER), |mut peer| {
            ask(&mut peer, authentication(10, b"SCRAM-SHA-256\0\0"));
            ask(&mut peer, authentication(3, b""));
            peer.stay();
        }),
        Behaviour::new("continues what was not begun", Fails("SASL continuation"), |mut peer| {
            ask(&mut peer, authentication(11, b"r=abc,s=c2FsdA==,i=4096"));
            peer.stay();
        }),
    ]
}

/// Begins SCRAM, and continues it with `data`.
fn continue_with(peer: &mut Peer, data: &[u8]) {
    ask(peer, authentication(10, b"SCRAM-SHA-256\0\0"));
    ask(peer, authentication(11, data));
    peer.hear();
}

/// Begins SCRAM, and continues it with the client's nonce and `rest`.
fn continue_with_nonce(peer: &mut Peer, rest: &str) {
    ask(peer, authentication(10, b"SCRAM-SHA-256\0\0"));
    let initial = peer.listen();
    let text = String::from_utf8_lossy(&initial);
    // A nonce may contain `r=`, but no comma (RFC 5802, section 7).
    let nonce = text.split_once(",r=").map_or("", |(_, nonce)| nonce);
    peer.say(authentication(11, format!("r={nonce}{rest}").as_bytes()));
}
