//! Answers of a fake MySQL server.

use super::{LOST, SEQUENCE};
use crate::behaviours::Outcome::{Fails, Finishes, IsUnfinished};
use crate::behaviours::{Behaviour, PREPARES, PREPARES_ON, READS_ON};
use crate::listener::Peer;
use crate::mysql::{columns, end, error, greeting, let_in, ok, packet};

/// Invalid answers to a query.
pub(super) fn answers() -> Vec<Behaviour> {
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

/// Invalid results.
pub(super) fn results() -> Vec<Behaviour> {
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

/// Lets the client in, and answers a text query with a result of one row.
fn answer_with(peer: &mut Peer, count: u16, row: &[u8]) {
    let_in(peer);
    let (columns, number) = columns(count);
    peer.say([columns, packet(number, row), end(number.wrapping_add(1))].concat());
    peer.hear();
}

/// Invalid answers to prepared statements.
pub(super) fn prepared() -> Vec<Behaviour> {
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

/// Lets the client in, prepares a statement, and answers its execution with a result of one row and one column.
fn execute_with(peer: &mut Peer, row: &[u8]) {
    let_in(peer);
    peer.say(packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"));
    peer.hear();
    let (columns, number) = columns(1);
    peer.say([columns, packet(number, row), end(number.wrapping_add(1))].concat());
    peer.hear();
}
