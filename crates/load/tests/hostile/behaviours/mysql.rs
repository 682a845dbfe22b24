//! Behaviours of what claims to be a MySQL server.

use dyno_load::TlsMode;

use super::Outcome::{Fails, Finishes, IsLate, IsUnfinished};
use super::{Behaviour, PREPARES, PREPARES_ON, READS_ON};
use crate::listener::Peer;
use crate::mysql::{
    SSL, columns, end, error, greeting, greeting_of, let_in, more_data, ok, packet, switch_to,
};

const LOST: &str = "lost the connection to the server";
const NOT_SHOWN: &str = "has not shown who it is";
const SEQUENCE: &str = "malformed packet sequence from the server";

/// An impostor's key, as `caching_sha2_password` sends it.
const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvUikRlQRLvnUd1SMNy1+
Tm3u+HBT6XmjyuG8xImC0hpRMH5MaREX8gNLcQI4Xw6zadSAx5M2I40EG7vMHRE6
xBFTQl0MXc8DOrUuivZyZdv0Ys68ePLWnr3vk4iwuYyU6XSzwj9K1flSprrczXkL
/LKNzpy+Rrvk2IdwWXYovBMugKJ2Ld5W6oOUEJYAZl/x2ZBGPM146EXp/kkwGltH
hPySp8Txud5sLrzs4SWbme6nuddAqdnw7FKEl6oDy1OwQoVVv6IGmvWIkF/ppCdf
U3zx0CidZpGG7jBpGMnI95gWArHH6a5sFw+Ag3hLsn9r6xWxImYOv8tq/aMFmgO+
vQIDAQAB
-----END PUBLIC KEY-----
";

pub(super) fn all() -> Vec<Behaviour> {
    let mut all = strangers();
    all.extend(greetings());
    all.extend(logins());
    all.extend(ends_of_logins());
    all.extend(thieves());
    all.extend(encrypted());
    all.extend(over_tls());
    all.extend(answers());
    all.extend(results());
    all.extend(prepared());
    all
}

/// Greets, and waits for the client's answer.
fn greet(peer: &mut Peer) {
    peer.say(greeting(false));
    peer.hear();
}

/// Greets with TLS, which then begins, and waits for the client's answer over it.
fn greet_over_tls(peer: &mut Peer, plugin: &str) {
    peer.say(greeting_of(plugin, SSL));
    // The request for TLS alone, not what TLS sends after it.
    peer.hear_bytes(36);
    peer.encrypt();
    peer.hear();
}

/// What does not speak the protocol at all.
fn strangers() -> Vec<Behaviour> {
    vec![
        Behaviour::new("closes at once", Fails(LOST), drop),
        Behaviour::new("resets the connection", Fails(LOST), Peer::reset),
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

/// Greetings that are none.
fn greetings() -> Vec<Behaviour> {
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
        Behaviour::new("announces 16 MB and sends little", IsLate, |mut peer| {
            peer.say(b"\xff\xff\xff\0\x0a8.0");
            peer.stay();
        }),
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
            // Its capabilities are after the version, the connection's number and the nonce.
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

/// Logins that lead nowhere.
fn logins() -> Vec<Behaviour> {
    vec![
        Behaviour::new("is silent after the client's answer", IsLate, |mut peer| {
            greet(&mut peer);
            peer.stay();
        }),
        Behaviour::new("closes after the client's answer", Fails(LOST), |mut peer| greet(&mut peer)),
        Behaviour::new("denies access", Fails("Access denied"), |mut peer| {
            greet(&mut peer);
            peer.say(error(2, 1045, "Access denied for user 'dyno'"));
        }),
        Behaviour::new("asks for an unknown plugin", Fails("'quantum_entanglement'"), |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "quantum_entanglement"));
            peer.stay();
        }),
        Behaviour::new("asks for the hash of MySQL 4.0", Fails("'mysql_old_password'"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\xfe"));
            peer.stay();
        }),
        Behaviour::new("asks for another plugin without end", IsLate, |mut peer| {
            greet(&mut peer);
            let mut number = 2_u8;
            while peer.say(switch_to(number, "mysql_native_password")) && peer.hear() {
                number = number.wrapping_add(2);
            }
        }),
        Behaviour::new("asks with an empty nonce, then closes", Fails(LOST), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\xfecaching_sha2_password\0"));
            peer.hear();
        }),
        Behaviour::new("knows the password and does not say so", IsLate, |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "caching_sha2_password"));
            peer.hear();
            peer.say(more_data(4, &[3]));
            peer.stay();
        }),
    ]
}

