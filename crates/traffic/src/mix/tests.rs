use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use super::{LeftOut, LeftOuts, Mixed, mix};
use crate::error::TrafficError;
use crate::import::{Options, import};

fn imported(folder: &Path, log: &str, redact: bool) -> PathBuf {
    let (path, out) = (folder.join("server.log"), folder.join("a.traffic"));
    fs::write(&path, log).unwrap();
    let stop = AtomicBool::new(false);
    let options =
        Options { out: &out, overwrite: true, format: None, redact, keep_users: false, stop: &stop };
    import(&[path], &options, &mut |_| ()).unwrap();
    out
}

/// The general log of one session.
fn general<'a>(statements: impl IntoIterator<Item = &'a str>) -> String {
    let line = |(number, text): (usize, &str)| {
        let (second, ms) = (number / 1000, number % 1000);
        format!("2026-11-27T10:{:02}:{:02}.{ms:03}000Z\t    7 Query\t{text}\n", second / 60, second % 60)
    };
    statements.into_iter().enumerate().map(line).collect()
}

fn mixed(log: &str, redact: bool, most: usize) -> (String, Mixed) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("mix.lua");
    let mixed = mix(&imported(folder.path(), log, redact), &out, false, most).unwrap();
    (fs::read_to_string(out).unwrap(), mixed)
}

/// A log with 100 transactions on random accounts, and 300 single reads.
fn shop() -> String {
    let mut statements = vec!["SET NAMES utf8mb4".to_owned()];
    for number in 0..100 {
        let id = number * 7919 % 10_007;
        statements.push("BEGIN".to_owned());
        statements.push(format!("SELECT total FROM account WHERE id = {id}"));
        statements.push(format!("UPDATE account SET total = total + 5 WHERE id = {id}"));
        statements.push("COMMIT".to_owned());
        for of in 0..3 {
            statements.push(format!(
                "SELECT name FROM item WHERE id BETWEEN {} AND {}",
                id + of,
                id + of + 99
            ));
        }
    }
    statements.push("DROP TABLE old".to_owned());
    general(statements.iter().map(String::as_str))
}

#[test]
fn transactions_come_as_often_as_they_were_executed() {
    let (lua, mixed) = mixed(&shop(), false, 10);
    let left_out = LeftOuts::from([(LeftOut::Session, 1), (LeftOut::Definition, 1)]);
    assert_eq!(mixed, Mixed { statements: 702, mixed: 700, transactions: 2, left_out });
    for words in [
        "-- A mix of a.traffic, made by `dyno traffic mix`: 99.7% of 702 statements, in 2 transactions.",
        "-- 75.00%, 300 times\n--   SELECT name FROM item WHERE id BETWEEN ? AND ?\nadd(300, function()",
        "v[2] = v[1] + 99\n    con:query(\"SELECT name FROM item WHERE id BETWEEN \" .. v[1] .. \" AND \" .. v[2])",
        "add(100, function()",
        "con:query(\"BEGIN\")\n    v[1] = draw[1]()\n",
        "v[3] = v[1]\n    con:query(\"UPDATE account SET total = total + \" .. v[2] .. \" WHERE id = \" .. v[3])",
        "values({ \"5\" }, { 100 }),",
    ] {
        assert!(lua.contains(words), "{words}\n{lua}");
    }
}

#[test]
fn rare_transactions_are_left_out() {
    let (lua, mixed) = mixed(&shop(), false, 1);
    assert_eq!(mixed.left_out[&LeftOut::Rare], 400);
    assert!(lua.contains("-- 400 statements are left out: they are in rare transactions"), "{lua}");
}

#[test]
fn values_that_were_not_kept_become_random_ones_of_their_length() {
    let statements =
        (100..150).map(|number| format!("SELECT a FROM t WHERE b = 'secret {number}' AND c = {number}"));
    let statements: Vec<String> = statements.collect();
    let (lua, _) = mixed(&general(statements.iter().map(String::as_str)), true, 10);
    assert!(!lua.contains("secret"), "{lua}");
    assert!(lua.contains("text(10, 10)") && lua.contains("digits(3, 3)"), "{lua}");
}

#[test]
fn a_transaction_without_its_begin_or_end_gets_them() {
    let log =
        general(["SET autocommit = 0", "UPDATE t SET a = 1", "UPDATE t SET a = 2", "COMMIT", "SELECT 1"]);
    let (lua, _) = mixed(&log, false, 10);
    assert_eq!(
        lua.matches("con:query(\"BEGIN\")").count(),
        lua.matches("con:query(\"COMMIT\")").count(),
        "{lua}"
    );
    assert!(lua.contains("con:query(\"BEGIN\")\n    v[1] = draw[1]()"), "{lua}");
}

#[test]
fn no_text_of_the_traffic_leaves_its_string_or_comment() {
    let log = general(["SELECT `a\u{1b}[2J\\` FROM t WHERE b = ']]\\n\" .. os.exit() .. \"'"]);
    let (lua, _) = mixed(&log, false, 10);
    for line in lua.lines().filter(|line| line.contains("os.exit")) {
        assert!(line.contains("\\\" .. os.exit() .. \\\""), "{line}");
    }
    assert!(!lua.contains('\u{1b}'), "{lua}");
}

#[test]
fn digests_of_a_server_make_a_mix_without_values() {
    let folder = TempDir::new().unwrap();
    let (from, out) = (folder.path().join("digests.csv"), folder.path().join("mix.lua"));
    fs::write(&from, "query,calls\n\"SELECT a FROM t WHERE b = $1 LIMIT $2\",70\nCOMMIT,30\n").unwrap();
    let mixed = mix(&from, &out, false, 10).unwrap();
    let left_out = LeftOuts::from([(LeftOut::Transaction, 30)]);
    assert_eq!(mixed, Mixed { statements: 100, mixed: 70, transactions: 1, left_out });
    let lua = fs::read_to_string(&out).unwrap();
    assert!(
        lua.contains("con:query(\"SELECT a FROM t WHERE b = \" .. v[1] .. \" LIMIT \" .. v[2])"),
        "{lua}"
    );
    assert!(lua.contains("Digests have neither values nor transactions."), "{lua}");
}

#[test]
fn what_makes_no_mix_is_refused_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let (from, out) = (folder.path().join("from"), folder.path().join("mix.lua"));
    fs::write(&from, "a,b\n1,2\n").unwrap();
    assert!(matches!(mix(&from, &out, false, 10), Err(TrafficError::NoDigests { .. })));
    fs::write(&from, "query,calls\nVACUUM,5\n").unwrap();
    assert!(matches!(mix(&from, &out, false, 10), Err(TrafficError::Unmixed { .. })));
    fs::write(&from, b"SQLite format 3\0 and no more").unwrap();
    assert!(matches!(mix(&from, &out, false, 10), Err(TrafficError::Foreign { .. })));
    assert!(matches!(mix(folder.path(), &out, false, 10), Err(TrafficError::Foreign { .. })));
    File::create(&from).unwrap().set_len(257 << 20).unwrap();
    let error = mix(&from, &out, false, 10).unwrap_err().to_string();
    assert!(
        error.ends_with("larger than 256 MiB; export fewer digests, such as those with the most calls"),
        "{error}"
    );
    assert!(!out.exists());
    fs::write(&out, "mine").unwrap();
    assert!(matches!(mix(&from, &out, false, 10), Err(TrafficError::Exists { .. })));
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
}
