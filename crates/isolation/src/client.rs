//! Transactions on a server. Each is recorded in the history.

use dyno_engine::{Client, ClientError, Family};

use crate::history::{End, Recorded, Recorder};
use crate::level::Level;

/// The table of lists. A row is a list: its key, and its numbers as text with blanks between them.
pub(crate) const TABLE: &str = "isolation_list";

/// The statement that makes the table.
pub(crate) fn create() -> String {
    format!("CREATE TABLE {TABLE} (k INT NOT NULL PRIMARY KEY, v TEXT NOT NULL)")
}

/// An operation of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Appends a number to a list.
    Append { key: u64, value: u64 },
    /// Reads a list.
    Read { key: u64 },
}

/// A client of a server.
pub struct Worker<'a> {
    /// The client's number in the history. No other client has this number.
    pub process: u32,
    pub client: Client,
    pub family: Family,
    pub level: Level,
    pub recorder: &'a Recorder,
}

/// A transaction that has begun.
pub struct OpenTransaction<'w, 'a> {
    worker: &'w mut Worker<'a>,
    operations: Vec<Recorded>,
    /// Number of operations that were executed successfully.
    done: usize,
    /// The error of an operation. After an error, the transaction can only be rolled back.
    failure: Option<ClientError>,
}

/// The server is gone, its answer makes no sense, or it refuses to begin or to roll back a transaction.
#[derive(Debug)]
pub struct Lost(pub ClientError);

impl<'a> Worker<'a> {
    /// Runs a whole transaction. If the server refuses a statement, the transaction is rolled back.
    ///
    /// # Errors
    /// The server is gone, or refuses to begin the transaction.
    pub fn run(&mut self, operations: &[Operation]) -> Result<(), Lost> {
        let mut transaction = self.begin(operations)?;
        for _ in operations {
            transaction.step();
        }
        transaction.commit()
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// The server is gone, or refuses.
    pub fn begin<'w>(&'w mut self, operations: &[Operation]) -> Result<OpenTransaction<'w, 'a>, Lost> {
        let operations: Vec<Recorded> = operations.iter().map(|operation| recorded(*operation)).collect();
        self.recorder.begin(self.process, &operations);
        let level = self.level.sql();
        let begin = match self.family {
            Family::Postgres => vec![format!("BEGIN ISOLATION LEVEL {level}")],
            _ => vec![format!("SET TRANSACTION ISOLATION LEVEL {level}"), "BEGIN".to_owned()],
        };
        for statement in begin {
            if let Err(error) = self.client.query(&statement) {
                self.recorder.end(self.process, End::Failed, &operations);
                return Err(Lost(error));
            }
        }
        Ok(OpenTransaction { worker: self, operations, done: 0, failure: None })
    }
}

impl OpenTransaction<'_, '_> {
    /// Executes the next operation. Does nothing after a failure.
    pub fn step(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let family = self.worker.family;
        let Some(operation) = self.operations.get_mut(self.done) else { return };
        match execute(&mut self.worker.client, family, operation) {
            Ok(()) => self.done += 1,
            Err(error) => self.failure = Some(error),
        }
    }

    /// Commits the transaction, or rolls it back after a failure.
    ///
    /// # Errors
    /// The server is gone.
    pub fn commit(self) -> Result<(), Lost> {
        let Self { worker, operations, failure, .. } = self;
        let end = |end| worker.recorder.end(worker.process, end, &operations);
        if let Some(error) = failure {
            // Nothing was committed, whatever happens to the connection.
            end(End::Failed);
            return match error {
                ClientError::Server(_) => worker.client.query("ROLLBACK").map(drop).map_err(Lost),
                error => Err(Lost(error)),
            };
        }
        match worker.client.query("COMMIT") {
            Ok(_) => end(End::Committed),
            Err(error @ ClientError::Server(_)) => {
                end(End::Failed);
                return worker.client.query("ROLLBACK").map(drop).map_err(|_| Lost(error));
            }
            Err(error) => {
                end(End::Unknown);
                return Err(Lost(error));
            }
        }
        Ok(())
    }
}

fn recorded(operation: Operation) -> Recorded {
    match operation {
        Operation::Append { key, value } => Recorded::Append { key, value },
        Operation::Read { key } => Recorded::Read { key, list: None },
    }
}

fn execute(client: &mut Client, family: Family, operation: &mut Recorded) -> Result<(), ClientError> {
    match operation {
        Recorded::Append { key, value } => {
            let insert = format!("INSERT INTO {TABLE} VALUES ({key}, '{value}')");
            let append = match family {
                Family::Mysql | Family::Mariadb => {
                    format!("ON DUPLICATE KEY UPDATE v = CONCAT(v, ' {value}')")
                }
                Family::Postgres | Family::Sqlite => {
                    format!("ON CONFLICT (k) DO UPDATE SET v = {TABLE}.v || ' {value}'")
                }
            };
            client.query(&format!("{insert} {append}")).map(drop)
        }
        Recorded::Read { key, list } => {
            let found = client.query(&format!("SELECT v FROM {TABLE} WHERE k = {key}"))?;
            let text = found.rows.into_iter().flatten().flatten().next().unwrap_or_default();
            // Only numbers are ever written. Any other text would mean lost data. It becomes `u64::MAX`, a number
            // that no transaction appended, so the check reports it.
            *list = Some(
                text.split_ascii_whitespace().map(|number| number.parse().unwrap_or(u64::MAX)).collect(),
            );
            Ok(())
        }
    }
}
