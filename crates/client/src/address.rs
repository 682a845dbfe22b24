//! The address of a server: resolved once, with a socket for each connection.

use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::time::Duration;

use socket2::{SockAddr, Socket, TcpKeepalive, Type};

/// Time without an answer at login after which the server's kernel is asked whether it knows the connection.
const REMINDER: Duration = Duration::from_secs(1);

/// Attempts to connect to a server that drops connections.
pub const CALLS_MAX: u32 = 30;

/// A resolved address.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    name: String,
    host: String,
    addresses: Vec<SockAddr>,
    /// Why there are no addresses.
    unknown: Option<String>,
}

impl ServerAddress {
    /// A unix socket.
    ///
    /// # Errors
    /// The path is too long for one.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let name = path.display().to_string();
        Ok(Self::of(name, "localhost".to_owned(), vec![SockAddr::unix(path)?]))
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
        Ok(Self::of(name, host.to_owned(), addresses))
    }

    /// As [`resolve`](Self::resolve). A name without an address is an error of each connection.
    pub fn named(host: &str, port: u16) -> Self {
        Self::resolve(host, port).unwrap_or_else(|error| Self {
            unknown: Some(error.to_string()),
            ..Self::of(format!("{host}:{port}"), host.to_owned(), Vec::new())
        })
    }

    /// A server that is shown by `name`, has `host` in its certificate, and `addresses` to be tried in this order.
    pub fn of(name: String, host: String, addresses: Vec<SockAddr>) -> Self {
        Self { name, host, addresses, unknown: None }
    }

    /// The address as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The expected name in the server's certificate.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is a unix socket.
    pub fn is_local(&self) -> bool {
        self.addresses.iter().all(SockAddr::is_unix)
    }

    /// Connects and waits, for each address at most `patience` (none: as long as the kernel does). Reads and writes have
    /// that limit too. The error is that of the last address.
    pub(crate) fn connect(&self, patience: Option<Duration>) -> io::Result<Socket> {
        let mut failed = self.no_address();
        for address in &self.addresses {
            match self.connect_to(address, patience) {
                Ok(socket) => return Ok(socket),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn connect_to(&self, address: &SockAddr, patience: Option<Duration>) -> io::Result<Socket> {
        let socket = self.socket(address, Type::STREAM)?;
        socket.set_read_timeout(patience)?;
        socket.set_write_timeout(patience)?;
        match patience {
            Some(patience) if !self.is_local() => socket.connect_timeout(address, patience)?,
            // Of a unix socket the limit of writes holds for connecting too.
            _ => socket.connect(address)?,
        }
        Ok(socket)
    }

    /// Connects to the address with this index without waiting, or to the next that is not refused at once. Returns
    /// the socket, whether it is still connecting, and the index of the address.
    ///
    /// # Errors
    /// That of the last address; [`WouldBlock`](io::ErrorKind::WouldBlock) if the server's backlog is full.
    pub fn start_connecting(&self, from: usize) -> io::Result<(Socket, bool, usize)> {
        let mut failed = self.no_address();
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
    pub fn has_more(&self, number: usize) -> bool {
        number + 1 < self.addresses.len()
    }

    fn no_address(&self) -> io::Error {
        self.unknown.as_ref().map_or_else(no_address, |why| io::Error::other(why.clone()))
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
pub fn is_forgotten(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset
}

/// Ends the keepalive probes of a connection that the server knows.
pub fn logged_in(socket: &Socket) {
    // If this fails, probes go on, which do no harm.
    let _ = socket.set_keepalive(false);
}

fn no_address() -> io::Error {
    io::Error::other("the name has no address")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn every_address_of_a_name_is_tried() {
        let listen = || TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = |listener: &TcpListener| SockAddr::from(listener.local_addr().expect("bound"));
        let alive = listen();
        let addresses = [address(&listen()), address(&alive)];
        let connect = |addresses: &[SockAddr]| {
            let server =
                ServerAddress::of("many.example:1".into(), "many.example".into(), addresses.to_vec());
            server.connect(None)
        };
        assert!(connect(&addresses).is_ok());
        assert_eq!(connect(&addresses[..1]).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
