//! Writes large amounts of data.

use std::time::Duration;

use crate::file::open::{BUSY_TIMEOUT, Store};

impl Store {
    /// Calls `work`, which adds much data to the file. With the usual write-ahead log, all data would be written
    /// twice: to the log and then to the file. So a rollback journal is used instead, with which new pages are
    /// written once. Transactions are equally safe with both kinds of journal. If another program has the file open,
    /// the log stays in use.
    pub fn in_bulk<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        // The journal mode can be changed only while no other program has the file open, so waiting is useless.
        let _ = self.connection().busy_timeout(Duration::ZERO);
        let _ = self.set_journal("DELETE");
        let _ = self.connection().busy_timeout(BUSY_TIMEOUT);
        let outcome = work(self);
        // If this fails, the next `Store::open` restores the log.
        let _ = self.set_journal("WAL");
        outcome
    }

    /// Changes the journal mode. While another program has the file open, SQLite does not change the mode.
    pub(crate) fn set_journal(&self, mode: &str) -> rusqlite::Result<()> {
        self.connection().pragma_update(None, "journal_mode", mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::File;

    fn journal(store: &Store) -> String {
        store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap()
    }

    #[test]
    fn the_log_is_back_after_bulk_work() {
        let mut file = File::new();
        assert_eq!(file.store.in_bulk(|store| journal(store)), "delete");
        assert_eq!(journal(&file.store), "wal");
    }

    #[test]
    fn a_file_that_others_read_keeps_its_log() {
        let mut file = File::new();
        let reader = Store::open_read_only(&file.path).unwrap();
        let _snapshot = reader.snapshot().unwrap();
        assert!(!reader.runs().unwrap().is_empty());
        assert_eq!(file.store.in_bulk(|store| journal(store)), "wal");
        assert_eq!(journal(&file.store), "wal");
    }

    #[test]
    fn a_file_without_its_log_gets_it_back_when_it_is_opened() {
        let file = File::new();
        file.store.set_journal("DELETE").unwrap();
        let path = file.path.clone();
        assert_eq!(journal(&file.store), "delete");
        assert_eq!(journal(&Store::open(&path).unwrap()), "wal");
    }
}
