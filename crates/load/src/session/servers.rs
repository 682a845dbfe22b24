//! The servers of a target. Each address is resolved once. Each new connection uses the next address.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dyno_client::{Account, Compression, Dialect, Login, ServerAddress};

use crate::protocol::job::{Address, Protocol, Target};

/// The addresses of a target, and the account with which its connections log in. Each new connection uses the next
/// address.
#[derive(Debug)]
pub(crate) struct Dialer {
    places: Vec<Arc<ServerAddress>>,
    account: Account,
    login_limit: Duration,
    next: AtomicUsize,
}

impl Dialer {
    /// Resolves all addresses and reads the files for TLS. If the target is a database file, or in a dry run, there is
    /// no address. If a host cannot be resolved, the connections to it fail.
    ///
    /// The time limit for opening a connection is the target's own limit, or `start_seconds_max` if the target has
    /// none.
    pub(crate) fn new(target: &Target, start_seconds_max: f64) -> io::Result<Self> {
        let mut places = Vec::new();
        for address in target.addresses.iter().filter(|_| !target.dry_run) {
            match address {
                Address::File(_) => {}
                address => places.push(Arc::new(resolve(address)?)),
            }
        }
        if places.is_empty() && target.driver != Protocol::Sqlite && !target.dry_run {
            return Err(io::Error::other("no address of a server was given"));
        }
        let account = account(target).encrypted(&target.tls).map_err(io::Error::other)?;
        let login_limit = crate::schedule::seconds(target.connect_seconds_max.unwrap_or(start_seconds_max));
        Ok(Self { places, account, login_limit, next: AtomicUsize::new(0) })
    }

    /// Time limit for a server to accept a connection. The login after that has the same limit.
    pub(crate) fn login_limit(&self) -> Duration {
        self.login_limit
    }

    /// The account with which connections log in.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the address for the next connection, and after the last address the first again.
    ///
    /// # Panics
    /// For SQLite and dry runs, which do not connect.
    pub(crate) fn place(&self) -> &Arc<ServerAddress> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        &self.places[turn % self.places.len()]
    }
}

fn resolve(address: &Address) -> io::Result<ServerAddress> {
    match address {
        Address::Unix(path) => ServerAddress::unix(path),
        Address::Tcp { host, port } => Ok(ServerAddress::named(host, *port)),
        Address::FirstOf(list) => {
            list.iter().map(resolve).collect::<io::Result<Vec<_>>>().map(ServerAddress::first_of)
        }
        Address::File(path) => Err(io::Error::other(format!("{} is not a server", path.display()))),
    }
}

fn account(target: &Target) -> Account {
    let login = Login {
        user: target.user.clone(),
        password: target.password.clone(),
        database: target.database.clone(),
        trust: target.trust.clone(),
        metadata: target.metadata,
        ..Login::default()
    };
    let crate::protocol::job::Compression { zlib, zstd, uncompressed } = target.compression;
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
        let place = ServerAddress::of("many.example:1".to_owned(), "many.example", addresses);
        let account = Account::new(Dialect::MYSQL, Login::default());
        let login_limit = Duration::from_secs(20);
        Dialer { places: vec![Arc::new(place)], account, login_limit, next: AtomicUsize::new(0) }
    }

    /// Returns a listener and two addresses: one that refuses connections, and that of the listener. Port 1 refuses
    /// connections, because the system never gives it to a program by chance.
    pub(crate) fn dead_and_alive() -> (std::net::TcpListener, Vec<SockAddr>) {
        let alive = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let dead = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let addresses = vec![SockAddr::from(dead), SockAddr::from(alive.local_addr().expect("bound"))];
        (alive, addresses)
    }
}
