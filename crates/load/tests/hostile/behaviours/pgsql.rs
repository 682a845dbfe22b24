//! Behaviours of what claims to be a PostgreSQL server.

use dyno_load::TlsMode;

use super::Outcome::{Fails, Finishes, IsLate, IsUnfinished};
use super::{Behaviour, PREPARES};
use crate::listener::Peer;
use crate::pgsql::{authentication, columns, end, fatal, let_in, message, ready, row};

const LOST: &str = "lost the connection to the server";
const NOT_SHOWN: &str = "has not shown who it is";
const ORDER: &str = "is out of order";
const SCRAM: &str = "malformed SCRAM message";

pub(super) fn all() -> Vec<Behaviour> {
    let mut all = strangers();
    all.extend(requests());
    all.extend(unknown_requests());
    all.extend(logins());
    all.extend(scram());
    all.extend(encrypted());
    all.extend(over_tls());
    all.extend(answers());
    all.extend(results());
    all.extend(prepared());
    all
}

/// Waits for the client's first message, then sends one.
fn ask(peer: &mut Peer, bytes: impl AsRef<[u8]>) {
    peer.hear();
    peer.say(bytes);
}

/// Agrees to TLS, and waits for the client's first message over it.
fn begin_tls(peer: &mut Peer) {
    ask(peer, "S");
    peer.encrypt();
    peer.hear();
}

