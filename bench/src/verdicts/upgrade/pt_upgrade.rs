//! Runs Debian's pt-upgrade on the same data and the same log. Servers of both versions run at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, ensure};
use dyno_engine::{DATABASE, Server, execute_file, load_dump};
use dyno_traffic::sql::Dialect;

use super::bed::{AFTER, Bed, DATA, LOG};
use super::judged::Reported;
use super::planted::{Harm, Upgrade};
use super::traffic::digest;
use crate::support::server;

const PROGRAM: &str = "pt-upgrade";
const REPORT: &str = "pt-upgrade.txt";
const WORDS: &str = "pt-upgrade.log";
/// The bit of pt-upgrade's exit status that means that there are differences.
const HAS_DIFFERENCES: i32 = 4;
/// The start of the line that introduces a class of queries in a report.
const CLASS: &str = "# Query class ";

/// Returns the path of pt-upgrade if a folder of `PATH` has it.
pub(super) fn on_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file())
}

/// Runs pt-upgrade on servers of both versions. Returns what it reports.
pub(super) fn run(program: &Path, bed: &Bed, upgrade: &Upgrade) -> anyhow::Result<Reported> {
    let old = server::start_engine(&upgrade.from, std::iter::empty())?;
    load(&old, bed)?;
    let settings = upgrade.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let new = server::start_engine(&upgrade.to, settings)?;
    load(&new, bed)?;
    let after = bed.folder.join(AFTER);
    execute_file(&new, AFTER, &mut BufReader::new(File::open(&after)?), &AtomicBool::new(false))?;
    let logins = tempfile::tempdir()?;
    let mut command = Command::new(program);
    command.args(["--no-version-check", "--no-read-only", "--type", "slowlog"]);
    for (server, name) in [(&old, "old.cnf"), (&new, "new.cnf")] {
        let login = login(server, &logins.path().join(name))?;
        command.arg(format!("F={},D={DATABASE}", login.display()));
    }
    let report = bed.folder.join(REPORT);
    let status = command
        .arg(bed.folder.join(LOG))
        .stdin(Stdio::null())
        .stdout(File::create(&report)?)
        .stderr(File::create(bed.folder.join(WORDS))?)
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    old.stop()?;
    new.stop()?;
    ensure!(
        matches!(status.code(), Some(0 | HAS_DIFFERENCES)),
        "{PROGRAM} failed ({status}); see {}",
        bed.folder.join(WORDS).display()
    );
    Ok(reported(&String::from_utf8_lossy(&fs::read(&report)?)))
}

fn load(server: &Server, bed: &Bed) -> anyhow::Result<()> {
    let data = File::open(bed.folder.join(DATA))?;
    Ok(load_dump(server, DATA, &mut BufReader::new(data), &AtomicBool::new(false))?)
}

/// Writes a file with a server's login, because command lines are visible to all users. A file or link that has
/// this name already is removed first.
fn login(server: &Server, path: &Path) -> anyhow::Result<PathBuf> {
    let access = server.access();
    let text = format!(
        "[client]\nuser={}\npassword={}\nsocket={}\n",
        access.user,
        access.password,
        access.socket.display()
    );
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(path.to_owned())
}

/// Reads a report. The digest of a class of queries is the digest of the example query that the report shows.
fn reported(report: &str) -> Reported {
    let mut reported = BTreeMap::new();
    for class in report.split(CLASS).skip(1) {
        let harms: BTreeSet<Harm> = class.lines().filter_map(harm).collect();
        let mut digests =
            class.lines().filter(|line| is_example(line)).map(|line| digest(line, Dialect::Mysql));
        if let Some(digest) = digests.next_back().filter(|_| !harms.is_empty()) {
            reported.entry(digest).or_insert_with(super::judged::Seen::default).harms.extend(harms);
        }
    }
    reported
}

/// Returns the harm that the heading of a list of differences means. Differences in warnings, and errors on both
/// servers, are no harm.
fn harm(line: &str) -> Option<Harm> {
    let (name, _) = line.strip_prefix("## ")?.split_once(" diffs: ")?;
    match name {
        "Query time" => Some(Harm::Slower),
        "Query errors" => Some(Harm::Fails),
        "Row" => Some(Harm::Answers),
        _ => None,
    }
}

/// Whether a line is an example query from the log. The log's keywords are in capitals, and the names of classes
/// are in small letters.
fn is_example(line: &str) -> bool {
    ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "BEGIN", "COMMIT"].iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_classes_with_kinds_of_differences() {
        let report = "\n########\n# Query class 0A1B\n########\n\nReporting class because there are 3 row diffs.\n\n\
            Total queries      3\n\nselect note from item where id=?\n\n##\n## Row diffs: 2\n##\n\n-- 1.\n\n@ row 1\n\
            < a\n> b\n\nSELECT note FROM item WHERE id = 4\n\n-- 2.\n\n@ row 1\n< c\n> d\n\n\
            SELECT note FROM item WHERE id = 5\n\n########\n# Query class 0C\n########\n\n\
            select offset from item\n\n##\n## Query errors diffs: 1\n##\n\n-- 1.\n\nNo error\n\nvs.\n\nsyntax\n\n\
            SELECT offset FROM item\n\n########\n# Query class 0D\n########\n\n\
            ##\n## Warning diffs: 1\n##\n\nSELECT 1\n\n#-------\n# Stats\n#-------\n";
        let reported = reported(report);
        let found: Vec<(&str, Vec<Harm>)> = reported
            .iter()
            .map(|(statement, seen)| (statement.as_str(), seen.harms.iter().copied().collect()))
            .collect();
        assert_eq!(
            found,
            [
                ("SELECT OFFSET FROM item", vec![Harm::Fails]),
                ("SELECT note FROM item WHERE id = ?", vec![Harm::Answers])
            ]
        );
    }
}
