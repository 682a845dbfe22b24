//! Finding and calling a server: addresses resolved once, taken in turn.

use std::io;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::ClientConfig;
use socket2::{SockAddr, Socket, TcpKeepalive, Type};

use crate::job::{Address, DriverKind, Target};
use crate::tls;

/// How long a server may be silent at login before its kernel is asked whether it knows of the connection.
const REMINDER: Duration = Duration::from_secs(1);

/// How often a server that forgets is called.
pub(crate) const CALLS_MAX: u32 = 30;

/// The places of a target, taken in turn by its connections.
#[derive(Debug)]
pub(crate) struct Dialer {
    places: Vec<Place>,
    tls: Option<Arc<ClientConfig>>,
    next: AtomicUsize,
}

/// One resolved address.
#[derive(Debug)]
pub(crate) struct Place {
    name: String,
    /// The name in its certificate.
    host: String,
    address: SockAddr,
}

impl Dialer {
    /// Resolves every address and reads the files for TLS. A database file needs no dialling and gives no place.
    pub(crate) fn new(target: &Target) -> io::Result<Self> {
        let mut places = Vec::new();
        for address in &target.addresses {
            match address {
                Address::Unix(path) => {
                    places.push(Place {
                        name: path.display().to_string(),
                        host: "localhost".to_owned(),
                        address: SockAddr::unix(path)?,
                    });
                }
                Address::Tcp { host, port } => places.push(resolve(host, *port)?),
                Address::File(_) => {}
            }
        }
        if places.is_empty() && target.driver != DriverKind::Sqlite {
            return Err(io::Error::other("no address of a server was given"));
        }
        let tls = tls::config(&target.tls).map_err(io::Error::other)?;
        Ok(Self { places, tls, next: AtomicUsize::new(0) })
    }

    /// How connections are encrypted, if they are.
    pub(crate) fn tls(&self) -> Option<&Arc<ClientConfig>> {
        self.tls.as_ref()
    }

    /// The next place to call.
    ///
    /// # Panics
    /// For SQLite, which nobody dials.
    pub(crate) fn place(&self) -> &Place {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        &self.places[turn % self.places.len()]
    }
}

impl Place {
    /// The address as the user wrote it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name that the server's certificate is to have.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is a unix socket.
    pub(crate) fn is_local(&self) -> bool {
        self.address.is_unix()
    }

    /// Calls and waits.
    pub(crate) fn connect(&self) -> io::Result<Socket> {
        let socket = self.socket(Type::STREAM)?;
        socket.connect(&self.address)?;
        Ok(socket)
    }

    /// Calls without waiting: the socket, and whether the connection is still being made.
    pub(crate) fn start_connecting(&self) -> io::Result<(Socket, bool)> {
        let socket = self.socket(Type::STREAM.nonblocking())?;
        match socket.connect(&self.address) {
            Ok(()) => Ok((socket, false)),
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok((socket, true)),
            Err(error) => Err(error),
        }
    }

    fn socket(&self, kind: Type) -> io::Result<Socket> {
        let socket = Socket::new(self.address.domain(), kind, None)?;
        if !self.is_local() {
            // A query waits for nothing to join it in its packet.
            socket.set_tcp_nodelay(true)?;
            // A kernel with a full backlog forgets connections that are open at this end (SYN cookies, tcp(7)).
            // Where the server is to speak first nobody would notice; asked for a sign of life, it resets them.
            socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(REMINDER).with_interval(REMINDER))?;
        }
        Ok(socket)
    }
}

/// Whether a connection that broke before the server said anything is one that it had forgotten.
pub(crate) fn is_forgotten(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset
}

/// Ends the reminders of a connection that is known to the server.
pub(crate) fn logged_in(socket: &Socket) {
    // Where this cannot be set there are reminders, which do no harm.
    let _ = socket.set_keepalive(false);
}

fn resolve(host: &str, port: u16) -> io::Result<Place> {
    let name = format!("{host}:{port}");
    let unknown = |error: io::Error| io::Error::new(error.kind(), format!("cannot resolve {name}: {error}"));
    let address = (host, port)
        .to_socket_addrs()
        .map_err(unknown)?
        .next()
        .ok_or_else(|| unknown(io::Error::other("the name has no address")))?;
    Ok(Place { name, host: host.to_owned(), address: SockAddr::from(address) })
}
