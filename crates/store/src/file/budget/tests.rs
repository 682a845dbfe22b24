use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::file::open::Store;
use crate::maintenance::Fault;
use crate::record::TrialId;
use crate::run::RunChoice;
use crate::sample::{File, trial};

/// First byte of a page that is an inner node of a table's B-tree
/// (<https://www.sqlite.org/fileformat2.html#b_tree_pages>).
const INNER: u8 = 5;

/// A file in which the table `sample` is so large that its root is an inner node.
fn large_file() -> File {
    let mut file = File::new();
    for round in 0..40 {
        let mut record = trial("old", round, 1000);
        let sample = record.samples[0].clone();
        record.samples = (0..100).map(|number| crate::SampleRecord { number, ..sample.clone() }).collect();
        file.store.commit_trial(file.run, &record).unwrap();
    }
    file.store.finish_run(file.run, crate::Ending::Finished, 0).unwrap();
    file
}

/// Adds three levels of inner nodes to the table `sample`. All children of a new node are one and the same node, so
/// the table repeats its last rows `children³` times.
fn make_endless(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, usize>(0)).unwrap();
    let root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'sample'");
    let page_bytes = number("PRAGMA page_size");
    drop(connection);
    let mut bytes = fs::read(path).unwrap();
    let old_root = bytes[(root - 1) * page_bytes..root * page_bytes].to_vec();
    assert_eq!(old_root[0], INNER);
    let mut child = u32::from_be_bytes(old_root[8..12].try_into().unwrap());
    let pages = (bytes.len() / page_bytes) as u32;
    for level in 1..=3 {
        let mut page = old_root.clone();
        page[8..12].copy_from_slice(&child.to_be_bytes());
        let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
        for cell in 0..cells {
            let at = usize::from(u16::from_be_bytes([page[12 + 2 * cell], page[13 + 2 * cell]]));
            page[at..at + 4].copy_from_slice(&child.to_be_bytes());
        }
        child = pages + level;
        bytes.extend_from_slice(&page);
    }
    let top = bytes[bytes.len() - page_bytes..].to_vec();
    bytes[(root - 1) * page_bytes..root * page_bytes].copy_from_slice(&top);
    bytes[28..32].copy_from_slice(&(pages + 3).to_be_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_table_without_end_is_damage_for_every_reader_and_fills_no_other_file() {
    let File { folder, path, store, .. } = large_file();
    drop(store);
    make_endless(&path);
    let store = Store::open_read_only(&path).unwrap();
    let run = store.load_run(RunChoice::Latest).unwrap();
    let is_refused = |error: StoreError| assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    is_refused(store.run_bytes(run.id).unwrap_err());
    is_refused(store.rows("SELECT * FROM sample", [], |_| Ok(())).unwrap_err());
    is_refused(store.rows("SELECT number FROM sample WHERE seconds < 0", [], |_| Ok(())).unwrap_err());
    assert!(!store.check_contents().unwrap().is_empty());
    let other = folder.path().join("other.db");
    let mut target = Store::open(&other).unwrap();
    is_refused(target.merge(&store).unwrap_err());
    assert_eq!(target.runs().unwrap(), []);
    drop(target);
    assert!(fs::metadata(&other).unwrap().len() < 3 * fs::metadata(&path).unwrap().len());
}

#[test]
fn a_sound_file_is_far_from_every_limit() {
    let file = large_file();
    let other = file.folder.path().join("other.db");
    Store::open(&other).unwrap().merge(&file.store).unwrap();
    let copy = Store::open_read_only(&other).unwrap();
    assert_eq!(copy.check_contents().unwrap(), Vec::<Fault>::new());
    assert_eq!(copy.samples(TrialId(1)).unwrap().len(), 100);
}
