//! SQLite, which runs in this process.

use std::collections::HashMap;
use std::time::Duration;

use dyno_script::{Param, ParamType, SqlFailure, StatementId};
use rusqlite::ffi::ErrorCode;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Statement, ToSql};

use super::{Outcome, Session};
use crate::protocol::job::{Address, Protocol, Target};
use crate::session::failure;

/// Time that a statement waits for a lock. After that, the statement fails as busy, and the event is run again.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A session with SQLite. A compiled statement borrows the connection, so a session cannot store both. The session
/// therefore stores only the statements' texts, and the library's cache stores the compiled statements.
pub(super) struct SqliteSession {
    connection: Connection,
    statements: HashMap<StatementId, String>,
    next_statement: StatementId,
    rows: Rows,
    /// The text of the statement that was executed most recently.
    last_sql: String,
    /// The result of a query that was sent. The query has already run, because SQLite runs in this process.
    sent: Option<Result<Outcome, SqlFailure>>,
}

/// The most recent result as text, in the form that other drivers return.
#[derive(Default)]
struct Rows {
    fields: u32,
    text: Vec<u8>,
    /// The end of each value in `text`; `None` for NULL.
    ends: Vec<Option<usize>>,
    next_value: usize,
    next_byte: usize,
}

impl SqliteSession {
    pub(super) fn open(target: &Target) -> Result<Self, SqlFailure> {
        let path = target.addresses.iter().find_map(|address| match address {
            Address::File(path) => Some(path),
            _ => None,
        });
        let Some(path) = path else {
            let message = "no database file was given for SQLite".to_owned();
            return Err(SqlFailure { message, ..SqlFailure::default() });
        };
        let open = || {
            let connection = Connection::open(path)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.set_prepared_statement_cache_capacity(1024);
            Ok(connection)
        };
        let connection = open().map_err(|error: rusqlite::Error| {
            let mut failure = failure(&error);
            failure.message = format!("cannot open {}: {}", path.display(), failure.message);
            failure
        })?;
        Ok(Self {
            connection,
            statements: HashMap::new(),
            next_statement: 1,
            rows: Rows::default(),
            last_sql: String::new(),
            sent: None,
        })
    }
}

impl Session for SqliteSession {
    fn query(&mut self, sql: &[u8]) -> Result<Outcome, SqlFailure> {
        let sql = text(sql)?;
        sql.clone_into(&mut self.last_sql);
        let mut statement = self.connection.prepare(sql).map_err(|error| failure(&error))?;
        run(&self.connection, &mut statement, &[], &mut self.rows).map_err(|error| failure(&error))
    }

    fn send(&mut self, sql: &[u8]) -> Result<(), SqlFailure> {
        self.sent = Some(self.query(sql));
        Ok(())
    }

    fn load(&mut self, _sql: &[u8], _data: &[u8]) -> Result<(), SqlFailure> {
        let message = "SQLite has no statement that reads data from its client".to_owned();
        Err(SqlFailure { message, ..SqlFailure::default() })
    }

    fn receive(&mut self) -> Result<Outcome, SqlFailure> {
        self.sent.take().unwrap_or_else(|| Err(failure::gone(Protocol::Sqlite)))
    }

    fn prepare(&mut self, sql: &[u8], _types: &[ParamType]) -> Result<StatementId, SqlFailure> {
        let sql = text(sql)?;
        self.connection.prepare_cached(sql).map_err(|error| failure(&error))?;
        let id = self.next_statement;
        self.next_statement += 1;
        self.statements.insert(id, sql.to_owned());
        Ok(id)
    }

    fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<Outcome, SqlFailure> {
        let Some(sql) = self.statements.get(&statement) else {
            let message = format!("there is no prepared statement {statement}");
            return Err(SqlFailure { message, ..SqlFailure::default() });
        };
        self.last_sql.clone_from(sql);
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| failure(&error))?;
        run(&self.connection, &mut statement, params, &mut self.rows).map_err(|error| failure(&error))
    }

    fn close_statement(&mut self, statement: StatementId) {
        self.statements.remove(&statement);
    }

    fn next_result(&mut self) -> Result<Outcome, SqlFailure> {
        Ok(Outcome::default())
    }

    fn field_names(&mut self) -> Vec<String> {
        let names = |statement: &Statement<'_>| statement.column_names().map(str::to_owned).collect();
        self.connection.prepare(&self.last_sql).map_or_else(|_| Vec::new(), |statement| names(&statement))
    }

    fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.rows.next(fields)
    }
}

