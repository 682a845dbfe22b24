//! Checks a job that replays traffic, before the job runs.

use std::path::PathBuf;

use dyno_script::SqlFailure;
use dyno_traffic::sql::Dialect;
use dyno_traffic::{TrafficError, TrafficFile};

use crate::protocol::job::Protocol;
use crate::protocol::replay::Replay;
use crate::session;
use crate::worker::Shared;

/// Why traffic cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub(super) enum TrafficMistake {
    #[error("{0}")]
    File(#[from] TrafficError),
    #[error("{}: is traffic of {of}; replay it on a server of that product", path.display())]
    OtherDialect { path: PathBuf, of: &'static str },
    #[error("the server cannot be asked how many connections it takes: {0}")]
    Server(String),
    #[error(
        "the traffic has up to {sessions} sessions at the same time, and the server takes {most} connections; raise its \
         `max_connections`, or replay with `pace = \"closed\"` and fewer `clients`"
    )]
    TooManySessions { sessions: u32, most: u32 },
}

/// Returns an error if the traffic was logged by another database product, or if the server allows fewer connections
/// than the traffic has sessions at the same time.
pub(super) fn check(shared: &Shared, replay: &Replay) -> Result<(), TrafficMistake> {
    let job = &shared.job;
    let file = TrafficFile::open(&replay.file)?;
    let (wanted, of) = match file.dialect()? {
        Dialect::Mysql => (Protocol::Mysql, "MySQL or MariaDB"),
        Dialect::Postgresql => (Protocol::Pgsql, "PostgreSQL"),
    };
    if job.target.driver != wanted {
        return Err(TrafficMistake::OtherDialect { path: replay.file.clone(), of });
    }
    if job.checks_only {
        return Ok(());
    }
    let most = connections_max(shared).map_err(|failure| TrafficMistake::Server(failure.message))?;
    let sessions = match replay.pace {
        Some(_) => file.outline()?.sessions_at_once,
        None => job.connections,
    };
    match most {
        Some(most) if most < sessions => Err(TrafficMistake::TooManySessions { sessions, most }),
        _ => Ok(()),
    }
}

/// The number of connections that the server allows; `None` if its answer is not a number.
fn connections_max(shared: &Shared) -> Result<Option<u32>, SqlFailure> {
    let target = &shared.job.target;
    let sql: &[u8] = match target.driver {
        Protocol::Pgsql => b"SHOW max_connections",
        Protocol::Mysql | Protocol::Sqlite => b"SELECT @@max_connections",
    };
    let mut session = session::connect(target, &shared.dialer)?;
    session.query(sql)?;
    let mut fields = Vec::new();
    let has_row = session.next_row(&mut fields);
    let answer = fields.into_iter().next().flatten().filter(|_| has_row);
    Ok(answer.and_then(|text| String::from_utf8(text).ok()?.parse().ok()))
}
