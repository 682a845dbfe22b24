//! A limited number of places for connections. A new connection always gets a place. If all are taken, a connection
//! of the peer with the most connections is closed, first one that has not sent a request.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The peer at the other end: an IPv4 address, or an IPv6 network of 64 bits, which belongs to one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer(IpAddr);

impl Peer {
    pub(crate) fn of(address: SocketAddr) -> Self {
        Self(match address.ip().to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        })
    }
}

/// A connection with a place. Dropping it in [`Places`] does not close it, because its thread holds it too.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) stream: TcpStream,
    pub(crate) peer: Peer,
    /// Whether it has sent a whole request.
    has_asked: AtomicBool,
    has_lost_place: AtomicBool,
}

impl Guest {
    pub(crate) fn asks(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
    }

    /// Whether the connection lost its place, so that an answer is useless.
    pub(crate) fn has_lost_place(&self) -> bool {
        self.has_lost_place.load(Ordering::Relaxed)
    }

    /// Closes the connection. Its thread notices that.
    fn turn_out(&self) {
        self.has_lost_place.store(true, Ordering::Relaxed);
        // Fails if the reader is gone, which does not matter.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// The connections, oldest first.
#[derive(Debug)]
pub(crate) struct Places {
    count_max: usize,
    taken: Mutex<Vec<Arc<Guest>>>,
}

/// A place. Dropping it frees the place.
pub(crate) struct Place {
    places: Arc<Places>,
    pub(crate) guest: Arc<Guest>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().retain(|guest| !Arc::ptr_eq(guest, &self.guest));
    }
}

impl Places {
    pub(crate) fn new(count_max: usize) -> Self {
        Self { count_max, taken: Mutex::new(Vec::new()) }
    }

    /// Gives a connection a place. If there is none, another connection loses its place.
    pub(crate) fn take(self: &Arc<Self>, stream: TcpStream, address: SocketAddr) -> Place {
        let peer = Peer::of(address);
        let guest = Arc::new(Guest { stream, peer, has_asked: false.into(), has_lost_place: false.into() });
        let mut taken = self.taken();
        while taken.len() >= self.count_max {
            turn_one_out(&mut taken, Some(peer));
        }
        taken.push(Arc::clone(&guest));
        drop(taken);
        Place { places: Arc::clone(self), guest }
    }

    /// Closes a connection because a resource that all connections need is used up.
    pub(crate) fn make_room(&self) {
        turn_one_out(&mut self.taken(), None);
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Arc<Guest>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn turn_one_out(taken: &mut Vec<Arc<Guest>>, newcomer: Option<Peer>) {
    let peers: Vec<Peer> = taken.iter().map(|guest| guest.peer).collect();
    let asked: Vec<bool> = taken.iter().map(|guest| guest.has_asked.load(Ordering::Relaxed)).collect();
    if let Some(last) = last_to_stay(&peers, &asked, newcomer) {
        taken.remove(last).turn_out();
    }
}

/// The index of the connection that is closed, from a list in order of arrival. It is one of the peer that has the
/// most connections, counting the new one: the oldest without a request, or else the oldest.
fn last_to_stay(peers: &[Peer], asked: &[bool], newcomer: Option<Peer>) -> Option<usize> {
    let count = |peer: Peer| {
        peers.iter().filter(|other| **other == peer).count() + usize::from(newcomer == Some(peer))
    };
    (0..peers.len()).min_by_key(|at| (Reverse(count(peers[*at])), asked[*at], *at))
}

/// The index of the listener that is closed for a new listener of this peer: the oldest one of the peer that has
/// the most.
pub(crate) fn oldest_of_most(peers: &[Peer], newcomer: Peer) -> Option<usize> {
    last_to_stay(peers, &vec![true; peers.len()], Some(newcomer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Peer {
        Peer::of(SocketAddr::new(address.parse().unwrap(), 1))
    }

    #[test]
    fn a_peer_is_an_address_or_a_network_of_version_6() {
        assert_eq!(peer("::ffff:10.0.0.1"), peer("10.0.0.1"));
        assert_ne!(peer("10.0.0.1"), peer("10.0.0.2"));
        assert_eq!(peer("2001:db8::1"), peer("2001:db8::ffff:2"));
        assert_ne!(peer("2001:db8::1"), peer("2001:db8:0:1::1"));
    }

    #[test]
    fn who_has_most_goes_first_then_who_has_not_asked_then_the_oldest() {
        let (a, b) = (peer("10.0.0.1"), peer("10.0.0.2"));
        let goes = |peers: &[Peer], asked: &[bool], newcomer| last_to_stay(peers, asked, newcomer);
        assert_eq!(goes(&[b, a, a], &[false, true, true], None), Some(1));
        assert_eq!(goes(&[a, a, a], &[true, false, false], None), Some(1));
        assert_eq!(goes(&[b, a], &[true, true], Some(a)), Some(1));
        assert_eq!(goes(&[b, a], &[true, true], None), Some(0));
        assert_eq!(goes(&[], &[], None), None);
    }
}
