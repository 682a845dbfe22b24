//! Behaviours of a fake MySQL server.

mod answers;
mod greetings;
mod logins;
mod tls;

use super::Behaviour;
use crate::listener::Peer;
use crate::mysql::greeting;

const LOST: &str = "lost the connection to the server";
const NOT_SHOWN: &str = "has not shown who it is";
const SEQUENCE: &str = "malformed packet sequence from the server";

pub(super) fn all() -> Vec<Behaviour> {
    let mut all = greetings::strangers();
    all.extend(greetings::greetings());
    all.extend(logins::logins());
    all.extend(logins::ends_of_logins());
    all.extend(logins::thieves());
    all.extend(tls::encrypted());
    all.extend(tls::over_tls());
    all.extend(answers::answers());
    all.extend(answers::results());
    all.extend(answers::prepared());
    all
}

/// Greets, and waits for the client's answer.
fn greet(peer: &mut Peer) {
    peer.say(greeting(false));
    peer.hear();
}
