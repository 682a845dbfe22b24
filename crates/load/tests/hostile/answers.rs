//! Servers that complete the login and then misbehave.

use dyno_load::Protocol::{Mysql, Pgsql};
use dyno_load::TlsMode;

use crate::job::{fails, meet, meet_for};
use crate::{mysql, pgsql};

#[test]
fn one_that_closes_instead_of_an_answer() {
    let words = "lost the connection to the server: the server closed the connection";
    fails(Mysql, words, |mut peer| mysql::let_in(&mut peer));
    fails(Pgsql, words, |mut peer| pgsql::let_in(&mut peer));
}

#[test]
fn one_that_closes_in_the_middle_of_a_result() {
    let words = "lost the connection to the server: the server closed the connection";
    fails(Mysql, words, |mut peer| {
        mysql::let_in(&mut peer);
        let (columns, number) = mysql::columns(1);
        peer.say(columns);
        peer.say(&mysql::packet(number, b"\x05hello")[..7]);
    });
    fails(Pgsql, words, |mut peer| {
        pgsql::let_in(&mut peer);
        peer.say(pgsql::columns(1));
        peer.say(&pgsql::row(b"hello")[..7]);
    });
}

#[test]
fn one_that_never_answers_ends_with_the_job() {
    let stories = [
        meet_for(Some(1.0), Mysql, TlsMode::Disabled, |mut peer| {
            mysql::let_in(&mut peer);
            peer.say(b"\xff\xff\xff\x01");
            peer.stay();
        }),
        meet_for(Some(1.0), Pgsql, TlsMode::Disabled, |mut peer| {
            pgsql::let_in(&mut peer);
            peer.say(b"D\x01\0\0\0");
            peer.stay();
        }),
    ];
    for story in stories.into_iter().flatten() {
        let total = story.total.expect("a total");
        assert_eq!((story.failure, total.counts.events, total.unfinished), (None, 0, 1));
        // The job lasts one second, and the event waited at least that long.
        let ages = total.censored.histogram();
        assert!(ages.len() == 1 && ages.max() >= 990_000, "{} of {} µs", ages.len(), ages.max());
        assert!(total.gaps.is_some_and(|gaps| gaps.last_seconds > 0.5), "{:?}", total.gaps);
    }
}

#[test]
fn one_that_answers_with_garbage() {
    fails(Mysql, "malformed packet sequence from the server", |mut peer| {
        mysql::let_in(&mut peer);
        peer.say([0xAA; 64]);
        peer.stay();
    });
    fails(Mysql, "malformed number of columns from the server", |mut peer| {
        mysql::let_in(&mut peer);
        peer.say(mysql::packet(1, &[0xFC; 8]));
        peer.stay();
    });
    fails(Pgsql, "from the server", |mut peer| {
        pgsql::let_in(&mut peer);
        peer.say([0xAA; 64]);
        peer.stay();
    });
}

#[test]
fn one_with_as_many_columns_as_a_table_can_have() {
    let stories = [
        meet(Mysql, TlsMode::Disabled, |mut peer| {
            mysql::let_in(&mut peer);
            let (columns, number) = mysql::columns(4096);
            peer.say([columns, mysql::end(number)].concat());
            peer.stay();
        }),
        meet(Pgsql, TlsMode::Disabled, |mut peer| {
            pgsql::let_in(&mut peer);
            peer.say([pgsql::columns(4096), pgsql::end()].concat());
            peer.stay();
        }),
    ];
    for story in stories.into_iter().flatten() {
        assert_eq!((story.failure, story.printed), (None, vec!["4096 columns".to_owned()]));
    }
}

#[test]
fn one_with_more_columns_than_a_table_can_have() {
    fails(Mysql, "65535 columns, expected 1 to 4096", |mut peer| {
        mysql::let_in(&mut peer);
        peer.say(mysql::columns(u16::MAX).0);
        peer.stay();
    });
}

#[test]
fn one_whose_result_does_not_end() {
    fails(Mysql, "larger than the limit of 268435456 bytes", |mut peer| {
        mysql::let_in(&mut peer);
        let (columns, mut number) = mysql::columns(1);
        peer.say(columns);
        let row = [&[0xFD, 0, 0, 1][..], &b"x".repeat(1 << 16)].concat();
        while peer.say(mysql::packet(number, &row)) {
            number = number.wrapping_add(1);
        }
    });
    fails(Pgsql, "larger than the limit of 268435456 bytes", |mut peer| {
        pgsql::let_in(&mut peer);
        peer.say(pgsql::columns(1));
        let row = pgsql::row(&b"x".repeat(1 << 16));
        while peer.say(&row) {}
    });
}

#[test]
fn one_that_asks_for_a_file() {
    fails(Mysql, "LOAD DATA LOCAL INFILE is refused", |mut peer| {
        mysql::let_in(&mut peer);
        peer.say(mysql::packet(1, b"\xfb/etc/passwd"));
        peer.hear();
        peer.say(mysql::ok(3));
        peer.stay();
    });
}

#[test]
fn one_that_says_goodbye_to_an_idle_connection() {
    let words = "disconnected by the server because of inactivity";
    fails(Mysql, words, |mut peer| {
        peer.say(mysql::greeting(false));
        peer.hear();
        peer.say(mysql::ok(2));
        peer.say(mysql::error(0, 4031, "The client was disconnected by the server because of inactivity."));
    });
    fails(Pgsql, words, |mut peer| {
        peer.hear();
        peer.say([pgsql::authentication(0, b""), pgsql::ready()].concat());
        peer.say(pgsql::fatal("57P05", "disconnected by the server because of inactivity"));
    });
}