fn run(
    connection: &Connection,
    statement: &mut Statement<'_>,
    params: &[Param<'_>],
    rows: &mut Rows,
) -> rusqlite::Result<Outcome> {
    rows.clear(statement.column_count() as u32);
    for (position, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(position + 1, Bound(param))?;
    }
    let changes_before = connection.total_changes();
    let mut count = 0;
    let mut results = statement.raw_query();
    while let Some(row) = results.next()? {
        count += 1;
        for column in 0..rows.fields {
            rows.push(row.get_ref(column as usize)?);
        }
    }
    Ok(Outcome {
        affected_rows: connection.total_changes() - changes_before,
        rows: count,
        fields: rows.fields,
        more: false,
    })
}

struct Bound<'a, 'b>(&'a Param<'b>);

impl ToSql for Bound<'_, '_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match *self.0 {
            Param::Null => ToSqlOutput::Owned(Value::Null),
            Param::Int(number) => ToSqlOutput::Owned(Value::Integer(number)),
            Param::Float(number) => ToSqlOutput::Owned(Value::Real(number)),
            Param::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text)),
        })
    }
}

impl Rows {
    fn clear(&mut self, fields: u32) {
        self.fields = fields;
        self.text.clear();
        self.ends.clear();
        self.next_value = 0;
        self.next_byte = 0;
    }

    fn push(&mut self, value: ValueRef<'_>) {
        use std::io::Write as _;
        let written = match value {
            ValueRef::Null => {
                self.ends.push(None);
                return;
            }
            ValueRef::Integer(number) => write!(self.text, "{number}"),
            ValueRef::Real(number) => write!(self.text, "{number}"),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => self.text.write_all(bytes),
        };
        debug_assert!(written.is_ok(), "a Vec takes every byte");
        self.ends.push(Some(self.text.len()));
    }

    fn next(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        fields.clear();
        if self.fields == 0 || self.next_value >= self.ends.len() {
            return false;
        }
        for end in &self.ends[self.next_value..self.next_value + self.fields as usize] {
            fields.push(end.map(|end| self.text[self.next_byte..end].to_vec()));
            self.next_byte = end.unwrap_or(self.next_byte);
        }
        self.next_value += self.fields as usize;
        true
    }
}

fn text(sql: &[u8]) -> Result<&str, SqlFailure> {
    std::str::from_utf8(sql).map_err(|error| SqlFailure {
        message: format!("SQLite takes statements in UTF-8 only: {error}"),
        ..SqlFailure::default()
    })
}

/// A busy or locked database is treated like a deadlock: the event is run again.
fn failure(error: &rusqlite::Error) -> SqlFailure {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => SqlFailure {
            errno: code.extended_code as u32,
            state: String::new(),
            message: message.clone().unwrap_or_else(|| code.to_string()),
            ignorable: matches!(code.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked),
        },
        other => SqlFailure { message: other.to_string(), ..SqlFailure::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::job::Protocol;

    fn open(path: &std::path::Path) -> SqliteSession {
        SqliteSession::open(&Target::new(Protocol::Sqlite, vec![Address::File(path.to_owned())])).unwrap()
    }

    #[test]
    fn rows_come_back_as_text_and_null_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = open(&folder.path().join("t.db"));
        session.query(b"create table t (id integer primary key, a text, b real)").unwrap();
        let insert = session.prepare(b"insert into t values (?, ?, ?)", &[]).unwrap();
        let row = [Param::Int(7), Param::Text(b"seven"), Param::Null];
        assert_eq!(session.execute(insert, &row).unwrap().affected_rows, 1);
        let row = [Param::Int(8), Param::Null, Param::Float(0.5)];
        assert_eq!(session.execute(insert, &row).unwrap().affected_rows, 1);
        let outcome = session.query(b"select * from t order by id").unwrap();
        assert_eq!((outcome.rows, outcome.fields, outcome.affected_rows), (2, 3, 0));
        let mut fields = Vec::new();
        assert!(session.next_row(&mut fields));
        assert_eq!(fields, [Some(b"7".to_vec()), Some(b"seven".to_vec()), None]);
        assert!(session.next_row(&mut fields));
        assert_eq!(fields, [Some(b"8".to_vec()), None, Some(b"0.5".to_vec())]);
        assert!(!session.next_row(&mut fields));
        assert_eq!(session.field_names(), ["id", "a", "b"]);
    }

    #[test]
    fn a_locked_database_is_ignorable_and_a_wrong_statement_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let (mut one, mut two) = (open(&path), open(&path));
        two.connection.busy_timeout(Duration::ZERO).unwrap();
        one.query(b"create table t (id integer primary key)").unwrap();
        one.query(b"begin immediate").unwrap();
        assert!(two.query(b"begin immediate").unwrap_err().ignorable);
        let wrong = two.query(b"selec 1").unwrap_err();
        assert!(!wrong.ignorable);
        assert!(wrong.message.contains("selec"), "{}", wrong.message);
    }
}
