use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Imported, Options, import};
use crate::error::TrafficError;
use crate::file::{Order, Summary, TrafficFile};

/// An entry of a slow log.
fn entry(session: u32, user: &str, second: u32, text: &str) -> String {
    format!(
        "# User@Host: {user}[{user}] @ h []  Id: {session}\n# Query_time: 0.000001  Rows_sent: 1\n\
         SET timestamp={second};\n{text};\n"
    )
}

/// Writes logs into a folder and imports them.
fn imported(folder: &Path, logs: &[(&str, &[u8])]) -> Result<(Imported, Summary), TrafficError> {
    let path = |(name, content): &(&str, &[u8])| {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let logs: Vec<PathBuf> = logs.iter().map(path).collect();
    let out = folder.join("a.traffic");
    let stop = AtomicBool::new(false);
    let options =
        Options { out: &out, overwrite: true, format: None, redact: false, keep_users: false, stop: &stop };
    let imported = import(&logs, &options, &mut |_| ())?;
    let summary = TrafficFile::open(&out)?.summary(Order::Time, 100, 10)?;
    Ok((imported, summary))
}

fn kinds(summary: &Summary) -> Vec<(&str, i64, &[i64])> {
    summary.troubles.iter().map(|row| (row.kind.as_str(), row.entries, row.lines.as_slice())).collect()
}

#[test]
fn packed_logs_are_unpacked_and_what_is_cut_is_told() {
    let folder = TempDir::new().unwrap();
    let log: String = (0..2000).map(|number| entry(1, "a", 1_795_785_741 + number, "SELECT 1")).collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(log.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut xz = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    xz.write_all(log.as_bytes()).unwrap();
    let xz = xz.finish().unwrap();
    let mut zstd = vec![0; log.len()];
    let bytes = zstd_safe::compress(&mut zstd[..], log.as_bytes(), 1).unwrap();
    zstd.truncate(bytes);
    for (name, packed) in [("gzip", &gzip), ("xz", &xz), ("zstd", &zstd)] {
        let (whole, summary) = imported(folder.path(), &[(name, packed)]).unwrap();
        assert_eq!((whole.statements, whole.lost), (2000, 0), "{name}");
        assert_eq!(summary.sources[0].compression, name);
        let (cut, summary) = imported(folder.path(), &[(name, &packed[..packed.len() - 9])]).unwrap();
        assert!(cut.statements <= 2000 && cut.lost > 0, "{name}: {cut:?}");
        assert!(
            kinds(&summary).iter().any(|(kind, ..)| *kind == "damaged"),
            "{name}: {:?}",
            summary.troubles
        );
    }
    let refused = imported(folder.path(), &[("bzip2", b"BZh9")]).unwrap_err();
    assert!(matches!(refused, TrafficError::Packed { with: "bzip2", .. }));
}

#[test]
fn sessions_and_the_clock_are_followed_over_several_logs() {
    let folder = TempDir::new().unwrap();
    let head = "/usr/sbin/mysqld, Version: 5.6.24 (x). started with:\n";
    let first =
        head.to_owned() + &entry(1, "a", 1_795_785_741, "BEGIN") + &entry(2, "b", 1_795_785_742, "SELECT 1");
    let second = head.to_owned()
        + &entry(1, "a", 1_795_785_743, "COMMIT")
        + &entry(2, "c", 1_795_785_700, "SELECT 2")
        + head
        + &entry(1, "a", 1_795_785_744, "SELECT 3");
    let other = "/usr/sbin/mysqld, Version: 8.0.33 (x). started with:\n".to_owned()
        + &entry(1, "a", 1_795_785_745, "SELECT 4");
    let logs: [(&str, &[u8]); 3] =
        [("1", first.as_bytes()), ("2", second.as_bytes()), ("3", other.as_bytes())];
    let (imported, summary) = imported(folder.path(), &logs).unwrap();
    assert_eq!((imported.statements, imported.sessions, imported.lost), (6, 5, 0));
    let expected: [(&str, i64, &[i64]); 4] = [
        ("clock_back", 1, &[6]),
        ("other_user", 1, &[6]),
        ("restarted", 1, &[10]),
        ("other_server", 1, &[1]),
    ];
    assert_eq!(kinds(&summary), expected);
    let file = Connection::open(folder.path().join("a.traffic")).unwrap();
    let transactions: Vec<(i64, i64)> = file
        .prepare("SELECT session_id, transaction_id FROM statement WHERE transaction_id > 0 ORDER BY id")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(transactions, [(1, 1), (1, 1)]);
}

#[test]
fn sums_are_those_of_the_statements() {
    let folder = TempDir::new().unwrap();
    let log = entry(1, "a", 1_795_785_741, "SELECT 1")
        + &entry(1, "a", 1_795_785_741, "select  2")
        + &entry(1, "a", 1_795_785_761, "INSERT INTO t VALUES (1)");
    let (_, summary) = imported(folder.path(), &[("a", log.as_bytes())]).unwrap();
    let digests: Vec<_> =
        summary.digests.iter().map(|row| (row.text.as_str(), row.statements, row.latency_us)).collect();
    assert_eq!(digests, [("SELECT ?", 2, 2), ("INSERT INTO t VALUES (?+)", 1, 1)]);
    let rates: i64 = summary.rates.iter().map(|rate| rate.statements).sum();
    assert_eq!((rates, summary.seconds, summary.gaps.len()), (3, 21, 1));
    assert_eq!(summary.gaps[0].seconds, 19);
}

#[test]
fn durations_that_come_after_their_statements_were_written_are_kept() {
    const SESSIONS: i64 = 300;
    const VALUE_BYTES: usize = 120_000;
    let record = |session: i64, message: &str| {
        format!(
            "2026-11-27 13:22:21.000 UTC,\"a\",\"shop\",7,\"[local]\",6a.{session},1,\"SELECT\",2026-11-27 00:00:00 UTC,3/1,0,\
             LOG,00000,\"{message}\",,,,,,,,,\"\",\"client backend\",,0\n"
        )
    };
    let text = format!("statement: SELECT '{}'", "x".repeat(VALUE_BYTES));
    // All statements together take more memory than the recorder keeps before it writes them to the file.
    let statements: String = (0..SESSIONS).map(|session| record(session, &text)).collect();
    let durations: String = (0..SESSIONS).map(|session| record(session, "duration: 0.150 ms")).collect();
    let folder = TempDir::new().unwrap();
    let (imported, _) = imported(folder.path(), &[("a.csv", (statements + &durations).as_bytes())]).unwrap();
    assert_eq!(imported.statements, SESSIONS as u64);
    let file = Connection::open(folder.path().join("a.traffic")).unwrap();
    let sums = "SELECT count(*), sum(latency_us), min(length(literals)), (SELECT sum(last_us) FROM session) FROM statement";
    let sums: [i64; 4] =
        file.query_row(sums, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])).unwrap();
    assert_eq!(sums, [SESSIONS, 150 * SESSIONS, VALUE_BYTES as i64 + 4, 150 * SESSIONS]);
}
