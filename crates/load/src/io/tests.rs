use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Type};

use super::*;

const METHODS: [IoMethod; 2] = [IoMethod::Epoll, IoMethod::Uring];

/// Opens the I/O method; `None` if the kernel does not support it.
fn open_here(method: IoMethod) -> Option<Box<dyn Io>> {
    open(method, 4).map_err(|error| eprintln!("{method:?} is not to be had here: {error}")).ok()
}

fn pair(io: &mut dyn Io) -> (Token, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (io.add(Socket::from(std::os::fd::OwnedFd::from(ours)), false).unwrap(), theirs)
}

/// Runs the loop until `done` returns true.
fn collect(io: &mut dyn Io, mut done: impl FnMut(&[u8], bool) -> bool) -> Vec<u8> {
    let mut received = Vec::new();
    let limit = Instant::now() + Duration::from_secs(20);
    let mut closed = false;
    while !done(&received, closed) {
        assert!(Instant::now() < limit, "nothing more came after {} bytes", received.len());
        io.wait(Some(Duration::from_millis(10))).unwrap();
        while let Some(event) = io.next() {
            match event {
                IoEvent::Received(_) => received.extend_from_slice(io.bytes()),
                IoEvent::Closed(..) => closed = true,
                IoEvent::Connected(_) => {}
            }
        }
    }
    received
}

#[test]
fn bytes_go_both_ways() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let (token, mut peer) = pair(&mut *io);
        io.send(token, b"ping");
        io.wait(Some(Duration::ZERO)).unwrap();
        let mut buffer = [0; 4];
        peer.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"ping");
        peer.write_all(b"pong").unwrap();
        assert_eq!(collect(&mut *io, |got, _| got.len() >= 4), b"pong");
    }
}

#[test]
fn events_are_gathered_and_one_waits_for_others_no_longer_than_asked() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let (_, mut first) = pair(&mut *io);
        let (_, mut second) = pair(&mut *io);
        first.write_all(b"alone").unwrap();
        io.gather(2, Duration::from_millis(1)).unwrap();
        assert_eq!(std::iter::from_fn(|| io.next()).count(), 1, "{method:?}");
        first.write_all(b"both").unwrap();
        second.write_all(b"both").unwrap();
        io.gather(2, Duration::from_secs(20)).unwrap();
        assert_eq!(std::iter::from_fn(|| io.next()).count(), 2, "{method:?}");
        let later = std::thread::spawn(move || second.write_all(b"after a while"));
        io.gather(2, Duration::from_micros(1)).unwrap();
        assert!(io.next().is_some(), "{method:?}");
        later.join().unwrap().unwrap();
    }
}

#[test]
fn more_than_a_socket_holds_arrives_in_order() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let (token, mut peer) = pair(&mut *io);
        let message: Vec<u8> = (0..4_000_000_u32).map(|i| (i % 251) as u8).collect();
        let (first, second) = message.split_at(3_000_000);
        io.send(token, first);
        io.send(token, second);
        let echo = std::thread::spawn(move || {
            let mut all = vec![0; 4_000_000];
            peer.read_exact(&mut all).unwrap();
            peer.write_all(&all).unwrap();
        });
        assert!(collect(&mut *io, |got, _| got.len() >= message.len()) == message, "{method:?}");
        echo.join().unwrap();
    }
}

#[test]
fn a_peer_that_closes_is_reported_once_its_bytes_are_read() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let (_, mut peer) = pair(&mut *io);
        peer.write_all(b"last words").unwrap();
        drop(peer);
        assert_eq!(collect(&mut *io, |_, closed| closed), b"last words");
    }
}

#[test]
fn a_removed_socket_is_silent_and_its_successor_hears_only_its_own() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let (old, mut old_peer) = pair(&mut *io);
        let _ = old_peer.write_all(b"for the old one");
        io.remove(old);
        let (new, mut new_peer) = pair(&mut *io);
        assert_ne!(old, new);
        new_peer.write_all(b"for the new one").unwrap();
        assert_eq!(collect(&mut *io, |got, _| got.len() >= 15), b"for the new one");
    }
}

/// Tries to connect. Returns whether the attempt succeeds.
fn attempt(io: &mut dyn Io, address: std::net::SocketAddr) -> bool {
    let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), None).unwrap();
    let _ = socket.connect(&SockAddr::from(address));
    let token = io.add(socket, true).unwrap();
    let limit = Instant::now() + Duration::from_secs(20);
    while Instant::now() < limit {
        io.wait(Some(Duration::from_millis(10))).unwrap();
        match io.next() {
            None => {}
            Some(IoEvent::Connected(connected)) => {
                assert_eq!(connected, token);
                io.remove(token);
                return true;
            }
            Some(IoEvent::Closed(closed, error)) => {
                assert_eq!(closed, token);
                assert_eq!(error.unwrap().kind(), std::io::ErrorKind::ConnectionRefused);
                io.remove(token);
                return false;
            }
            Some(IoEvent::Received(_)) => panic!("nobody has sent anything"),
        }
    }
    panic!("no outcome")
}

#[test]
fn a_tcp_connection_attempt_ends_in_connected_or_closed() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(attempt(&mut *io, listener.local_addr().unwrap()), "{method:?}");
        // The socket is bound but does not listen. The port therefore refuses connections, and no other program can
        // get it.
        let refusing = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        refusing.bind(&SockAddr::from(std::net::SocketAddr::from(([127, 0, 0, 1], 0)))).unwrap();
        let address = refusing.local_addr().unwrap().as_socket().unwrap();
        assert!(!attempt(&mut *io, address), "{method:?}");
    }
}

#[test]
fn waiting_without_news_ends() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let _listener = UnixListener::bind(folder.path().join("s")).unwrap();
        io.wait(Some(Duration::from_millis(1))).unwrap();
        assert!(io.next().is_none());
    }
}

#[test]
fn a_wait_without_end_is_ended_by_the_waker_time_and_again() {
    for method in METHODS {
        let Some(mut io) = open_here(method) else { continue };
        let (token, mut peer) = pair(&mut *io);
        let waker = io.waker();
        for round in 0..3 {
            // Bytes are sent and not answered, so only the waker can end the wait.
            io.send(token, b"hello");
            std::thread::scope(|scope| {
                scope.spawn(|| waker.wake());
                io.wait(None).unwrap();
            });
            assert!(io.next().is_none(), "{method:?}, round {round}");
        }
        peer.write_all(b"at last").unwrap();
        assert_eq!(collect(&mut *io, |got, _| got.len() >= 7), b"at last");
    }
}
