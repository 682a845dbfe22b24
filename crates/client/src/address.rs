//! Addresses of servers. An address is resolved once, and each connection then opens a socket of its own.

use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockAddr, Socket, TcpKeepalive, Type};

/// If the server sends nothing for this time during the login, a keepalive probe asks the server's kernel whether the
/// connection still exists.
const REMINDER: Duration = Duration::from_secs(1);

/// The number of times that a client tries to connect to a server whose kernel keeps dropping the client's connections.
pub const CALLS_MAX: u32 = 30;

/// The resolved addresses of one server, or of several servers that are tried in order.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    name: String,
    places: Vec<Place>,
    /// The error if the host's name could not be resolved.
    unknown: Option<String>,
}

/// An address at which a server may listen.
#[derive(Clone, Debug)]
struct Place {
    address: SockAddr,
    /// The name that the server's certificate must contain.
    host: Arc<str>,
}

impl ServerAddress {
    /// The address of a unix socket.
    ///
    /// # Errors
    /// The path is too long for a socket.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let name = path.display().to_string();
        Ok(Self::of(name, "localhost", vec![SockAddr::unix(path)?]))
    }

    /// Resolves a host, which is a name or a number, and adds a port.
    ///
    /// # Errors
    /// The name has no address.
    pub fn resolve(host: &str, port: u16) -> io::Result<Self> {
        let name = format!("{host}:{port}");
        let unknown =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot resolve {name}: {error}"));
        let found = (host, port).to_socket_addrs().map_err(unknown)?;
        let addresses: Vec<_> = found.map(SockAddr::from).collect();
        if addresses.is_empty() {
            return Err(unknown(no_address()));
        }
        Ok(Self::of(name, host, addresses))
    }

    /// Like [`resolve`](Self::resolve), but returns no error if the name cannot be resolved. Instead, each connection
    /// to the returned address fails.
    pub fn named(host: &str, port: u16) -> Self {
        Self::resolve(host, port).unwrap_or_else(|error| Self {
            unknown: Some(error.to_string()),
            ..Self::of(format!("{host}:{port}"), host, Vec::new())
        })
    }

    /// Creates the address of a server. Messages show `name`, the server's certificate must contain `host`, and
    /// `addresses` are tried in this order.
    pub fn of(name: String, host: &str, addresses: Vec<SockAddr>) -> Self {
        let host = Arc::from(host);
        let places = addresses.into_iter().map(|address| Place { address, host: Arc::clone(&host) });
        Self { name, places: places.collect(), unknown: None }
    }

    /// Creates the address of several servers. Each connection goes to the first server that accepts it, as in libpq
    /// with a list of hosts. A name that cannot be resolved is skipped. If no name can be resolved, each connection
    /// fails.
    pub fn first_of(servers: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self { name: String::new(), places: Vec::new(), unknown: None };
        for server in servers {
            let between = if all.name.is_empty() { "" } else { ", " };
            all.name = [all.name.as_str(), between, &server.name].concat();
            all.places.extend(server.places);
            all.unknown = server.unknown.or(all.unknown);
        }
        all
    }

    /// The address as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that a server's certificate must contain. `number` is the index of the server's address.
    pub(crate) fn host(&self, number: usize) -> &str {
        self.places.get(number).map_or("", |place| &place.host)
    }

    /// Whether the address with this index is a unix socket.
    pub(crate) fn is_unix(&self, number: usize) -> bool {
        self.places.get(number).is_some_and(|place| place.address.is_unix())
    }

    /// Whether the address with this index is on this host: a unix socket, or an address of the loopback interface.
    /// Nobody else on the network can impersonate a server at such an address.
    pub(crate) fn is_on_this_host(&self, number: usize) -> bool {
        let is_loopback = |address: &SockAddr| {
            address.as_socket().is_some_and(|address| address.ip().to_canonical().is_loopback())
        };
        self.is_unix(number) || self.places.get(number).is_some_and(|place| is_loopback(&place.address))
    }

    /// Tries the addresses in order, beginning with the index `from`, and connects to the first one that accepts. Waits
    /// at most `limit` for each address; with `None`, only the kernel's own limit applies. `limit` is also set as the
    /// time limit of each write to the socket. Returns the socket and the index of its address. If all addresses fail,
    /// returns the error of the last one.
    pub(crate) fn connect(&self, from: usize, limit: Option<Duration>) -> io::Result<(Socket, usize)> {
        let mut failed = self.no_address();
        for (number, place) in self.places.iter().enumerate().skip(from) {
            match connect_to(&place.address, limit) {
                Ok(socket) => return Ok((socket, number)),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Starts to connect to the address with the index `from`, without waiting. If that fails at once, tries the next
    /// address, and so on. Returns the socket, whether it is still connecting, and the index of its address.
    ///
    /// # Errors
    /// If all addresses fail at once, the error of the last one. [`WouldBlock`](io::ErrorKind::WouldBlock) means
    /// that the server's backlog is full.
    pub fn start_connecting(&self, from: usize) -> io::Result<(Socket, bool, usize)> {
        let mut failed = self.no_address();
        for (number, place) in self.places.iter().enumerate().skip(from) {
            match call(&place.address) {
                Ok((socket, connecting)) => return Ok((socket, connecting, number)),
                // The server's backlog is full, so the caller must try the same address again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Whether there are addresses after the one with this index.
    pub fn has_more(&self, number: usize) -> bool {
        number + 1 < self.places.len()
    }

    fn no_address(&self) -> io::Error {
        self.unknown.as_ref().map_or_else(no_address, |why| io::Error::other(why.clone()))
    }
}

fn connect_to(address: &SockAddr, limit: Option<Duration>) -> io::Result<Socket> {
    let socket = socket(address, Type::STREAM)?;
    socket.set_write_timeout(limit)?;
    match limit {
        Some(limit) if !address.is_unix() => socket.connect_timeout(address, limit)?,
        // For a unix socket, the limit for writes also applies to connecting.
        _ => socket.connect(address).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            _ => error,
        })?,
    }
    Ok(socket)
}

fn call(address: &SockAddr) -> io::Result<(Socket, bool)> {
    let socket = socket(address, Type::STREAM.nonblocking())?;
    match socket.connect(address) {
        Ok(()) => Ok((socket, false)),
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok((socket, true)),
        Err(error) => Err(error),
    }
}

fn socket(address: &SockAddr, kind: Type) -> io::Result<Socket> {
    let socket = Socket::new(address.domain(), kind, None)?;
    if !address.is_unix() {
        // Send queries at once (`TCP_NODELAY`).
        socket.set_tcp_nodelay(true)?;
        // If a kernel's backlog is full, it may drop a connection that is already open at this end (SYN cookies,
        // tcp(7)). A client that waits for the server to speak first would never notice this. A keepalive probe makes
        // the server's kernel reset such a connection.
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(REMINDER).with_interval(REMINDER))?;
    }
    Ok(socket)
}

/// Whether the server's kernel dropped a connection. `error` is the error with which the connection broke before
/// the server sent anything.
pub fn is_forgotten(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset
}

/// Stops the keepalive probes. They are not needed once the server has accepted the login.
pub fn logged_in(socket: &Socket) {
    // If this fails, the probes continue, which does no harm.
    let _ = socket.set_keepalive(false);
}

fn no_address() -> io::Error {
    io::Error::other("the name has no address")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn listen() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").expect("a free port")
    }

    fn address(listener: &TcpListener) -> SockAddr {
        SockAddr::from(listener.local_addr().expect("bound"))
    }

    /// An address that refuses connections. The system never gives port 1 to a program by chance.
    fn dead() -> SockAddr {
        SockAddr::from(std::net::SocketAddr::from(([127, 0, 0, 1], 1)))
    }

    #[test]
    fn every_address_of_a_name_is_tried() {
        let alive = listen();
        let addresses = [dead(), address(&alive)];
        let connect = |addresses: &[SockAddr]| {
            let server = ServerAddress::of("many.example:1".into(), "many.example", addresses.to_vec());
            server.connect(0, None).map(|(_, number)| number)
        };
        assert_eq!(connect(&addresses).unwrap(), 1);
        assert_eq!(connect(&addresses[..1]).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn of_several_servers_the_first_that_accepts_is_taken() {
        let alive = listen();
        let server =
            |host: &str, address: SockAddr| ServerAddress::of(format!("{host}:1"), host, vec![address]);
        let unknown = || ServerAddress::named("no.such.host.invalid", 1);
        let servers =
            ServerAddress::first_of([server("dead", dead()), unknown(), server("alive", address(&alive))]);
        let (_, number) = servers.connect(0, None).unwrap();
        let name = "dead:1, no.such.host.invalid:1, alive:1";
        assert_eq!((servers.name(), servers.host(number)), (name, "alive"));
        let nobody =
            ServerAddress::first_of([unknown(), unknown()]).connect(0, None).unwrap_err().to_string();
        assert!(nobody.contains("cannot resolve no.such.host.invalid:1"), "{nobody}");
    }

    #[test]
    fn the_loopback_interface_and_sockets_are_this_host() {
        let is_here = |host: &str| ServerAddress::resolve(host, 1).unwrap().is_on_this_host(0);
        for host in ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"] {
            assert!(is_here(host), "{host}");
        }
        for host in ["192.0.2.1", "2001:db8::1", "0.0.0.0", "::ffff:192.0.2.1"] {
            assert!(!is_here(host), "{host}");
        }
        assert!(ServerAddress::unix(Path::new("/run/socket")).unwrap().is_on_this_host(0));
    }
}