/// Ends of logins that are none.
fn ends_of_logins() -> Vec<Behaviour> {
    vec![
        Behaviour::new(
            "has more to say about a hash",
            Fails("unexpected data for mysql_native"),
            |mut peer| {
                greet(&mut peer);
                peer.say(more_data(2, b"more"));
                peer.stay();
            },
        ),
        Behaviour::new("lets in with half an OK", Fails("malformed OK packet"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\0\0"));
            peer.stay();
        }),
        Behaviour::new("lets in a byte at a time", IsLate, |mut peer| {
            greet(&mut peer);
            peer.dribble(packet(2, &[&[0, 0, 0, 2, 0, 0, 0][..], &[b' '; 200]].concat()));
        }),
        Behaviour::new("lets in by another number", Fails(SEQUENCE), |mut peer| {
            greet(&mut peer);
            peer.say(ok(9));
            peer.stay();
        }),
        Behaviour::new("answers a login with rows", Fails("malformed authentication"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\x55rows"));
            peer.stay();
        }),
        Behaviour::new("answers a login with nothing", Fails("malformed authentication"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b""));
            peer.stay();
        }),
        Behaviour::new(
            "answers a login without end",
            Fails("larger than the limit of 1048576"),
            |mut peer| {
                greet(&mut peer);
                peer.say(b"\xff\xff\xff\x02\0");
                while peer.say([0; 4096]) {}
            },
        ),
        Behaviour::new("greets twice", Fails(SEQUENCE), |mut peer| {
            peer.say([greeting(false), greeting(false)].concat());
            peer.stay();
        }),
    ]
}

/// Those that ask for the password itself.
fn thieves() -> Vec<Behaviour> {
    vec![
        Behaviour::new("asks for the password in clear text", Fails(NOT_SHOWN), |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "mysql_clear_password"));
            peer.stay();
        }),
        Behaviour::new("has clear text for its default", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("mysql_clear_password", 0));
            peer.stay();
        }),
        Behaviour::new("forgets the password and sends its key", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("caching_sha2_password", 0));
            peer.hear();
            peer.say([more_data(2, &[4]), more_data(4, KEY.as_bytes())].concat());
            peer.stay();
        }),
        Behaviour::new("sends its key unasked", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("caching_sha2_password", 0));
            peer.hear();
            peer.say(more_data(2, KEY.as_bytes()));
            peer.stay();
        }),
        Behaviour::new("asks for sha256_password", Fails(NOT_SHOWN), |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "sha256_password"));
            peer.stay();
        }),
        Behaviour::new("has sha256_password for its default", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("sha256_password", 0));
            peer.stay();
        }),
        Behaviour::with_tls("asks for clear text over TLS", Fails(NOT_SHOWN), |mut peer| {
            greet_over_tls(&mut peer, "mysql_native_password");
            peer.say(switch_to(3, "mysql_clear_password"));
            peer.stay();
        }),
        Behaviour::with_tls("forgets the password over TLS", Fails(NOT_SHOWN), |mut peer| {
            greet_over_tls(&mut peer, "caching_sha2_password");
            peer.say(more_data(3, &[4]));
            peer.stay();
        }),
        Behaviour::with_tls("asks for sha256_password over TLS", Fails(NOT_SHOWN), |mut peer| {
            greet_over_tls(&mut peer, "mysql_native_password");
            peer.say(switch_to(3, "sha256_password"));
            peer.stay();
        }),
        Behaviour::with_tls("has sha256_password for its default, and TLS", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("sha256_password", SSL));
            peer.stay();
        }),
        Behaviour {
            tls: TlsMode::Preferred,
            ..Behaviour::new("has no TLS, which was only preferred", Fails(NOT_SHOWN), |mut peer| {
                peer.say(greeting_of("caching_sha2_password", 0));
                peer.hear();
                peer.say(more_data(2, &[4]));
                peer.stay();
            })
        },
    ]
}

