//! A server that plays what a test tells it, to everybody who calls.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::thread;
use std::time::Duration;

use dyno_load::Address;
use socket2::{SockAddr, Socket, Type};
use tempfile::TempDir;

/// A server with two addresses. It goes on until the test process ends.
pub(crate) struct Listener {
    /// Keeps the unix socket's place.
    _folder: TempDir,
    pub(crate) addresses: [Address; 2],
}

/// The server's end of one connection.
pub(crate) struct Peer(Socket);

/// What a server does with each connection.
pub(crate) type Play = fn(Peer);

impl Listener {
    pub(crate) fn start(play: Play) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        listen(&SockAddr::unix(&path).expect("a short path"), play);
        let tcp = listen(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into(), play);
        let port = tcp.as_socket().expect("an address").port();
        let host = Ipv4Addr::LOCALHOST.to_string();
        Self { _folder: folder, addresses: [Address::Unix(path), Address::Tcp { host, port }] }
    }
}

fn listen(address: &SockAddr, play: Play) -> SockAddr {
    let socket = Socket::new(address.domain(), Type::STREAM, None).expect("a socket");
    socket.bind(address).and_then(|()| socket.listen(16)).expect("a free address");
    let bound = socket.local_addr().expect("an address");
    thread::spawn(move || {
        while let Ok((caller, _)) = socket.accept() {
            thread::spawn(move || play(Peer(caller)));
        }
    });
    bound
}

impl Peer {
    /// Sends; false once the client has hung up.
    pub(crate) fn say(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).is_ok()
    }

    /// Waits for what the client sends next.
    pub(crate) fn hear(&mut self) {
        // A client that has hung up is found out by whoever speaks to it.
        let _ = self.0.read(&mut [0; 4096]);
    }

    /// Is silent until the client hangs up.
    pub(crate) fn stay(mut self) {
        while self.0.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {}
    }

    /// Breaks the connection as a crashed host does. A unix socket can only be closed.
    pub(crate) fn reset(self) {
        self.0.set_linger(Some(Duration::ZERO)).expect("an open socket");
    }
}
