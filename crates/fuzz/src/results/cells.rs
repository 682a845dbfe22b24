//! Changes cells of a results file without regard to the columns' constraints, because a foreign file may have any
//! value in any cell.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _};

use super::extremes::{Extreme, LARGE, SMALL};
use crate::corpus;
use crate::mutate::Random;

/// Length in bytes of a change that puts an extreme value into a cell. The change consists of the column (two bytes),
/// and of the row, the value's kind, the value's length and the value's number (one byte each).
const HEAD: usize = 6;
/// The row number that means all rows.
const ALL_ROWS: u8 = u8::MAX;
/// A change has a kind, which says where the new value comes from. Kinds below this number take the value from the
/// input itself. The kinds from this number on select an extreme value by its number.
const LITERAL_KINDS: u8 = 6;
const EXTREME: u8 = 6;
/// Kind of a change that puts an extreme value of the column's declared type into the column.
const EXTREME_OF_TYPE: u8 = 7;
/// Kind of a change that renames a text: every cell that contains the text gets the same new text, so that references
/// by name stay valid.
const RENAMED: u8 = 8;
/// One in this many changes is a renaming.
const RENAMED_ONE_OF: u64 = 8;

/// A case has at most 2^n changes, where n is a random number below this one. Thus half of the cases have few changes,
/// and most files with few changes are read to the end.
const CELLS_LOG2: u64 = 9;

/// A complete results file whose tables accept any value, with its tables and columns.
pub(crate) struct Cells {
    /// The bytes of the file. Its schema is loosened, so that columns accept any value.
    pub(super) file: Vec<u8>,
    /// For each table, its name, and its SQL with the constraints that results files have.
    tables: Vec<(String, String)>,
    /// Every column: the index of its table, its name and its declared type.
    columns: Vec<(usize, String, String)>,
}

