use std::time::{Duration, Instant};

use super::*;
use crate::io::IoEvent;
use crate::protocol::job::{IoMethod, Protocol};
use crate::session::servers::Dialer;
use crate::session::servers::testing::{dead_and_alive, dialer};

/// Runs a loop until the connection attempt has ended. Returns the link's reply for its script, if there is one.
fn turn(
    link: &mut Link,
    mut step: LinkProgress,
    (target, dialer): (&Target, &Dialer),
    io: &mut dyn Io,
) -> Option<Reply> {
    let limit = Instant::now() + Duration::from_secs(20);
    while link.stage == Stage::Connecting && matches!(step, LinkProgress::Pending) {
        assert!(Instant::now() < limit, "nothing came of the call");
        io.wait(Some(Duration::from_millis(10))).unwrap();
        while let Some(event) = io.next() {
            step = match event {
                IoEvent::Connected(_) => link.connected(target, io),
                IoEvent::Closed(token, error) if link.token() == Some(token) => {
                    link.broken(error.as_ref(), target, dialer, io)
                }
                _ => LinkProgress::Pending,
            };
        }
    }
    match step {
        LinkProgress::Reply(reply) => Some(reply),
        _ => None,
    }
}

#[test]
fn every_address_of_a_name_is_tried_and_the_last_one_s_error_told() {
    for method in [IoMethod::Epoll, IoMethod::Auto] {
        let target = Target::new(Protocol::Mysql, Vec::new());
        let (_listener, addresses) = dead_and_alive();
        let dead = vec![addresses[0].clone(), addresses[0].clone()];
        let mut io = crate::io::open(method, 2).unwrap();
        let (some_alive, all_dead) = (dialer(addresses), dialer(dead));
        let (mut link, step) = Link::open(&target, &some_alive, &mut *io);
        assert!(turn(&mut link, step, (&target, &some_alive), &mut *io).is_none());
        assert_eq!(link.stage, Stage::LoggingIn, "{method:?}");
        let (mut link, step) = Link::open(&target, &all_dead, &mut *io);
        let reply = turn(&mut link, step, (&target, &all_dead), &mut *io);
        let Some(Reply::Failed(failure)) = reply else { panic!("{method:?}: {reply:?}") };
        assert!(failure.message.starts_with("cannot connect to many.example:1: "), "{}", failure.message);
    }
}
