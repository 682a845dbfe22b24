//! Waits until an engine has finished its pending writes, so that they do not slow down the next measurement.
//!
//! Each kind of storage has a file with its [`Backlog`]. The wait works in one way for all kinds.

mod background_statement;
mod backlog;
mod error;
mod flushed;
mod innodb;
mod innodb_status;
mod postgres;
mod report;
mod sqlite;
mod temporary_settings;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyno_client::ClientError;

use self::backlog::Backlog;
pub use self::error::DrainError;
use self::flushed::Flushed;
pub use self::report::{DrainAmount, DrainEnding, DrainProgress, DrainReport, Drained};
use crate::catalogue::entry::Family;
use crate::start::access::Access;
use crate::start::connect::{self, Transport};

/// Time between two checks of the pending writes.
const PAUSE: Duration = Duration::from_millis(100);

/// Time limit of one check at a server.
const LOOK_PATIENCE: Duration = Duration::from_secs(60);

/// Limits of a drain.
#[derive(Clone, Copy, Debug)]
pub struct DrainLimits<'a> {
    /// The longest wait, in seconds.
    pub seconds_max: f64,
    /// Set by another thread (^C) to end the wait early.
    pub stop: &'a AtomicBool,
    /// Whether settings may be changed during the drain, so that the server writes faster. They are restored
    /// afterwards. But if this process is killed, a server that outlives it keeps the changed values.
    pub may_set: bool,
}

/// Waits for the pending writes of a server's storage engine. `None` stands for the default storage engine. Calls
/// `progress` at each check of the pending writes. Reaching the time limit is not an error. The report says whether the
/// limit was reached.
///
/// # Errors
/// The engine has no server, or the server is gone, does not answer, or refuses a statement.
pub fn drain(
    family: Family,
    access: &Access,
    storage_engine: Option<&str>,
    limits: &DrainLimits<'_>,
    progress: &mut dyn FnMut(DrainProgress<'_>),
) -> Result<DrainReport, DrainError> {
    let time = Duration::try_from_secs_f64(limits.seconds_max).unwrap_or(Duration::MAX);
    let connect = |patience| connect::connect(family, access, Transport::Socket, patience);
    let looking = || connect(time.clamp(Duration::from_secs(1), LOOK_PATIENCE));
    // The statement that writes the pending data may take as long as the whole drain.
    let doing = || connect(time.saturating_add(LOOK_PATIENCE));
    let storage_engine = storage_engine.map(str::to_ascii_lowercase);
    let mut backlog: Box<dyn Backlog> = match (family, storage_engine.as_deref()) {
        (Family::Sqlite, _) => return Err(ClientError::NoServer.into()),
        (Family::Postgres, _) => Box::new(postgres::Postgres::new(looking()?, doing()?)?),
        (_, None | Some("innodb")) => Box::new(innodb::Innodb::new(looking()?, limits.may_set)),
        (_, Some("rocksdb")) => Box::new(Flushed::new(&flushed::ROCKSDB, looking()?, doing()?)),
        (_, Some(_)) => Box::new(Flushed::new(&flushed::OTHERS, looking()?, doing()?)),
    };
    carry_out(backlog.as_mut(), limits, progress)
}

/// Like [`drain`], for a SQLite database. Other processes may have it open.
///
/// # Errors
/// SQLite cannot use the file.
pub fn drain_sqlite(
    database: &Path,
    limits: &DrainLimits<'_>,
    progress: &mut dyn FnMut(DrainProgress<'_>),
) -> Result<DrainReport, DrainError> {
    carry_out(&mut sqlite::Sqlite::new(database), limits, progress)
}

fn carry_out(
    backlog: &mut dyn Backlog,
    limits: &DrainLimits<'_>,
    progress: &mut dyn FnMut(DrainProgress<'_>),
) -> Result<DrainReport, DrainError> {
    let began = Instant::now();
    let before = backlog.look()?;
    let waited = backlog.begin().and_then(|()| wait(backlog, limits, began, progress));
    let set_meanwhile = backlog.set_meanwhile();
    let put_back = backlog.end();
    let (ending, after) = waited?;
    put_back?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(DrainReport { ending, seconds, amounts: report::pair(&before, &after), set_meanwhile })
}

fn wait(
    backlog: &mut dyn Backlog,
    limits: &DrainLimits<'_>,
    began: Instant,
    progress: &mut dyn FnMut(DrainProgress<'_>),
) -> Result<(DrainEnding, Vec<DrainAmount>), DrainError> {
    loop {
        let amounts = backlog.look()?;
        let seconds = began.elapsed().as_secs_f64();
        progress(DrainProgress { seconds, amounts: &amounts });
        if amounts.iter().all(DrainAmount::is_at_goal) {
            return Ok((DrainEnding::Drained, amounts));
        }
        if limits.stop.load(Ordering::Relaxed) {
            return Ok((DrainEnding::Stopped, amounts));
        }
        if seconds >= limits.seconds_max {
            return Ok((DrainEnding::OutOfTime, amounts));
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests;
