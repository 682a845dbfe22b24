//! The servers of a target, resolved once and taken in turn.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dyno_client::{Account, Compression, Dialect, Login, ServerAddress};

use crate::job::{Address, Protocol, Target};

/// The addresses of a target, taken in turn by its connections, and how to log in there.
#[derive(Debug)]
pub(crate) struct Dialer {
    places: Vec<Arc<ServerAddress>>,
    account: Account,
    next: AtomicUsize,
}

impl Dialer {
    /// Resolves all addresses and reads the files for TLS. Database files and dry runs have no address. A host that
    /// cannot be resolved is an error of the connections to it.
    pub(crate) fn new(target: &Target) -> io::Result<Self> {
        let mut places = Vec::new();
        for address in target.addresses.iter().filter(|_| !target.dry_run) {
            match address {
                Address::Unix(path) => places.push(Arc::new(ServerAddress::unix(path)?)),
                Address::Tcp { host, port } => places.push(Arc::new(ServerAddress::named(host, *port))),
                Address::File(_) => {}
            }
        }
        if places.is_empty() && target.driver != Protocol::Sqlite && !target.dry_run {
            return Err(io::Error::other("no address of a server was given"));
        }
        let account = account(target).encrypted(&target.tls).map_err(io::Error::other)?;
        Ok(Self { places, account, next: AtomicUsize::new(0) })
    }

    /// How to log in.
    pub(crate) fn account(&self) -> &Account {
        &self.account
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

fn account(target: &Target) -> Account {
    let login = Login {
        user: target.user.clone(),
        password: target.password.clone(),
        database: target.database.clone(),
        ..Login::default()
    };
    let crate::job::Compression { zlib, zstd, uncompressed } = target.compression;
    let dialect = match target.driver {
        Protocol::Pgsql => Dialect::Pgsql,
        Protocol::Mysql | Protocol::Sqlite => Dialect::Mysql(Compression { zlib, zstd, uncompressed }),
    };
    Account::new(dialect, login)
}

#[cfg(test)]
pub(crate) mod testing {
    use socket2::SockAddr;

    use super::*;

    /// A dialer of one server with these addresses.
    pub(crate) fn dialer(addresses: Vec<SockAddr>) -> Dialer {
        let place = ServerAddress::of("many.example:1".to_owned(), "many.example".to_owned(), addresses);
        let account = Account::new(Dialect::MYSQL, Login::default());
        Dialer { places: vec![Arc::new(place)], account, next: AtomicUsize::new(0) }
    }

    /// The address of a listener, after one without.
    pub(crate) fn dead_and_alive() -> (std::net::TcpListener, Vec<SockAddr>) {
        let listen = || std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (dead, alive) = (listen(), listen());
        let addresses =
            [&dead, &alive].map(|listener| SockAddr::from(listener.local_addr().expect("bound"))).to_vec();
        (alive, addresses)
    }
}
