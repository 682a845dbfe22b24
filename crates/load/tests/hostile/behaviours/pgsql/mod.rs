//! Behaviours of a fake PostgreSQL server.

mod answers;
mod logins;
mod requests;
mod tls;

use super::Behaviour;
use crate::listener::Peer;

const LOST: &str = "lost the connection to the server";
const NOT_SHOWN: &str = "has not shown who it is";

pub(super) fn all() -> Vec<Behaviour> {
    let mut all = requests::strangers();
    all.extend(requests::requests());
    all.extend(requests::unknown_requests());
    all.extend(logins::logins());
    all.extend(logins::scram());
    all.extend(tls::encrypted());
    all.extend(tls::over_tls());
    all.extend(answers::answers());
    all.extend(answers::results());
    all.extend(answers::prepared());
    all
}

/// Waits for the client's next message, then sends `bytes`.
fn ask(peer: &mut Peer, bytes: impl AsRef<[u8]>) {
    peer.hear();
    peer.say(bytes);
}
