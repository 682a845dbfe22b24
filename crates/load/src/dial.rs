//! Connects to servers: resolves addresses once, and takes them in turn.

use std::io;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::ClientConfig;
use socket2::{SockAddr, Socket, TcpKeepalive, Type};

use crate::job::{Address, Protocol, Target};
use crate::tls;

/// Time without an answer at login after which the server's kernel is asked whether it knows the connection.
const REMINDER: Duration = Duration::from_secs(1);

/// Attempts to connect to a server that drops connections.
pub(crate) const CALLS_MAX: u32 = 30;

/// The addresses of a target, taken in turn by its connections.
#[derive(Debug)]
pub(crate) struct Dialer {
    places: Vec<Arc<ServerAddress>>,
    tls: Option<Arc<ClientConfig>>,
    next: AtomicUsize,
}

/// A resolved address.
#[derive(Debug)]
pub(crate) struct ServerAddress {
    name: String,
    /// The name in its certificate.
    host: String,
    /// All addresses of the name, to be tried in this order.
    addresses: Vec<SockAddr>,
}

impl Dialer {
    /// Resolves all addresses and reads the files for TLS. Database files and dry runs
    /// have no address.
    pub(crate) fn new(target: &Target) -> io::Result<Self> {
        let mut places = Vec::new();
        for address in target.addresses.iter().filter(|_| !target.dry_run) {
            match address {
                Address::Unix(path) => {
                    places.push(Arc::new(ServerAddress {
                        name: path.display().to_string(),
                        host: "localhost".to_owned(),
                        addresses: vec![SockAddr::unix(path)?],
                    }));
                }
                Address::Tcp { host, port } => places.push(Arc::new(resolve(host, *port)?)),
                Address::File(_) => {}
            }
        }
        if places.is_empty() && target.driver != Protocol::Sqlite && !target.dry_run {
            return Err(io::Error::other("no address of a server was given"));
        }
        let tls = tls::config(&target.tls).map_err(io::Error::other)?;
        Ok(Self { places, tls, next: AtomicUsize::new(0) })
    }

    /// How connections are encrypted, if they are.
    pub(crate) fn tls(&self) -> Option<&Arc<ClientConfig>> {
        self.tls.as_ref()
    }

    /// The next address to connect to.
    ///
    /// # Panics
    /// For SQLite and dry runs, which do not connect.
    pub(crate) fn place(&self) -> &Arc<ServerAddress> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        &self.places[turn % self.places.len()]
    }
}

impl ServerAddress {
    /// The address as the user wrote it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The expected name in the server's certificate.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is a unix socket.
    pub(crate) fn is_local(&self) -> bool {
        self.addresses.iter().all(SockAddr::is_unix)
    }

    /// Connects and waits. The error is that of the last address.
    pub(crate) fn connect(&self) -> io::Result<Socket> {
        let mut failed = no_address();
        for address in &self.addresses {
            let connected = self.socket(address, Type::STREAM).and_then(|socket| {
                socket.connect(address)?;
                Ok(socket)
            });
            match connected {
                Ok(socket) => return Ok(socket),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Connects to the address with this index without waiting, or to the next that is not refused at once. Returns
    /// the socket, whether it is still connecting, and the index of the address.
    pub(crate) fn start_connecting(&self, from: usize) -> io::Result<(Socket, bool, usize)> {
        let mut failed = no_address();
        for (number, address) in self.addresses.iter().enumerate().skip(from) {
            match self.call(address) {
                Ok((socket, connecting)) => return Ok((socket, connecting, number)),
                // A full backlog: retry the same address.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Whether there are addresses after the one with this index.
    pub(crate) fn has_more(&self, number: usize) -> bool {
        number + 1 < self.addresses.len()
    }

    fn call(&self, address: &SockAddr) -> io::Result<(Socket, bool)> {
        let socket = self.socket(address, Type::STREAM.nonblocking())?;
        match socket.connect(address) {
            Ok(()) => Ok((socket, false)),
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok((socket, true)),
            Err(error) => Err(error),
        }
    }

    fn socket(&self, address: &SockAddr, kind: Type) -> io::Result<Socket> {
        let socket = Socket::new(address.domain(), kind, None)?;
        if !self.is_local() {
            // Send queries at once (`TCP_NODELAY`).
            socket.set_tcp_nodelay(true)?;
            // A kernel with a full backlog drops connections that are open at this end (SYN cookies, tcp(7)).
            // If the server is to speak first, nobody would notice; a keepalive probe makes it reset them.
            socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(REMINDER).with_interval(REMINDER))?;
        }
        Ok(socket)
    }
}

/// Whether a connection that broke before the server sent anything was dropped by its kernel.
pub(crate) fn is_forgotten(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset
}

/// Ends the keepalive probes of a connection that the server knows.
pub(crate) fn logged_in(socket: &Socket) {
    // If this fails, probes go on, which do no harm.
    let _ = socket.set_keepalive(false);
}

fn resolve(host: &str, port: u16) -> io::Result<ServerAddress> {
    let name = format!("{host}:{port}");
    let unknown = |error: io::Error| io::Error::new(error.kind(), format!("cannot resolve {name}: {error}"));
    let addresses: Vec<_> = (host, port).to_socket_addrs().map_err(unknown)?.map(SockAddr::from).collect();
    if addresses.is_empty() {
        return Err(unknown(no_address()));
    }
    Ok(ServerAddress { name, host: host.to_owned(), addresses })
}

fn no_address() -> io::Error {
    io::Error::other("the name has no address")
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A dialer of one server with these addresses.
    pub(crate) fn dialer(addresses: Vec<SockAddr>) -> Dialer {
        let place =
            ServerAddress { name: "many.example:1".to_owned(), host: "many.example".to_owned(), addresses };
        Dialer { places: vec![Arc::new(place)], tls: None, next: AtomicUsize::new(0) }
    }

    /// The address of a listener, after one without.
    pub(crate) fn dead_and_alive() -> (std::net::TcpListener, Vec<SockAddr>) {
        let listen = || std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (dead, alive) = (listen(), listen());
        let addresses =
            [&dead, &alive].map(|listener| SockAddr::from(listener.local_addr().expect("bound"))).to_vec();
        (alive, addresses)
    }

    #[test]
    fn every_address_of_a_name_is_tried() {
        let (_listener, addresses) = dead_and_alive();
        let dead = addresses[..1].to_vec();
        assert!(dialer(addresses).place().connect().is_ok());
        let error = dialer(dead).place().connect().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
