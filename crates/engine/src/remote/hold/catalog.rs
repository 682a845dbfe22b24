//! The queries and statements that examine, lock and drop a database. They differ between families.

use std::collections::BTreeMap;

use dyno_client::{Client, ClientError};
use sha2::{Digest as _, Sha256};

use super::relation::{Identity, Kind, Relation};
use crate::catalogue::entry::Family;
use crate::machine::hexadecimal::hexadecimal;

/// The queries and statements of a family.
pub(super) trait Catalog: Sync {
    /// Statements that a new connection executes. A server may refuse one of them, because it lacks the variable that
    /// the statement sets. This is no error.
    fn session(&self) -> &'static [&'static str];
    /// The query that takes the lock of the connection's database without waiting, and returns whether it
    /// succeeded. The server releases the lock when the connection ends.
    fn lock(&self) -> &'static str;
    /// The query for the names of the databases that Dyno may have made.
    fn own_databases(&self) -> &'static str;
    /// All relations of the connection's database.
    fn relations(&self, client: &mut Client) -> Result<Vec<Relation>, ClientError>;
    fn quote(&self, name: &str) -> String;
    /// SQL that follows the columns in the `CREATE TABLE` of Dyno's table `dyno_mark`.
    fn mark_options(&self) -> &'static str;
    /// The schema that precedes a relation's name in SQL. `None` if the name stands alone.
    fn schema<'a>(&self, relation: &'a Relation) -> Option<&'a str>;
}

/// The catalog of a family with servers.
pub(super) fn catalog(family: Family) -> &'static dyn Catalog {
    match family {
        Family::Postgres => &Postgres,
        Family::Mysql | Family::Mariadb | Family::Sqlite => &Mysql,
    }
}

struct Mysql;
struct Postgres;

/// Returns the text in a column of a row. NULL becomes an empty text.
fn text(row: &[Option<String>], column: usize) -> &str {
    row.get(column).and_then(Option::as_deref).unwrap_or_default()
}

impl Catalog for Mysql {
    fn session(&self) -> &'static [&'static str] {
        // With a fixed time zone, daylight saving time does not change the reported creation time of a table.
        &[
            "SET SESSION time_zone = '+00:00'",
            "SET SESSION autocommit = 1",
            "SET SESSION lock_wait_timeout = 60",
        ]
    }

    fn lock(&self) -> &'static str {
        // A lock's name has at most 64 characters, so the database's name is hashed. MySQL 9.7 has no MD5().
        "SELECT GET_LOCK(CONCAT('dyno.', LEFT(SHA2(DATABASE(), 256), 40)), 0)"
    }

    fn own_databases(&self) -> &'static str {
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'dyno\\_%'"
    }

    fn relations(&self, client: &mut Client) -> Result<Vec<Relation>, ClientError> {
        let mut of_columns = digests(
            client,
            "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION",
        )?;
        let tables = client.query(
            "SELECT TABLE_NAME, TABLE_TYPE, UNIX_TIMESTAMP(CREATE_TIME), ENGINE FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME",
        )?;
        let mut of_views = if tables.rows.iter().any(|row| text(row, 1).contains("VIEW")) {
            digests(
                client,
                "SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS \
                 WHERE TABLE_SCHEMA = DATABASE() AND VIEW_DEFINITION <> ''",
            )?
        } else {
            BTreeMap::new()
        };
        let relation = |row: &Vec<Option<String>>| {
            let (name, created) = (text(row, 0).to_owned(), text(row, 2));
            let columns = of_columns.remove(&name).unwrap_or_default();
            let (kind, identity) = match text(row, 1) {
                // A view contains no rows. So its text is its identity: a view that is made again with the same text is
                // the same view.
                kind if kind.contains("VIEW") => {
                    (Kind::View, of_views.remove(&name).map(|text| format!("{columns} {text}")))
                }
                kind => {
                    let kind = if kind == "SEQUENCE" { Kind::Sequence } else { Kind::Table };
                    let known =
                        (!created.is_empty()).then(|| format!("{created} {} {columns}", text(row, 3)));
                    (kind, known)
                }
            };
            let identity = identity.map_or(Identity::Passing(columns), Identity::Lasting);
            Relation { kind, schema: None, name, identity }
        };
        Ok(tables.rows.iter().map(relation).collect())
    }

    fn quote(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn mark_options(&self) -> &'static str {
        " DEFAULT CHARACTER SET utf8 COMMENT 'What Dyno made in this database and may drop'"
    }

    fn schema<'a>(&self, _relation: &'a Relation) -> Option<&'a str> {
        None
    }
}

/// Groups rows by their first column, the table. Returns a short digest of the other columns of each table's rows.
fn digests(client: &mut Client, sql: &str) -> Result<BTreeMap<String, String>, ClientError> {
    let mut hashes: BTreeMap<String, Sha256> = BTreeMap::new();
    for row in client.query(sql)?.rows {
        let hash = hashes.entry(text(&row, 0).to_owned()).or_default();
        for column in 1..row.len() {
            let word = text(&row, column);
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word);
        }
    }
    let short = |hash: Sha256| hexadecimal(&hash.finalize()[..8]);
    Ok(hashes.into_iter().map(|(name, hash)| (name, short(hash))).collect())
}

/// The SQL condition for a schema that belongs to the server itself.
const SYSTEM_SCHEMA: &str = "(n.nspname ~ '^pg_' OR n.nspname = 'information_schema')";

impl Catalog for Postgres {
    fn session(&self) -> &'static [&'static str] {
        &["SET lock_timeout = '60s'"]
    }

    fn lock(&self) -> &'static str {
        // A constant number, so that all runs of Dyno use the same lock.
        "SELECT pg_catalog.pg_try_advisory_lock(1685680751, 0)"
    }

    fn own_databases(&self) -> &'static str {
        "SELECT datname FROM pg_catalog.pg_database WHERE datname LIKE 'dyno\\_%'"
    }

    /// Leaves out what extensions have made, and sequences that belong to a column. A relation is identified by its
    /// oid.
    fn relations(&self, client: &mut Client) -> Result<Vec<Relation>, ClientError> {
        let sql = format!(
            "SELECT c.oid::text, c.relkind::text, n.nspname, c.relname FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT {SYSTEM_SCHEMA} \
             AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d \
             WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid \
             AND (d.deptype = 'e' OR c.relkind = 'S' AND d.deptype IN ('a', 'i'))) \
             UNION ALL SELECT n.oid::text, 'n', 'public', n.nspname FROM pg_catalog.pg_namespace n \
             WHERE NOT {SYSTEM_SCHEMA} AND n.nspname <> 'public' \
             AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d \
             WHERE d.classid = 'pg_catalog.pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e') \
             ORDER BY 3, 4"
        );
        let relation = |row: &Vec<Option<String>>| {
            let kind = match text(row, 1) {
                "v" => Kind::View,
                "m" => Kind::MaterializedView,
                "f" => Kind::ForeignTable,
                "S" => Kind::Sequence,
                "n" => Kind::Schema,
                _ => Kind::Table,
            };
            Relation {
                kind,
                schema: Some(text(row, 2).to_owned()).filter(|schema| schema != "public"),
                name: text(row, 3).to_owned(),
                identity: Identity::Lasting(text(row, 0).to_owned()),
            }
        };
        Ok(client.query(&sql)?.rows.iter().map(relation).collect())
    }

    fn quote(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn mark_options(&self) -> &'static str {
        ""
    }

    fn schema<'a>(&self, relation: &'a Relation) -> Option<&'a str> {
        (relation.kind != Kind::Schema).then(|| relation.schema.as_deref().unwrap_or("public"))
    }
}
