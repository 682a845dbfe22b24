//! Answers of a fake PostgreSQL server.

use super::{LOST, ask};
use crate::behaviours::Outcome::{Fails, Finishes, IsUnfinished};
use crate::behaviours::{Behaviour, PREPARES};
use crate::pgsql::{authentication, columns, end, fatal, let_in, message, ready, row};

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

/// Invalid results.
pub(super) fn results() -> Vec<Behaviour> {
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

/// Invalid answers to prepared statements.
pub(super) fn prepared() -> Vec<Behaviour> {
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