impl Cells {
    /// Returns the cells of the sample run's file.
    pub(crate) fn of_sample() -> &'static Self {
        static CELLS: OnceLock<Cells> = OnceLock::new();
        CELLS.get_or_init(|| Self::of(&corpus::results_file()).expect("the sample is a results file"))
    }

    fn of(whole: &[u8]) -> rusqlite::Result<Self> {
        let folder = tempfile::tempdir().expect("a folder for a results file");
        let path = folder.path().join("dyno.db");
        std::fs::write(&path, whole).expect("a results file");
        let connection = Connection::open(&path)?;
        let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let tables: Vec<(String, String)> = connection
            .prepare(sql)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let mut columns = Vec::new();
        for (at, (table, _)) in tables.iter().enumerate() {
            let mut statement =
                connection.prepare(&format!("SELECT name, type FROM pragma_table_info('{table}')"))?;
            for column in statement.query_map([], |row| Ok((at, row.get(0)?, row.get(1)?)))? {
                columns.push(column?);
            }
        }
        connection.pragma_update(None, "journal_mode", "DELETE")?;
        rewrite_schema(&connection, tables.iter().map(|(name, sql)| (name.as_str(), loosened(sql))))?;
        drop(connection);
        Ok(Self { file: std::fs::read(&path).expect("the file is there"), tables, columns })
    }

    /// Number of columns of all tables.
    pub(crate) fn columns(&self) -> u64 {
        self.columns.len() as u64
    }

    /// Makes a change that puts the extreme value with the number `extreme` into the first row of a column, or into
    /// all its rows.
    pub(crate) fn one(&self, column: u64, extreme: u64, in_all_rows: bool) -> [u8; HEAD] {
        let [low, high, ..] = (column % self.columns()).to_le_bytes();
        let extreme = (extreme % LARGE.count() as u64) as u8;
        [low, high, if in_all_rows { ALL_ROWS } else { 0 }, EXTREME, 1, extreme]
    }

    /// Makes the case with this number. The first cases put each extreme value into each column, once into the first
    /// row and once into all rows. Each later case changes one or more cells, each to a value of its column's type.
    fn case(&self, number: u64, random: &mut Random) -> Vec<u8> {
        let mut case = vec![super::CELLS];
        let extremes = LARGE.count() as u64;
        let (cell, in_all_rows) = (number / 2, number % 2 == 1);
        if cell < self.columns() * extremes {
            case.extend(self.one(cell / extremes, cell % extremes, in_all_rows));
            return case;
        }
        let cells_max = 1 << random.below(CELLS_LOG2);
        for _ in 0..=random.below(cells_max) {
            let [low, high, ..] = random.below(self.columns()).to_le_bytes();
            let row = random.below(256) as u8;
            let kind = if random.below(RENAMED_ONE_OF) == 0 { RENAMED } else { EXTREME_OF_TYPE };
            case.extend([low, high, row, kind, 1, random.below(extremes) as u8]);
        }
        case
    }

    /// Changes cells of the file at `path`, which has the bytes of [`Self::file`]. Then restores the schema with
    /// its constraints.
    pub(super) fn change(&self, path: &Path, mut changes: &[u8]) -> rusqlite::Result<()> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON;
             PRAGMA foreign_keys = OFF; BEGIN",
        )?;
        while let [low, high, row, kind, length, rest @ ..] = changes {
            let (value, after) = rest.split_at(usize::from(*length).min(rest.len()));
            let column = usize::from(u16::from_le_bytes([*low, *high])) % self.columns.len();
            // SQLite rejects a change that violates a key. The error is ignored, because a file with such cells cannot
            // exist.
            let _ = self.set(&connection, column, *row, *kind, value);
            changes = after;
        }
        connection.execute_batch("COMMIT")?;
        rewrite_schema(&connection, self.tables.iter().map(|(name, sql)| (name.as_str(), sql.clone())))
    }

    fn set(
        &self,
        connection: &Connection,
        column: usize,
        row: u8,
        kind: u8,
        bytes: &[u8],
    ) -> rusqlite::Result<()> {
        let (table, column, declared) = &self.columns[column];
        let table = &self.tables[*table].0;
        let present = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL");
        let present: Option<Value> = connection.query_row(&present, [], |row| row.get(0)).optional()?;
        let present = present.unwrap_or(Value::Null);
        let number = usize::from(bytes.first().copied().unwrap_or_default());
        let kind = kind % (LITERAL_KINDS + 3);
        let extreme = match kind {
            EXTREME if row == ALL_ROWS => SMALL.value(number, &present, None),
            EXTREME => LARGE.value(number, &present, None),
            EXTREME_OF_TYPE | RENAMED => SMALL.value(number, &present, Some(declared.as_str())),
            kind => Extreme::Value(literal(kind, bytes)),
        };
        let (place, value) = match extreme {
            Extreme::Value(value) => ("?1", value),
            Extreme::Text(bytes) => ("CAST(?1 AS TEXT)", Value::Blob(bytes)),
        };
        if kind == RENAMED && matches!(present, Value::Text(_)) {
            return self.rename(connection, &present, place, &value);
        }
        let all = format!("UPDATE OR IGNORE {table} SET {column} = {place}");
        if row == ALL_ROWS {
            return connection.execute(&all, [&value]).map(drop);
        }
        let one = format!(
            "{all} WHERE rowid IN
             (SELECT rowid FROM {table} LIMIT 1 OFFSET ?2 % (SELECT max(1, count(*)) FROM {table}))"
        );
        // In a table without a rowid, a single row cannot be selected, so all rows are changed.
        connection.execute(&one, (&value, row)).or_else(|_| connection.execute(&all, [&value])).map(drop)
    }

    /// Replaces the text `present` by `value` in all cells of text columns.
    fn rename(
        &self,
        connection: &Connection,
        present: &Value,
        place: &str,
        value: &Value,
    ) -> rusqlite::Result<()> {
        for (table, column, _) in self.columns.iter().filter(|column| column.2 == "TEXT") {
            let table = &self.tables[*table].0;
            let sql = format!("UPDATE OR IGNORE {table} SET {column} = {place} WHERE {column} = ?2");
            connection.execute(&sql, (value, present))?;
        }
        Ok(())
    }
}

/// Makes the case with this number.
pub(crate) fn cells_case(number: u64, random: &mut Random) -> Vec<u8> {
    Cells::of_sample().case(number, random)
}