/// TLS that goes wrong.
fn encrypted() -> Vec<Behaviour> {
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

/// TLS that goes well with whom it should not.
fn over_tls() -> Vec<Behaviour> {
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
            ..Behaviour::new(
                "shows a stranger's certificate",
                Fails("no authority that is to be"),
                |mut peer| {
                    greet_over_tls(&mut peer, "caching_sha2_password");
                },
            )
        },
        Behaviour {
            tls: TlsMode::VerifyIdentity,
            ..Behaviour::new("shows another's certificate", Fails("TLS failed: "), |mut peer| {
                greet_over_tls(&mut peer, "sha256_password");
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
            peer.dribble(columns(100).0);
        }),
        Behaviour::new("answers with random bytes", Fails(SEQUENCE), |mut peer| {
            let_in(&mut peer);
            peer.say([0xAA; 64]);
            peer.stay();
        }),
        Behaviour::new("answers with nothing", Fails("malformed number of columns"), |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, b""));
            peer.stay();
        }),
        Behaviour::new("counts columns wrongly", Fails("malformed number of columns"), |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, &[0xFC; 8]));
            peer.stay();
        }),
        Behaviour::new("has 65,535 columns", Fails("65535 columns, expected 1 to 4096"), |mut peer| {
            let_in(&mut peer);
            peer.say(columns(u16::MAX).0);
            peer.stay();
        }),
        Behaviour::new("asks for a file", Fails("LOAD DATA LOCAL INFILE is refused"), |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, b"\xfb/etc/passwd"));
            peer.hear();
            peer.say(ok(3));
            peer.stay();
        }),
        Behaviour::new("asks for a file twice", Fails("came unasked"), |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, b"\xfb/etc/passwd"));
            peer.hear();
            peer.say(packet(3, b"\xfb/etc/shadow"));
            peer.stay();
        }),
        Behaviour::new("answers with half an OK", Fails("malformed OK packet"), |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, b"\0\xfe\x01"));
            peer.stay();
        }),
        Behaviour::new("has changed more rows than there are", Finishes, |mut peer| {
            let_in(&mut peer);
            let most = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
            peer.say(packet(1, &[&[0][..], &most, &most, &[2, 0, 0xFF, 0xFF]].concat()));
            peer.stay();
        }),
        Behaviour::new("says goodbye while nobody asks", Fails("because of inactivity"), |mut peer| {
            peer.say(greeting(false));
            peer.hear();
            peer.say(ok(2));
            peer.say(error(0, 4031, "The client was disconnected by the server because of inactivity."));
        }),
        Behaviour::new("dies of a statement", Fails("server shutdown in progress"), |mut peer| {
            let_in(&mut peer);
            peer.say(error(1, 1053, "server shutdown in progress"));
        }),
    ]
}

