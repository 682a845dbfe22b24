//! The address of a server: resolved once, with a socket for each connection.

use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockAddr, Socket, TcpKeepalive, Type};

/// If there is no answer to the login for this time, the server's kernel is asked whether it knows the
/// connection.
const REMINDER: Duration = Duration::from_secs(1);

/// Attempts to connect to a server that drops connections.
pub const CALLS_MAX: u32 = 30;

/// The resolved addresses of one server, or of several servers that are tried in order.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    name: String,
    places: Vec<Place>,
    /// Why there are no addresses.
    unknown: Option<String>,
}

/// An address at which a server may listen.
#[derive(Clone, Debug)]
struct Place {
    address: SockAddr,
    /// The expected name in the server's certificate.
    host: Arc<str>,
}

impl ServerAddress {
    /// A unix socket.
    ///
    /// # Errors
    /// The path is too long for a socket.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let name = path.display().to_string();
        Ok(Self::of(name, "localhost", vec![SockAddr::unix(path)?]))
    }

    /// A host by name or number, and a port.
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

    /// As [`resolve`](Self::resolve), but if the name has no address, each connection fails.
    pub fn named(host: &str, port: u16) -> Self {
        Self::resolve(host, port).unwrap_or_else(|error| Self {
            unknown: Some(error.to_string()),
            ..Self::of(format!("{host}:{port}"), host, Vec::new())
        })
    }

    /// A server with the shown name `name`, the name `host` in its certificate, and `addresses` to try in
    /// this order.
    pub fn of(name: String, host: &str, addresses: Vec<SockAddr>) -> Self {
        let host = Arc::from(host);
        let places = addresses.into_iter().map(|address| Place { address, host: Arc::clone(&host) });
        Self { name, places: places.collect(), unknown: None }
    }

    /// Several servers. The first that accepts is used, as libpq does with a list of hosts. A name that
    /// cannot be resolved is skipped. It is an error if none can be resolved.
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

    /// The expected name in the certificate of the server at the address with this index.
    pub(crate) fn host(&self, number: usize) -> &str {
        self.places.get(number).map_or("", |place| &place.host)
    }

    /// Whether the address with this index is a unix socket.
    pub(crate) fn is_unix(&self, number: usize) -> bool {
        self.places.get(number).is_some_and(|place| place.address.is_unix())
    }

    /// Whether the address with this index is on this host: a unix socket, or an address of the loopback
    /// interface. Nobody on the network can impersonate such a server.
    pub(crate) fn is_on_this_host(&self, number: usize) -> bool {
        let is_loopback = |address: &SockAddr| {
            address.as_socket().is_some_and(|address| address.ip().to_canonical().is_loopback())
        };
        self.is_unix(number) || self.places.get(number).is_some_and(|place| is_loopback(&place.address))
    }

    /// Connects and waits, for each address from this index on at most `limit`; `None` waits as long as the
    /// kernel does. The limit also applies to writes. Returns the socket and the index of its address. The
    /// error is that of the last address.
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

    /// Connects to the address with this index without waiting, or to the next that is not refused at once. Returns
    /// the socket, whether it is still connecting, and the index of the address.
    ///
    /// # Errors
    /// The error of the last address; [`WouldBlock`](io::ErrorKind::WouldBlock) if the server's backlog is full.
    pub fn start_connecting(&self, from: usize) -> io::Result<(Socket, bool, usize)> {
        let mut failed = self.no_address();
        for (number, place) in self.places.iter().enumerate().skip(from) {
            match call(&place.address) {
                Ok((socket, connecting)) => return Ok((socket, connecting, number)),
                // A full backlog: retry the same address.
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
        // A kernel with a full backlog may drop a connection that is open at this end (SYN cookies, tcp(7)).
        // If the client waits for the server to speak first, it never notices. A keepalive probe makes the
        // server's kernel reset such a connection.
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(REMINDER).with_interval(REMINDER))?;
    }
    Ok(socket)
}

/// Whether a connection that broke before the server sent anything was dropped by its kernel.
pub fn is_forgotten(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset
}

/// Ends the keepalive probes of a connection that the server knows.
pub fn logged_in(socket: &Socket) {
    // If this fails, harmless probes continue.
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

    /// An address that refuses connections: no program is given this port by chance.
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