/// Returns the number of cells that a case changes.
pub fn cells_of(case: &[u8]) -> usize {
    case.len() / HEAD
}

/// Makes a value from the bytes in the input.
fn literal(kind: u8, bytes: &[u8]) -> Value {
    let mut eight = [0; 8];
    let length = bytes.len().min(8);
    eight[..length].copy_from_slice(&bytes[..length]);
    match kind {
        0 => Value::Null,
        1 => Value::Integer(i64::from_le_bytes(eight)),
        2 => Value::Real(f64::from_le_bytes(eight)),
        3 => Value::Blob(bytes.to_vec()),
        4 => Value::Integer(i64::from(eight[0]) - 3),
        _ => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Returns a table's SQL without types and `NOT NULL`, so that SQLite stores each value unchanged. The layout of
/// rows stays the same.
fn loosened(sql: &str) -> String {
    sql.replace(" STRICT, WITHOUT", " WITHOUT")
        .replace(") STRICT", ")")
        .replace("INTEGER PRIMARY KEY", "ROWID PRIMARY KEY")
        .replace(" INTEGER", " BLOB")
        .replace(" REAL", " BLOB")
        .replace(" TEXT", " BLOB")
        .replace("BLOB NOT NULL", "BLOB")
        .replace("ROWID PRIMARY KEY", "INTEGER PRIMARY KEY")
}

/// Replaces the SQL of tables in the schema. SQLite reads the new SQL when the file is opened again.
fn rewrite_schema<'a>(
    connection: &Connection,
    tables: impl Iterator<Item = (&'a str, String)>,
) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    connection.pragma_update(None, "writable_schema", "ON")?;
    let mut update =
        connection.prepare("UPDATE sqlite_schema SET sql = ?2 WHERE type = 'table' AND name = ?1")?;
    for (name, sql) in tables {
        update.execute((name, sql))?;
    }
    connection.pragma_update(None, "writable_schema", "OFF")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_takes_any_value_and_the_file_is_a_results_file_still() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dyno.db");
        let cells = Cells::of_sample();
        let at = |name: &str| cells.columns.iter().position(|column| column.1 == name).unwrap() as u16;
        let [low, high] = at("plan_name").to_le_bytes();
        std::fs::write(&path, &cells.file).unwrap();
        cells.change(&path, &[low, high, 0, 3, 2, 0xff, 0xfe]).unwrap();
        let connection = Connection::open(&path).unwrap();
        let kind: String =
            connection.query_row("SELECT typeof(plan_name) FROM run", [], |row| row.get(0)).unwrap();
        assert_eq!(kind, "blob");
        drop(connection);
        let store = dyno_store::Store::open_read_only(&path).unwrap();
        assert!(store.runs().is_err());
    }

    #[test]
    fn a_new_name_is_the_same_wherever_the_old_one_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dyno.db");
        let cells = Cells::of_sample();
        let is_id = |(table, column, _): &(usize, String, String)| {
            cells.tables[*table].0 == "system" && column == "id"
        };
        let [low, high] = (cells.columns.iter().position(is_id).unwrap() as u16).to_le_bytes();
        std::fs::write(&path, &cells.file).unwrap();
        let long = (0..=u8::MAX).find(|number| {
            let extreme = SMALL.value((*number).into(), &Value::Text("old".to_owned()), Some("TEXT"));
            matches!(extreme, Extreme::Text(bytes) if bytes.len() > 1 << 16)
        });
        cells.change(&path, &[low, high, 0, RENAMED, 1, long.unwrap()]).unwrap();
        let connection = Connection::open(&path).unwrap();
        let lost = "SELECT count(*) FROM trial WHERE system_id NOT IN (SELECT id FROM system)";
        assert_eq!(connection.query_row(lost, [], |row| row.get::<_, u64>(0)).unwrap(), 0);
        let renamed = "SELECT count(*) FROM trial WHERE octet_length(system_id) > 65536";
        assert_ne!(connection.query_row(renamed, [], |row| row.get::<_, u64>(0)).unwrap(), 0);
    }
}