/// Results that are none.
fn results() -> Vec<Behaviour> {
    vec![
        Behaviour::new("closes in the middle of a row", Fails(LOST), |mut peer| {
            let_in(&mut peer);
            let (columns, number) = columns(1);
            peer.say(columns);
            peer.say(&packet(number, b"\x05hello")[..7]);
        }),
        Behaviour::of_script(READS_ON, "has a row without fields", Fails("malformed row"), |mut peer| {
            answer_with(&mut peer, 2, b"\x01x");
        }),
        Behaviour::of_script(
            READS_ON,
            "has a field longer than its row",
            Fails("malformed row"),
            |mut peer| {
                answer_with(&mut peer, 1, b"\xfd\xff\xff\xffx");
            },
        ),
        Behaviour::of_script(READS_ON, "has a field of 2^64 bytes", Fails("malformed row"), |mut peer| {
            answer_with(&mut peer, 1, b"\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff");
        }),
        Behaviour::of_script(
            READS_ON,
            "has more in a row than its fields",
            Fails("malformed row"),
            |mut peer| {
                answer_with(&mut peer, 1, b"\x01xmore");
            },
        ),
        Behaviour::new(
            "fails in the middle of a result",
            Fails("Query execution was interrupted"),
            |mut peer| {
                let_in(&mut peer);
                let (columns, number) = columns(1);
                peer.say(columns);
                peer.say(packet(number, b"\x05hello"));
                peer.say(error(number + 1, 1317, "Query execution was interrupted"));
                peer.stay();
            },
        ),
        Behaviour::new("numbers its rows wrongly", Fails(SEQUENCE), |mut peer| {
            let_in(&mut peer);
            let (columns, number) = columns(1);
            peer.say(columns);
            peer.say(packet(number + 7, b"\x05hello"));
            peer.stay();
        }),
        Behaviour::new("describes its columns without end", IsUnfinished, |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, &[0xFC, 0, 16]));
            peer.say(&columns(9).0[7..]);
            peer.stay();
        }),
    ]
}

/// A result of one row, as a text query's.
fn answer_with(peer: &mut Peer, count: u16, row: &[u8]) {
    let_in(peer);
    let (columns, number) = columns(count);
    peer.say([columns, packet(number, row), end(number.wrapping_add(1))].concat());
    peer.hear();
}

/// Prepared statements that go wrong.
fn prepared() -> Vec<Behaviour> {
    vec![
        Behaviour::of_script(
            PREPARES,
            "prepares half a statement",
            Fails("malformed answer to a prepare command"),
            |mut peer| {
                let_in(&mut peer);
                peer.say(packet(1, b"\0\x01\0"));
                peer.stay();
            },
        ),
        Behaviour::of_script(PREPARES, "prepares with rows", Fails("malformed answer"), |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, b"\x01"));
            peer.stay();
        }),
        Behaviour::of_script(PREPARES, "announces 65,535 parameters", IsUnfinished, |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, b"\0\x01\0\0\0\xff\xff\xff\xff\0\0\0"));
            peer.stay();
        }),
        Behaviour::of_script(PREPARES, "wants other parameters than there are", Finishes, |mut peer| {
            let_in(&mut peer);
            peer.say(packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"));
            peer.hear();
            peer.say(ok(1));
            peer.stay();
        }),
        Behaviour::of_script(
            PREPARES,
            "refuses to execute",
            Fails("Prepared statement needs to be re-prepared"),
            |mut peer| {
                let_in(&mut peer);
                peer.say(packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"));
                peer.hear();
                peer.say(error(1, 1615, "Prepared statement needs to be re-prepared"));
                peer.stay();
            },
        ),
        Behaviour::of_script(
            PREPARES_ON,
            "has binary rows that are cut short",
            Fails("malformed row"),
            |mut peer| {
                execute_with(&mut peer, b"\0");
            },
        ),
        Behaviour::of_script(
            PREPARES_ON,
            "has a field of 200 bytes that are not there",
            Fails("malformed row"),
            |mut peer| {
                execute_with(&mut peer, b"\0\0\xc8\x01");
            },
        ),
    ]
}

/// A result of one row of one column, as a prepared statement's.
fn execute_with(peer: &mut Peer, row: &[u8]) {
    let_in(peer);
    peer.say(packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"));
    peer.hear();
    let (columns, number) = columns(1);
    peer.say([columns, packet(number, row), end(number.wrapping_add(1))].concat());
    peer.hear();
}
