//! `dyno traffic`: makes a traffic file from the logs of servers, and summarises it.

use std::fs;

use dyno_testing::dyno_test;

use crate::bench::Bench;

const SLOW: &str = "\
# Time: 2026-11-27T13:22:21.000500Z
# User@Host: app[app] @ localhost []  Id:    11
# Query_time: 0.000500  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 9
use shop;
SET timestamp=1795785741;
SELECT name FROM item WHERE id IN (7, 8);
# Time: 2026-11-27T13:23:21.000000Z
# User@Host: app[app] @ localhost []  Id:    11
# Query_time: 0.100000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1795785801;
UPDATE item SET note = 'private words' WHERE id = 7;
# Time: 2026-11-27T13:23:21.000000Z
# User@Host: app[app] @ localhost []  Id:    11
# Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1795785801;
# administrator command: Quit;
";

/// A folder with the log in it.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("slow.log", SLOW);
    bench
}

#[dyno_test]
fn a_log_is_imported_and_shown() {
    let bench = bench();
    let imported = bench.dyno(&["traffic", "import", "slow.log", "--out", "mine.traffic"]).with(0);
    assert_eq!(
        (imported.stdout.as_str(), imported.stderr.as_str()),
        ("mine.traffic: 2 statements of 1 session\n", "")
    );
    let shown = bench.dyno(&["traffic", "show", "mine.traffic"]).with(0).stdout;
    for words in [
        "mine.traffic: 2 statements in 1 min 0 s from 2026-11-27 13:22:21 UTC, MySQL or MariaDB",
        "1 session: 1 began before the log, 0 without an end; 1 user, 1 database, 0 transactions",
        "UPDATE item SET note = ? WHERE id = ?",
        "SELECT name FROM item WHERE id IN (?+)",
        "no statement for 58 s from 2026-11-27 13:22:22 UTC",
        "Everything could be read.",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(shown.lines().count() <= 40, "{shown}");
    let page = bench.dyno(&["traffic", "show", "mine.traffic", "--format", "html"]).with(0).stdout;
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("UPDATE item SET note = ? WHERE id = ?"),
        "{page}"
    );
    let json = bench.dyno(&["traffic", "show", "mine.traffic", "--format", "json"]).with(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["digests"][0]["latency_us"], 100_000);
    assert_eq!(json["skipped"][0]["command"], "Quit");
    let refused = bench.dyno(&["traffic", "import", "slow.log", "--out", "mine.traffic"]).with(1);
    let words =
        "error: mine.traffic: exists already; name another file with --out, or overwrite it with --force\n";
    assert_eq!(refused.stderr, words);
    bench.dyno(&["traffic", "import", "slow.log", "--out", "mine.traffic", "--force"]).with(0);
}

#[dyno_test]
fn values_are_kept_as_they_were_asked_for() {
    let bench = bench();
    for (option, has_values, has_users) in
        [(None, true, false), (Some("--redact"), false, false), (Some("--keep-users"), true, true)]
    {
        let arguments = ["traffic", "import", "slow.log", "--force", "--out", "mine.traffic"];
        bench.dyno(&[&arguments[..], option.as_slice()].concat()).with(0);
        let file = fs::read(bench.path("mine.traffic")).unwrap();
        let file = String::from_utf8_lossy(&file);
        assert_eq!(file.contains("private words"), has_values, "{option:?}");
        let user: String = rusqlite::Connection::open(bench.path("mine.traffic"))
            .unwrap()
            .query_row("SELECT user FROM session", [], |row| row.get(0))
            .unwrap();
        assert_eq!(user == "app", has_users, "{user}");
    }
}

#[dyno_test]
fn what_cannot_be_read_is_shown_with_its_lines() {
    let bench = bench();
    bench.write("cut.log", &format!("{SLOW}# User@Host: app[app] @ localhost []  Id:    11\n"));
    let imported = bench.dyno(&["traffic", "import", "cut.log", "--out", "cut.traffic"]).with(0);
    assert!(imported.stdout.contains("1 log entry (33.33%) could not be read"), "{}", imported.stdout);
    let shown = bench.dyno(&["traffic", "show", "cut.traffic"]).with(0).stdout;
    assert!(shown.contains("1× cut off: no end of the entry: cut.log:17"), "{shown}");
}

#[dyno_test]
fn a_failed_import_leaves_nothing() {
    let bench = bench();
    bench.write("notes.txt", "nothing of interest\n");
    bench.write("empty.log", "# Time: 2026-11-27T13:22:21.000500Z\n");
    bench.write("pg.log", "2026-11-27 13:22:21.500 UTC [78] LOG:  statement: SELECT 1\n");
    for (log, words) in [
        (&["none.log"][..], "none.log: cannot be read (No such file or directory"),
        (&["notes.txt"], "notes.txt: its beginning does not look like a log that Dyno reads"),
        (
            &["empty.log"],
            "the logs contain no statement; 1 of their entries could not be read, the first on line 1 of log 1",
        ),
        (
            &["slow.log", "pg.log"],
            "pg.log: is PostgreSQL's log to stderr, but the logs before it are of another product",
        ),
    ] {
        let refused = bench.dyno(&[&["traffic", "import", "--out", "a.traffic"], log].concat()).with(1);
        assert!(refused.stderr.starts_with(&format!("error: {words}")), "{}", refused.stderr);
        assert_eq!(refused.stderr.lines().count(), 1);
    }
    let left = fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!left.map(|name| name.into_string().unwrap()).any(|name| name.contains("traffic")));
}

#[dyno_test]
fn what_is_no_traffic_file_is_refused() {
    let bench = bench();
    bench.write("notes.txt", &"not a database ".repeat(400));
    rusqlite::Connection::open(bench.path("other.db")).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    for (file, words) in [
        ("none", "none: no such traffic file"),
        ("notes.txt", "notes.txt: not a traffic file"),
        ("other.db", "other.db: not a traffic file"),
    ] {
        let refused = bench.dyno(&["traffic", "show", file]).with(1);
        assert!(refused.stderr.starts_with(&format!("error: {words}")), "{}", refused.stderr);
    }
}
