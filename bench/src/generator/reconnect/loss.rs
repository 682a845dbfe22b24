//! Ways in which a server loses all connections of a load at once.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use dyno_engine::{DATABASE, Server};

use crate::support::server;

/// Account of the load, which is also its password. The statement that ends the connections of an account spares others.
pub(super) const USER: &str = "dyno_load";
/// Time limit of a statement beside all the logins.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit until a killed server listens again.
const RESTART_PATIENCE: Duration = Duration::from_secs(120);
/// Time between two looks whether it does.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A way to lose all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Loss {
    /// The server ends the connections of an account by one statement, and goes on.
    Kill,
    /// The server is killed with SIGKILL, and starts again.
    Crash,
}

/// A loss of all connections.
pub(super) struct Planted {
    /// The moment from which the server could answer.
    pub(super) answers: Instant,
    /// Connections that the server had taken before, of those that its counter has.
    pub(super) attempts: u64,
    /// CPU time that the process which takes the connections had used before, in µs.
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

    /// Loses the connections.
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

/// Makes the account of the load.
pub(super) fn make_user(server: &Server) -> anyhow::Result<()> {
    server.query(&format!("CREATE USER '{USER}'@'localhost' IDENTIFIED BY '{USER}'"))?;
    server.query(&format!("GRANT ALL ON {DATABASE}.* TO '{USER}'@'localhost'"))?;
    Ok(())
}

/// Attempts to connect since the server started, with those that failed.
pub(super) fn attempts(server: &Server) -> anyhow::Result<u64> {
    let rows = server.connect(PATIENCE)?.query("SHOW GLOBAL STATUS LIKE 'Connections'")?.rows;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().nth(1).flatten());
    Ok(value.context("the server does not count its connections")?.parse()?)
}

/// When a socket is listened on again. A socket whose server is gone refuses.
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
