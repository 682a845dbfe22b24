//! Ways in which a server loses all connections of a load at the same time.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use dyno_engine::{DATABASE, Server};

use crate::support::server;

/// The account of the load, and its password. The load has its own account, so that the statement that ends an
/// account's connections does not end other connections.
pub(super) const USER: &str = "dyno_load";
/// Time limit of a statement that the benchmark sends while the load logs in.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit until a killed server listens again.
const RESTART_PATIENCE: Duration = Duration::from_secs(120);
/// Time between two attempts to find out whether the server listens.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A way to lose all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Loss {
    /// The server ends the connections of an account by one statement, and goes on.
    Kill,
    /// The server is killed with SIGKILL, and starts again.
    Crash,
}

/// The state at the moment when all connections were lost. Later counters and times are compared with it.
pub(super) struct Planted {
    /// The moment from which the server could answer again.
    pub(super) answers: Instant,
    /// The server's counter of connections just before the loss.
    pub(super) attempts: u64,
    /// CPU time in µs that the server's process had used before the loss. It is 0 if the server was killed, because a
    /// new process then accepts the connections.
    pub(super) server_cpu_us: u64,
}

impl Loss {
    pub(super) const ALL: [Self; 2] = [Self::Kill, Self::Crash];

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Kill => "KILL USER",
            Self::Crash => "kill -9",
        }
    }

    /// Makes the server lose all connections of the load.
    pub(super) fn plant(self, server: &mut Server) -> anyhow::Result<Planted> {
        match self {
            Self::Kill => {
                let mut client = server.connect(PATIENCE)?;
                let attempts = attempts(server)?;
                let server_cpu_us = server::cpu_us(server.access())?;
                let answers = Instant::now();
                client.query(&format!("KILL USER '{USER}'"))?;
                Ok(Planted { answers, attempts, server_cpu_us })
            }
            Self::Crash => {
                let socket = server.access().socket.clone();
                server.crash(&mut || {});
                let listens = thread::spawn(move || first_answer(&socket));
                server.restart_in_place()?;
                let listens = listens.join().map_err(|_| anyhow!("the wait for the server ended early"))?;
                // The counters of a new process begin at 0.
                Ok(Planted { answers: listens?, attempts: 0, server_cpu_us: 0 })
            }
        }
    }
}

/// Makes the account that the load uses.
pub(super) fn make_user(server: &Server) -> anyhow::Result<()> {
    server.query(&format!("CREATE USER '{USER}'@'localhost' IDENTIFIED BY '{USER}'"))?;
    server.query(&format!("GRANT ALL ON {DATABASE}.* TO '{USER}'@'localhost'"))?;
    Ok(())
}

/// Returns the number of attempts to connect since the server started, including failed ones.
pub(super) fn attempts(server: &Server) -> anyhow::Result<u64> {
    let rows = server.connect(PATIENCE)?.query("SHOW GLOBAL STATUS LIKE 'Connections'")?.rows;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().nth(1).flatten());
    Ok(value.context("the server does not count its connections")?.parse()?)
}

/// Waits until a server listens on the socket, and returns when it did. While no server listens, connecting fails.
fn first_answer(socket: &Path) -> anyhow::Result<Instant> {
    let began = Instant::now();
    while began.elapsed() < RESTART_PATIENCE {
        if UnixStream::connect(socket).is_ok() {
            return Ok(Instant::now());
        }
        thread::sleep(LOOK_AGAIN);
    }
    bail!("the server does not listen again")
}