/// What does not speak the protocol at all.
fn strangers() -> Vec<Behaviour> {
    vec![
        Behaviour::new("closes at once", Fails(LOST), drop),
        Behaviour::new("resets the connection", Fails(LOST), Peer::reset),
        Behaviour::new("is silent", IsLate, Peer::stay),
        Behaviour::new("speaks HTTP", Fails("larger than the limit"), |mut peer| {
            peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
            peer.stay();
        }),
        Behaviour::new("speaks SSH", Fails("larger than the limit"), |mut peer| {
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
        Behaviour::new("sends random bytes", Fails("larger than the limit"), |mut peer| {
            peer.say([0xAA; 256]);
            peer.stay();
        }),
        Behaviour::new("is full", Fails("sorry, too many clients already"), |mut peer| {
            ask(&mut peer, fatal("53300", "sorry, too many clients already"));
        }),
        Behaviour::new("fails without words", Fails("()"), |mut peer| {
            ask(&mut peer, message(b'E', b"\0"));
            peer.stay();
        }),
        Behaviour::new("fails with endless words", Fails("xxxx"), |mut peer| {
            ask(&mut peer, fatal("XX000", &"x".repeat(500_000)));
            peer.stay();
        }),
    ]
}

/// Requests for a proof that are none.
fn requests() -> Vec<Behaviour> {
    vec![
        Behaviour::new("asks a byte at a time", IsLate, |mut peer| {
            peer.hear();
            peer.dribble(authentication(10, &[b'x'; 200]));
        }),
        Behaviour::new("closes in the middle of its request", Fails(LOST), |mut peer| {
            ask(&mut peer, &authentication(0, b"")[..6]);
        }),
        Behaviour::new("announces 16 MB and sends little", IsLate, |mut peer| {
            ask(&mut peer, b"R\x01\0\0\0\0\0");
            peer.stay();
        }),
        Behaviour::new("asks without end", Fails("larger than the limit of 1048576 bytes"), |mut peer| {
            ask(&mut peer, b"R\x10\0\0\x08\0\0\0\x05");
            while peer.say([0; 4096]) {}
        }),
        Behaviour::new("announces 2 GB", Fails("larger than the limit"), |mut peer| {
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

/// Requests for a proof that cannot be given.
fn unknown_requests() -> Vec<Behaviour> {
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

/// Logins that lead nowhere.
fn logins() -> Vec<Behaviour> {
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

/// SCRAM that goes wrong. The client's nonce is not known here, so an exchange ends at the latest with it.
fn scram() -> Vec<Behaviour> {
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

/// Begins SCRAM and continues it.
fn continue_with(peer: &mut Peer, data: &[u8]) {
    ask(peer, authentication(10, b"SCRAM-SHA-256\0\0"));
    ask(peer, authentication(11, data));
    peer.hear();
}

/// Begins SCRAM and continues it with the client's nonce.
fn continue_with_nonce(peer: &mut Peer, rest: &str) {
    ask(peer, authentication(10, b"SCRAM-SHA-256\0\0"));
    let initial = peer.listen();
    let text = String::from_utf8_lossy(&initial);
    let nonce = text.rsplit_once("r=").map_or("", |(_, nonce)| nonce);
    peer.say(authentication(11, format!("r={nonce}{rest}").as_bytes()));
}

/// TLS that goes wrong.
fn encrypted() -> Vec<Behaviour> {
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

/// TLS that goes well with whom it should not.
fn over_tls() -> Vec<Behaviour> {
    vec![
        Behaviour::with_tls("asks for clear text over TLS", Fails(NOT_SHOWN), |mut peer| {
            begin_tls(&mut peer);
            peer.say(authentication(3, b""));
            peer.stay();
        }),
        Behaviour::with_tls("speaks garbage over TLS", Fails("larger than the limit"), |mut peer| {
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
            ..Behaviour::new(
                "shows a stranger's certificate",
                Fails("no authority that is to be"),
                |mut peer| {
                    begin_tls(&mut peer);
                    peer.say(authentication(3, b""));
                },
            )
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

/// Answers to a query that are none.
fn answers() -> Vec<Behaviour> {
    vec![
        Behaviour::new("closes instead of an answer", Fails(LOST), |mut peer| let_in(&mut peer)),
        Behaviour::new("never answers", IsUnfinished, |mut peer| {
            let_in(&mut peer);
            peer.stay();
        }),
        Behaviour::new("answers a byte at a time", IsUnfinished, |mut peer| {
            let_in(&mut peer);
            peer.dribble(columns(100));
        }),
        Behaviour::new("answers with random bytes", Fails("from the server"), |mut peer| {
            let_in(&mut peer);
            peer.say([0xAA; 64]);
            peer.stay();
        }),
        Behaviour::new("answers with less than a length", Fails("a length of 0 for 'T'"), |mut peer| {
            let_in(&mut peer);
            peer.say(b"T\0\0\0\0");
            peer.stay();
        }),
        Behaviour::new("is ready without an answer", Fails("before the command is complete"), |mut peer| {
            let_in(&mut peer);
            peer.say(ready());
            peer.stay();
        }),
        Behaviour::new("asks for a proof again", Fails("'R' is unexpected here"), |mut peer| {
            let_in(&mut peer);
            peer.say(authentication(3, b""));
            peer.stay();
        }),
        Behaviour::new("asks for data to copy", Fails("COPY from stdin failed"), |mut peer| {
            let_in(&mut peer);
            peer.say(message(b'G', b"\0\0\0"));
            peer.hear();
            let refused = message(b'E', b"SERROR\0VERROR\0C57014\0MCOPY from stdin failed\0\0");
            peer.say([refused, ready()].concat());
            peer.stay();
        }),
        Behaviour::new("asks for data to copy twice", Fails("the copy was refused before"), |mut peer| {
            let_in(&mut peer);
            peer.say(message(b'G', b"\0\0\0").repeat(2));
            peer.stay();
        }),
        Behaviour::new("copies both ways", Fails("'W' is unexpected here"), |mut peer| {
            let_in(&mut peer);
            peer.say(message(b'W', b"\0\0\0"));
            peer.stay();
        }),
        Behaviour::new("has changed more rows than there are", Finishes, |mut peer| {
            let_in(&mut peer);
            let most = message(b'C', b"UPDATE 99999999999999999999999999\0");
            peer.say([most, ready()].concat());
            peer.stay();
        }),
        Behaviour::new("says goodbye while nobody asks", Fails("because of inactivity"), |mut peer| {
            ask(&mut peer, [authentication(0, b""), ready()].concat());
            peer.say(fatal("57P05", "disconnected by the server because of inactivity"));
        }),
        Behaviour::new("dies of a statement", Fails("terminating connection"), |mut peer| {
            let_in(&mut peer);
            peer.say(fatal("57P01", "terminating connection due to administrator command"));
        }),
    ]
}

/// Results that are none.
fn results() -> Vec<Behaviour> {
    vec![
        Behaviour::new("closes in the middle of a row", Fails(LOST), |mut peer| {
            let_in(&mut peer);
            peer.say(columns(1));
            peer.say(&row(b"hello")[..7]);
        }),
        Behaviour::new("has 65,535 columns and no names", Finishes, |mut peer| {
            let_in(&mut peer);
            peer.say([message(b'T', b"\xff\xff"), end()].concat());
            peer.stay();
        }),
        Behaviour::new("has a row without a count", Finishes, |mut peer| {
            let_in(&mut peer);
            peer.say([columns(1), message(b'D', b""), end()].concat());
            peer.stay();
        }),
        Behaviour::new("has a field longer than its row", Finishes, |mut peer| {
            let_in(&mut peer);
            peer.say([columns(1), message(b'D', b"\0\x01\x7f\xff\xff\xffx"), end()].concat());
            peer.stay();
        }),
        Behaviour::new("has a field of a negative length", Finishes, |mut peer| {
            let_in(&mut peer);
            peer.say([columns(1), message(b'D', b"\0\x01\x80\0\0\0x"), end()].concat());
            peer.stay();
        }),
        Behaviour::new("fails in the middle of a result", Fails("canceling statement"), |mut peer| {
            let_in(&mut peer);
            let failed = message(b'E', b"SERROR\0VERROR\0C57014\0Mcanceling statement\0\0");
            peer.say([columns(1), row(b"hello"), failed, ready()].concat());
            peer.stay();
        }),
        Behaviour::new("fails and is never ready", IsUnfinished, |mut peer| {
            let_in(&mut peer);
            peer.say(message(b'E', b"SERROR\0VERROR\0C57014\0Mcanceling statement\0\0"));
            peer.stay();
        }),
        Behaviour::new("has notices without end in a result", IsUnfinished, |mut peer| {
            let_in(&mut peer);
            peer.repeat(message(b'N', b"SWARNING\0VWARNING\0Mhello\0\0"));
        }),
    ]
}

/// Prepared statements that go wrong.
fn prepared() -> Vec<Behaviour> {
    vec![
        Behaviour::of_script(PREPARES, "prepares nothing", IsUnfinished, |mut peer| {
            let_in(&mut peer);
            peer.say(message(b'1', b""));
            peer.stay();
        }),
        Behaviour::of_script(
            PREPARES,
            "answers rows to a prepare command",
            Fails("'D' is unexpected here"),
            |mut peer| {
                let_in(&mut peer);
                peer.say([message(b'1', b""), row(b"hello")].concat());
                peer.stay();
            },
        ),
        Behaviour::of_script(
            PREPARES,
            "refuses to execute",
            Fails("cached plan must not change"),
            |mut peer| {
                let_in(&mut peer);
                peer.say([message(b'1', b""), message(b't', b"\0\0"), message(b'n', b""), ready()].concat());
                peer.hear();
                let failed = message(b'E', b"SERROR\0VERROR\0C0A000\0Mcached plan must not change\0\0");
                peer.say([failed, ready()].concat());
                peer.stay();
            },
        ),
    ]
}
