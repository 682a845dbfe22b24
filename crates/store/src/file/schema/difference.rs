//! Compares the schema of a file with the schema of the format. A foreign file may have views, triggers or
//! generated columns, which SQLite would execute in every reader.

use std::sync::OnceLock;

use rusqlite::Connection;

/// Largest number of characters of a name or a definition in a message. A hostile file may have very long names and
/// definitions.
const SHOWN_MAX: usize = 60;

/// Tables that SQLite makes itself for `ANALYZE`, with its own definitions. SQLite uses their data only to
/// plan queries (<https://www.sqlite.org/fileformat2.html#stat1tab>).
const STATISTICS: [(&str, &str); 2] = [
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];

/// The first difference between a file's schema and the schema of the format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaDifference {
    /// The file has an object that the format does not have.
    #[error("it has the {kind} `{name}`, which Dyno does not make")]
    Foreign { kind: String, name: String },
    #[error("its {kind} `{name}` is missing")]
    Missing { kind: String, name: String },
    /// The object's definition differs from the format's.
    #[error("its {kind} `{name}` is not as Dyno makes it: `{definition}` is missing or changed")]
    Changed {
        kind: String,
        name: String,
        /// The first line of the format's definition that differs from the line with the same number in the file's
        /// definition.
        definition: String,
    },
    /// The file has an object of another kind under the name of an expected object.
    #[error("its `{name}` is a {found}, not a {kind}")]
    OtherKind { kind: String, name: String, found: String },
}

impl SchemaDifference {
    /// What the user can do about the difference.
    pub fn remedy(&self) -> String {
        match self {
            Self::Foreign { kind, name } if is_plain(kind) && is_plain(name) => format!(
                "remove it with `DROP {} {name}` in sqlite3, and keep your own in a file that attaches this one",
                kind.to_uppercase()
            ),
            Self::Foreign { .. } => {
                "remove it with sqlite3, and keep your own in a file that attaches this one".to_owned()
            }
            Self::Missing { .. } | Self::Changed { .. } | Self::OtherKind { .. } => {
                "restore the file from a copy, or undo the change with sqlite3".to_owned()
            }
        }
    }
}

/// Whether SQL can use a name without quotes, and the message has the whole name.
fn is_plain(name: &str) -> bool {
    (1..SHOWN_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A table, index or view with its definition. The definition is `None` for an index that SQLite makes for a
/// constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    kind: String,
    name: String,
    table: String,
    definition: Option<String>,
}

/// Returns the first difference between the schema of a file and `schema`, the schema of the format.
pub(super) fn difference(
    connection: &Connection,
    schema: &str,
) -> rusqlite::Result<Option<SchemaDifference>> {
    static EXPECTED: OnceLock<Vec<Object>> = OnceLock::new();
    let expected = if let Some(expected) = EXPECTED.get() {
        expected
    } else {
        let objects = of_schema(schema)?;
        EXPECTED.get_or_init(|| objects)
    };
    let mut found = objects(connection)?;
    found.retain(|object| !is_statistics(object));
    let foreign = found.iter().find_map(|found| foreign(expected, found));
    Ok(foreign.or_else(|| expected.iter().find_map(|object| missing(&found, object))))
}

fn of_schema(schema: &str) -> rusqlite::Result<Vec<Object>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(schema)?;
    objects(&connection)
}

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let object = |row: &rusqlite::Row<'_>| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, definition: row.get(3)? })
    };
    statement.query_map([], object)?.collect()
}

fn is_statistics(object: &Object) -> bool {
    let Object { kind, name, table, definition } = object;
    let is_same = |&(known, sql): &(&str, &str)| name == known && definition.as_deref() == Some(sql);
    kind == "table" && table == name && STATISTICS.iter().any(is_same)
}

/// Returns the difference between an object of the file and the expected object with the same name; `None` if they
/// are equal.
fn foreign(expected: &[Object], found: &Object) -> Option<SchemaDifference> {
    let Some(object) = expected.iter().find(|object| object.name.eq_ignore_ascii_case(&found.name)) else {
        return Some(SchemaDifference::Foreign { kind: shown(&found.kind), name: shown(&found.name) });
    };
    let (kind, name) = (object.kind.clone(), object.name.clone());
    if object.kind != found.kind {
        return Some(SchemaDifference::OtherKind { kind, name, found: shown(&found.kind) });
    }
    (object != found).then(|| SchemaDifference::Changed {
        kind,
        name,
        definition: first_change(object, found),
    })
}

fn missing(found: &[Object], object: &Object) -> Option<SchemaDifference> {
    let is_there = found.iter().any(|found| found == object);
    let (kind, name) = (object.kind.clone(), object.name.clone());
    (!is_there).then_some(SchemaDifference::Missing { kind, name })
}

/// Returns the first line of the expected definition that differs from the line with the same number in the file's
/// definition.
fn first_change(object: &Object, found: &Object) -> String {
    let lines = |object: &Object| -> Vec<String> {
        object.definition.iter().flat_map(|text| text.lines()).map(str::to_owned).collect()
    };
    let (lines, found) = (lines(object), lines(found));
    let at = lines.iter().zip(&found).position(|(line, found)| line != found);
    let line = lines.get(at.unwrap_or(found.len())).or(lines.last());
    // The line is shown without its comment and with one space between words.
    let line = line.map_or("", |line| line.split("--").next().unwrap_or_default());
    shown(line.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(','))
}

/// The beginning of a text from the file, with control characters escaped.
fn shown(text: &str) -> String {
    text.escape_debug().take(SHOWN_MAX).collect()
}
