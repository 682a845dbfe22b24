//! Counters of SQLite, read from the files of a database. The layouts are in "Database File Format" (1.3 The Database
//! Header, 4 The Write-Ahead Log) and "WAL-mode File Format" (2.1 The WAL-Index Header).
//!
//! `sqlite3_status` and `sqlite3_db_status` (page cache hits, memory) count inside each process that uses the library.
//! So they are not available here.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::depth::Depth;
use super::error::CountersError;
use super::name::{CounterId, CounterKind};
use super::reader::Reader;
use super::tally::Tally;
use crate::machine::path_error::At as _;

const SOURCE: &str = "database_file";

/// The counters in order. Counts of pages and frames are named as in SQLite.
const NAMES: [(&str, CounterKind); 9] = [
    ("file_bytes", CounterKind::Gauge),
    ("wal_bytes", CounterKind::Gauge),
    ("page_size", CounterKind::Gauge),
    ("page_count", CounterKind::Gauge),
    ("freelist_count", CounterKind::Gauge),
    // The number of transactions that changed the file. In WAL mode, transactions do not change this counter, but
    // checkpoints do.
    ("file_change_counter", CounterKind::Counter),
    ("wal_checkpoint_sequence", CounterKind::Counter),
    // The number of frames in the WAL, and how many of these frames are also in the database file.
    ("wal_mx_frame", CounterKind::Gauge),
    ("wal_n_backfill", CounterKind::Gauge),
];

pub(super) struct SqliteReader {
    database: PathBuf,
    ids: Vec<CounterId>,
}

impl SqliteReader {
    pub(super) fn new(database: &Path) -> Self {
        Self { database: database.to_owned(), ids: Vec::new() }
    }

    /// Returns the path of the database file with a suffix appended, such as `-wal`.
    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.database.clone().into_os_string();
        name.push(suffix);
        name.into()
    }
}

impl Reader for SqliteReader {
    fn read(&mut self, _: Depth, tally: &mut Tally) -> Result<(), CountersError> {
        if self.ids.is_empty() {
            self.ids = NAMES.iter().map(|&(name, kind)| tally.add(SOURCE, name.to_owned(), kind)).collect();
        }
        let (wal, index) = (self.beside("-wal"), self.beside("-shm"));
        let mut put = |place: usize, value: f64| tally.put(self.ids[place], value);
        put(0, size(&self.database).at("look at", &self.database)? as f64);
        put(1, size(&wal).at("look at", &wal)? as f64);
        if let Some(header) = start_of::<100>(&self.database).at("read", &self.database)? {
            // A page size of 65536 does not fit into two bytes, so it is stored as 1.
            let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
                1 => 65536,
                bytes => u32::from(bytes),
            };
            put(2, f64::from(page_bytes));
            put(3, big_endian(&header, 28));
            put(4, big_endian(&header, 36));
            put(5, big_endian(&header, 24));
        }
        if let Some(header) = start_of::<32>(&wal).at("read", &wal)? {
            put(6, big_endian(&header, 12));
        }
        if let Some(header) = start_of::<100>(&index).at("read", &index)? {
            put(7, native(&header, 16));
            put(8, native(&header, 96));
        }
        Ok(())
    }

    fn missing(&self) -> &[(&'static str, String)] {
        &[]
    }
}

fn size(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        metadata => Ok(metadata?.len()),
    }
}

/// The first bytes of a file. `None` if the file is missing or too short.
fn start_of<const BYTES: usize>(path: &Path) -> io::Result<Option<[u8; BYTES]>> {
    let mut bytes = [0; BYTES];
    match File::open(path).and_then(|file| file.read_exact_at(&mut bytes, 0)) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => Ok(None),
        outcome => outcome.map(|()| Some(bytes)),
    }
}

fn big_endian(bytes: &[u8], at: usize) -> f64 {
    f64::from(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

/// Reads a number of the WAL index. The index is shared memory in the machine's own byte order.
fn native(bytes: &[u8], at: usize) -> f64 {
    f64::from(u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::Counters;
    use super::*;

    fn read(counters: &mut Counters) -> Vec<(String, i64)> {
        let reading = counters.read(Depth::Light).unwrap();
        reading
            .values()
            .map(|(id, value)| (counters.names()[id.index()].name.clone(), value as i64))
            .collect()
    }

    fn of(reading: &[(String, i64)], name: &str) -> i64 {
        reading.iter().find(|(known, _)| known == name).unwrap().1
    }

    #[test]
    fn a_wal_shows_what_is_not_yet_in_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (v); INSERT INTO t VALUES (1);")
            .unwrap();
        let mut counters = Counters::of_sqlite(&path);

        let before = read(&mut counters);
        let asked = |name: &str| -> i64 {
            connection.query_row(&format!("PRAGMA {name}"), (), |row| row.get(0)).unwrap()
        };
        assert_eq!(of(&before, "page_size"), asked("page_size"));
        assert!(of(&before, "wal_mx_frame") >= 1 && of(&before, "wal_n_backfill") == 0, "{before:?}");
        assert!(of(&before, "wal_bytes") > 0);

        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(())).unwrap();
        let after = read(&mut counters);
        assert_eq!(of(&after, "wal_n_backfill"), of(&after, "wal_mx_frame"));
        assert_eq!(of(&after, "page_count"), asked("page_count"));
        assert_eq!(of(&after, "file_bytes"), asked("page_count") * asked("page_size"));
        assert!(counters.missing().is_empty());
    }

    #[test]
    fn a_database_that_is_not_there_yet_has_no_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let reading = read(&mut Counters::of_sqlite(&folder.path().join("none")));
        assert_eq!(reading, [("file_bytes".to_owned(), 0), ("wal_bytes".to_owned(), 0)]);
    }

    #[test]
    fn a_database_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Counters::of_sqlite(folder.path()).read(Depth::Light).unwrap_err();
        assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
    }
}
