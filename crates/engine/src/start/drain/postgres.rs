//! Drains PostgreSQL: vacuums dead rows, then makes a checkpoint.

use dyno_client::{Client, ClientError};

use super::background_statement::BackgroundStatement;
use super::backlog::{Backlog, number};
use super::error::DrainError;
use super::report::DrainAmount;

/// The statements that drain a server. VACUUM comes first, because the checkpoint must flush what VACUUM writes.
const STATEMENTS: &[&str] = &["VACUUM (ANALYZE)", "CHECKPOINT"];

const DEAD_ROWS: &str = "SELECT COALESCE(SUM(n_dead_tup), 0) FROM pg_stat_user_tables";

/// The query for the bytes of WAL since the last checkpoint: with the names of functions before version 10, and with
/// the names since version 10.
const WAL: [&str; 2] = [
    "SELECT pg_xlog_location_diff(pg_current_xlog_insert_location(), redo_location) FROM pg_control_checkpoint()",
    "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) FROM pg_control_checkpoint()",
];

/// PostgreSQL's pending writes, in the database of the connection.
pub(super) struct Postgres {
    client: Client,
    /// The connection for the statements. `None` once they have begun.
    worker: Option<Client>,
    worker_pid: String,
    work: Option<BackgroundStatement>,
    wal: &'static str,
}

impl Postgres {
    pub(super) fn new(mut client: Client, mut worker: Client) -> Result<Self, ClientError> {
        let pid = worker.query("SELECT pg_backend_pid()")?;
        let version = number(&mut client, "SHOW server_version_num")?.unwrap_or(f64::MAX);
        Ok(Self {
            client,
            worker: Some(worker),
            worker_pid: pid.rows.into_iter().flatten().flatten().next().unwrap_or_default(),
            work: None,
            wal: WAL[usize::from(version >= 100_000.0)],
        })
    }
}

impl Backlog for Postgres {
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError> {
        // The number of dead rows has no goal, because VACUUM cannot remove rows that an old transaction still sees.
        let left = match &mut self.work {
            Some(work) => work.left()?,
            None => STATEMENTS.len() as f64,
        };
        let mut amounts = vec![DrainAmount::down_to(0.0, "of VACUUM (ANALYZE), CHECKPOINT", left)];
        for (name, sql) in [("n_dead_tup", DEAD_ROWS), ("WAL since checkpoint (bytes)", self.wal)] {
            amounts.extend(number(&mut self.client, sql)?.map(|value| DrainAmount::told(name, value)));
        }
        Ok(amounts)
    }

    fn begin(&mut self) -> Result<(), DrainError> {
        self.work = self.worker.take().map(|client| BackgroundStatement::start(client, STATEMENTS));
        Ok(())
    }

    fn end(&mut self) -> Result<(), DrainError> {
        let Some(mut work) = self.work.take() else { return Ok(()) };
        if work.left()? > 0.0 {
            self.client.query(&format!("SELECT pg_cancel_backend({})", self.worker_pid))?;
            match work.wait() {
                // 57014 is `query_canceled`: the statement was cancelled by `pg_cancel_backend`, as intended.
                Err(ClientError::Server(error)) if error.state == "57014" => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }
}
