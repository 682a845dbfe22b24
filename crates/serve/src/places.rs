//! Limits the number of connections: each needs a place, and the number of places is fixed. A new connection always
//! gets a place. If all places are taken, a connection of the peer with the most connections is closed, preferably
//! one that has not sent a request.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest time for which a new connection waits until a connection that lost its place is closed. This may take a
/// while if a page is being rendered for the old connection.
const CLOSING_MAX: Duration = Duration::from_secs(5);

/// The peer at the other end. It is an IPv4 address, or an IPv6 network with a prefix of 64 bits, because a single host
/// may use a whole such network.
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

/// A connection, with or without a place. Removing the value from [`Places`] does not close the connection, because
/// the connection's thread also has a reference to it.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) stream: TcpStream,
    pub(crate) peer: Peer,
    /// Whether the peer has sent a whole request.
    has_asked: AtomicBool,
    has_lost_place: AtomicBool,
    /// This field is dropped after `stream`, so the connection is closed before it stops counting as open.
    _open: Open,
}

/// Number of open connections, with and without a place.
#[derive(Debug, Default)]
struct OpenCount {
    number: Mutex<usize>,
    /// Notified when a connection was closed.
    has_closed: Condvar,
}

/// An open connection, counted until it is dropped.
#[derive(Debug)]
struct Open(Arc<OpenCount>);

impl Drop for Open {
    fn drop(&mut self) {
        *self.0.number() -= 1;
        self.0.has_closed.notify_one();
    }
}

impl OpenCount {
    /// Counts a new connection. Before that, waits until fewer than `count_max` connections are open, but at most
    /// [`CLOSING_MAX`].
    fn add(self: &Arc<Self>, count_max: usize) -> Open {
        let is_full = |number: &mut usize| *number >= count_max;
        let waited = self.has_closed.wait_timeout_while(self.number(), CLOSING_MAX, is_full);
        let (mut number, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *number += 1;
        Open(Arc::clone(self))
    }

    fn number(&self) -> MutexGuard<'_, usize> {
        self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    pub(crate) fn asks(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
    }

    /// Whether the connection lost its place, so that nobody can receive an answer.
    pub(crate) fn has_lost_place(&self) -> bool {
        self.has_lost_place.load(Ordering::Relaxed)
    }

    /// Takes the place from the connection and closes it. The connection's thread sees this in
    /// [`Self::has_lost_place`] and ends.
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
    open: Arc<OpenCount>,
}

/// The place of a connection. When this value is dropped, another connection can have the place.
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
        Self { count_max, taken: Mutex::default(), open: Arc::default() }
    }

    /// Gives a connection a place. If all places are taken, an older connection loses its place, and the new
    /// connection waits until the older one is closed, but at most [`CLOSING_MAX`]. So the number of open connections
    /// does not exceed the number of places, unless closing takes longer.
    pub(crate) fn take(self: &Arc<Self>, stream: TcpStream, address: SocketAddr) -> Place {
        let peer = Peer::of(address);
        let mut taken = self.taken();
        while taken.len() >= self.count_max {
            turn_one_out(&mut taken, Some(peer));
        }
        drop(taken);
        let (has_asked, has_lost_place) = (false.into(), false.into());
        let open = self.open.add(self.count_max);
        let guest = Arc::new(Guest { stream, peer, has_asked, has_lost_place, _open: open });
        self.taken().push(Arc::clone(&guest));
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

/// Chooses the connection to close, and returns its index in the list, which is in order of arrival. Only connections
/// of the peer with the most connections are considered, and the newcomer counts as a connection of its peer. Of these
/// connections, the oldest that has not sent a request is chosen. If all have sent a request, the oldest is chosen.
fn last_to_stay(peers: &[Peer], asked: &[bool], newcomer: Option<Peer>) -> Option<usize> {
    let count = |peer: Peer| {
        peers.iter().filter(|other| **other == peer).count() + usize::from(newcomer == Some(peer))
    };
    (0..peers.len()).min_by_key(|at| (Reverse(count(peers[*at])), asked[*at], *at))
}

/// Returns the index of the listener to close for a newcomer: the oldest listener of the peer with the most
/// listeners.
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
    fn a_newcomer_waits_until_the_connection_that_lost_its_place_is_closed() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let places = Arc::new(Places::new(2));
        let come = || {
            let _peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, address) = listener.accept().unwrap();
            places.take(stream, address)
        };
        let (first, _second) = (come(), come());
        std::thread::scope(|scope| {
            let third = scope.spawn(come);
            while !first.guest.has_lost_place() {
                std::thread::yield_now();
            }
            assert!(!third.is_finished());
            assert_eq!(*places.open.number(), 2);
            drop(first);
            let third = third.join().unwrap();
            assert!(!third.guest.has_lost_place());
            assert_eq!(*places.open.number(), 2);
        });
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
