//! Statements of a session, encoded as JSON while they are collected.

use super::write::{NewStatement, int, optional};

/// A chunk is written before its JSON exceeds this size in bytes. Four chunks fill a page of the file, and a replay
/// reads one chunk at a time.
const CHUNK_BYTES: usize = 4000;
/// Largest size in bytes of a row without its values and its error. Such a row has eleven numbers.
const ROW_BYTES_MAX: usize = 11 * 21 + 32;

/// Consecutive statements of a session that are not in the file yet.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// A JSON array without its closing bracket.
    json: String,
    first_id: i64,
    statements: i64,
    /// The values at the end of the last statement's row. Later entries of a log may change them.
    tail: Option<Tail>,
    /// The row id of the chunk that was written last.
    pub(super) written_id: Option<i64>,
}

/// The values at the end of a row.
#[derive(Debug)]
struct Tail {
    /// Latency, and rows sent, examined and affected.
    numbers: [Option<i64>; 4],
    error: Option<String>,
}

/// The contents of a row of `chunk`.
pub(super) struct Content<'a> {
    pub(super) first_id: i64,
    pub(super) statements: i64,
    pub(super) json: &'a str,
}

impl Chunk {
    /// Whether the chunk must be written before a statement is added to it.
    pub(crate) fn is_full_with(&self, new: &NewStatement<'_>) -> bool {
        !self.json.is_empty() && self.json.len() + values_bytes(new) + ROW_BYTES_MAX > CHUNK_BYTES
    }

    /// Adds a statement.
    pub(crate) fn push(&mut self, new: &NewStatement<'_>) {
        self.end_row(true);
        if self.statements == 0 {
            self.first_id = new.id;
            self.json.push('[');
        } else {
            self.json.push(',');
        }
        self.statements += 1;
        let json = &mut self.json;
        json.push('[');
        number(new.id - self.first_id, json);
        for value in [Some(new.offset_us), Some(new.shape_id), Some(new.source_id), Some(int(new.line))] {
            next(value, json);
        }
        next(new.database_id, json);
        next(new.transaction_id, json);
        values(new.literals, json);
        values(new.bound, json);
        let numbers = [new.latency_us, new.rows_sent, new.rows_examined, new.rows_affected].map(optional);
        self.tail = Some(Tail { numbers, error: new.error.map(str::to_owned) });
    }

    /// Sets the latency of the last statement. Returns whether the statement is still in memory.
    pub(super) fn set_latency(&mut self, latency_us: u64) -> bool {
        self.tail.as_mut().is_some_and(|tail| {
            tail.numbers[0] = Some(int(latency_us));
            true
        })
    }

    /// Sets the error of the last statement. Returns whether the statement is still in memory.
    pub(super) fn set_error(&mut self, error: &str) -> bool {
        self.tail.as_mut().is_some_and(|tail| {
            tail.error = Some(error.to_owned());
            true
        })
    }

    /// Completes the last row. Unknown values at the end of a row are left out, unless later entries may still set
    /// them.
    fn end_row(&mut self, is_final: bool) {
        let Some(tail) = self.tail.take() else { return };
        let is_whole = tail.error.is_some() || !is_final;
        let known = tail.numbers.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
        for value in &tail.numbers[..if is_whole { tail.numbers.len() } else { known }] {
            next(*value, &mut self.json);
        }
        if is_whole {
            let error = serde_json::Value::from(tail.error);
            self.json.push(',');
            self.json += &error.to_string();
        }
        self.json.push(']');
    }

    /// Completes the JSON. `None` if there are no statements. `is_final` says that later entries will not change
    /// the last statement.
    pub(super) fn complete(&mut self, is_final: bool) -> Option<Content<'_>> {
        self.end_row(is_final);
        if self.statements == 0 {
            return None;
        }
        self.json.push(']');
        Some(Content { first_id: self.first_id, statements: self.statements, json: &self.json })
    }

    /// Forgets the statements. The memory of a chunk of usual size is kept for the next statements.
    pub(super) fn clear(&mut self) {
        self.statements = 0;
        self.json.clear();
        if self.json.capacity() > 2 * CHUNK_BYTES {
            self.release();
        }
    }

    /// Frees the memory of a chunk that was written.
    pub(crate) fn release(&mut self) {
        self.json = String::new();
    }

    /// Memory of the chunk, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.json.capacity()
    }
}

