//! A server that behaves towards each client as a test prescribes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use dyno_engine::testing::{Authority, Identity};
use dyno_load::Address;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use socket2::{SockAddr, Socket, Type};
use tempfile::TempDir;

/// A server that listens at a socket and a port, or only at a port. It runs until the test process ends.
pub(crate) struct Listener {
    /// The folder of the unix socket. It is removed when the listener is dropped.
    _folder: Option<TempDir>,
    pub(crate) addresses: Vec<Address>,
}

/// All bytes that a server has received, after decryption.
#[derive(Clone, Default)]
pub(crate) struct Ear(Arc<Mutex<Vec<u8>>>);

/// The server's end of one connection.
pub(crate) struct Peer {
    socket: Socket,
    tls: Option<ServerConnection>,
    ear: Ear,
}

/// What a server does with each connection.
pub(crate) type Play = fn(Peer);

impl Listener {
    /// Starts a server that listens at a unix socket and at the loopback interface.
    pub(crate) fn start(play: Play) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        listen(&SockAddr::unix(&path).expect("a short path"), play, &Ear::default());
        let tcp = at(Ipv4Addr::LOCALHOST, play, &Ear::default());
        Self { _folder: Some(folder), addresses: vec![Address::Unix(path), tcp] }
    }

    /// Starts a server that listens at an address of this host. Also returns the bytes that the server receives.
    pub(crate) fn at(host: Ipv4Addr, play: Play) -> (Self, Ear) {
        let ear = Ear::default();
        (Self { _folder: None, addresses: vec![at(host, play, &ear)] }, ear)
    }
}

fn at(host: Ipv4Addr, play: Play, ear: &Ear) -> Address {
    let bound = listen(&SocketAddrV4::new(host, 0).into(), play, ear);
    let port = bound.as_socket().expect("an address").port();
    Address::Tcp { host: host.to_string(), port }
}

fn listen(address: &SockAddr, play: Play, ear: &Ear) -> SockAddr {
    let socket = Socket::new(address.domain(), Type::STREAM, None).expect("a socket");
    socket.bind(address).and_then(|()| socket.listen(16)).expect("a free address");
    let bound = socket.local_addr().expect("an address");
    let ear = ear.clone();
    thread::spawn(move || {
        while let Ok((caller, _)) = socket.accept() {
            let ear = ear.clone();
            thread::spawn(move || play(Peer { socket: caller, tls: None, ear }));
        }
    });
    bound
}

impl Ear {
    pub(crate) fn heard(&self) -> Vec<u8> {
        self.0.lock().expect("no listener panics").clone()
    }
}

impl Peer {
    /// Sends bytes. Returns false if the client has disconnected.
    pub(crate) fn say(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let bytes = bytes.as_ref();
        match &mut self.tls {
            None => self.socket.write_all(bytes).is_ok(),
            Some(tls) => {
                let mut stream = rustls::Stream::new(tls, &mut self.socket);
                stream.write_all(bytes).and_then(|()| stream.flush()).is_ok()
            }
        }
    }

    /// Sends one byte at a time until the client disconnects. Sending all bytes takes longer than any of the tests'
    /// limits.
    pub(crate) fn dribble(mut self, bytes: impl AsRef<[u8]>) {
        for byte in bytes.as_ref() {
            if !self.say([*byte]) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        self.stay();
    }

    /// Sends the same bytes again and again, with pauses, until the client disconnects.
    pub(crate) fn repeat(mut self, bytes: impl AsRef<[u8]>) {
        while self.say(bytes.as_ref()) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for what the client sends next. Returns false if the client has disconnected.
    pub(crate) fn hear(&mut self) -> bool {
        !self.listen().is_empty()
    }

    /// Returns what the client sends next; empty if the client has disconnected.
    pub(crate) fn listen(&mut self) -> Vec<u8> {
        let mut buffer = [0; 4096];
        let heard = match &mut self.tls {
            None => self.socket.read(&mut buffer),
            Some(tls) => rustls::Stream::new(tls, &mut self.socket).read(&mut buffer),
        };
        let bytes = heard.unwrap_or(0);
        self.ear.0.lock().expect("no listener panics").extend_from_slice(&buffer[..bytes]);
        buffer[..bytes].to_vec()
    }

    /// Waits for this many unencrypted bytes.
    pub(crate) fn hear_bytes(&mut self, count: usize) {
        let mut bytes = vec![0; count];
        // If the client has disconnected, the next send fails.
        let _ = self.socket.read_exact(&mut bytes);
        self.ear.0.lock().expect("no listener panics").extend_from_slice(&bytes);
    }

    /// Waits until the client disconnects, and sends nothing.
    pub(crate) fn stay(mut self) {
        while self.hear() {}
    }

    /// Encrypts the connection, with a certificate that no trusted authority has signed.
    pub(crate) fn encrypt(&mut self) {
        let mut tls = ServerConnection::new(Arc::clone(&TLS)).expect("a configuration");
        // This fails if the client does not trust the certificate and disconnects.
        let _ = tls.complete_io(&mut self.socket);
        self.tls = Some(tls);
    }

    /// Resets the connection, as a crashed host does. A unix socket cannot be reset, so it is closed.
    pub(crate) fn reset(self) {
        self.socket.set_linger(Some(Duration::ZERO)).expect("an open socket");
    }
}

static TLS: LazyLock<Arc<ServerConfig>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let Identity { cert, key } = Authority::new(folder.path(), "stranger").identify("impostor");
    let cert = CertificateDer::from_pem_file(cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(key).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth();
    Arc::new(builder.with_single_cert(vec![cert], key).expect("a certificate with its key"))
});