fn values_bytes(new: &NewStatement<'_>) -> usize {
    new.literals.map_or(0, str::len) + new.bound.map_or(0, str::len)
}

fn number(number: i64, json: &mut String) {
    json.push_str(itoa::Buffer::new().format(number));
}

/// Appends a number, or `null`, after a comma.
fn next(value: Option<i64>, json: &mut String) {
    match value {
        Some(value) => {
            json.push(',');
            number(value, json);
        }
        None => json.push_str(",null"),
    }
}

/// Appends a JSON array, or `null`, after a comma.
fn values(array: Option<&str>, json: &mut String) {
    match array {
        Some(array) => {
            json.push(',');
            json.push_str(array);
        }
        None => json.push_str(",null"),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::file::Writer;

    fn statement<'a>(id: i64, literals: Option<&'a str>, error: Option<&'a str>) -> NewStatement<'a> {
        NewStatement {
            id,
            offset_us: -5,
            shape_id: 3,
            literals,
            bound: None,
            database_id: Some(2),
            transaction_id: None,
            latency_us: None,
            rows_sent: Some(1),
            rows_examined: None,
            rows_affected: None,
            error,
            source_id: 1,
            line: 9,
        }
    }

    /// Rows of the view `statement`, as text.
    fn rows(connection: &Connection) -> Vec<String> {
        let sql = "SELECT id || '|' || session_id || '|' || offset_us || '|' || shape_id || '|' || ifnull(literals, '') \
                   || '|' || ifnull(bound, '') || '|' || ifnull(database_id, '') || '|' || ifnull(transaction_id, '') \
                   || '|' || ifnull(latency_us, '') || '|' || ifnull(rows_sent, '') || '|' || ifnull(rows_examined, '') \
                   || '|' || ifnull(rows_affected, '') || '|' || ifnull(error, '') || '|' || source_id || '|' || line \
                   FROM statement ORDER BY id";
        let mut select = connection.prepare(sql).unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_later_entry_changes_the_last_statement_in_memory_and_in_the_file() {
        let connection = Connection::open_in_memory().unwrap();
        let mut writer = Writer::new(&connection).unwrap();
        let mut chunk = Chunk::default();
        chunk.push(&statement(7, Some("[1]"), None));
        chunk.push(&statement(9, None, Some("a\"b")));
        writer.set_latency(&mut chunk, 150).unwrap();
        writer.add_chunk(4, &mut chunk, false).unwrap();
        assert_eq!(rows(&connection)[1], "9|4|-5|3|||2||150|1|||a\"b|1|9");
        writer.set_latency(&mut chunk, 151).unwrap();
        writer.set_error(&mut chunk, "1062").unwrap();
        chunk.push(&statement(10, None, None));
        writer.add_chunk(4, &mut chunk, false).unwrap();
        writer.set_latency(&mut chunk, 152).unwrap();
        writer.set_error(&mut chunk, "40001").unwrap();
        writer.add_chunk(4, &mut chunk, true).unwrap();
        let expected = [
            "7|4|-5|3|[1]||2|||1||||1|9",
            "9|4|-5|3|||2||151|1|||1062|1|9",
            "10|4|-5|3|||2||152|1|||40001|1|9",
        ];
        assert_eq!(rows(&connection), expected);
    }

    #[test]
    fn a_chunk_fills_a_quarter_of_a_page_unless_a_value_is_longer() {
        let mut chunk = Chunk::default();
        let long = format!("[\"{}\"]", "x".repeat(2 * CHUNK_BYTES));
        assert!(!chunk.is_full_with(&statement(1, Some(&long), None)));
        let mut id = 1;
        while !chunk.is_full_with(&statement(id, None, None)) {
            chunk.push(&statement(id, None, None));
            id += 1;
        }
        let Content { first_id, statements, json } = chunk.complete(true).unwrap();
        assert_eq!((first_id, statements), (1, id - 1));
        assert!(json.len() <= CHUNK_BYTES && json.len() > CHUNK_BYTES - 2 * ROW_BYTES_MAX, "{}", json.len());
    }
}
