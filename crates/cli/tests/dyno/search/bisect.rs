//! `dyno bisect` on real servers. A script makes some versions slower on purpose, so that the results do not
//! depend on timing.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use dyno_engine::testing::{installation, with_engine};
use dyno_testing::dyno_test;

use crate::bench::{Bench, Ended};

const LADDER: [&str; 5] =
    ["mariadb@10.1.23", "mariadb@10.2.11", "mariadb@10.5", "mariadb@10.11", "mariadb@11.8"];

/// A plan with a step at a fixed rate, which a quick statement reaches easily and a slow statement cannot reach.
/// With a wide margin, a good version counts as good whatever else the host does.
fn plan(slower_from: &str) -> String {
    format!(
        "name = 'becoming-slow'\ntitle = 'A version becomes slow'\nbase = 'any'\nrounds = 1\n\
         clients = [1]\nseconds = 0.6\nwarmup_seconds = 0.2\nrest_seconds_max = 0\n\
         [[system]]\nid = 'any'\nengine = 'mariadb'\n\
         [[step]]\nid = 'answer'\ngroup = 'reads'\nworkload = 'slower_from.lua'\noperation = 'query'\n\
         rate = 100\noptions = {{ slower_from = {slower_from} }}\n"
    )
}

/// Searches with at most `rounds_max` rounds a comparison.
fn bisect(bench: &Bench, rounds_max: &str, slower_from: &str, versions: &[&str]) -> Ended {
    bench.write("slower_from.lua", include_str!("slower_from.lua"));
    bench.write("plan.toml", &plan(slower_from));
    bench.write_lean_profiles();
    let search = ["bisect", "answer", "--plan", "plan.toml", "--profile", "lean.toml"];
    let ended =
        bench.dyno(&[&search[..], &["--rounds-max", rounds_max, "--margin", "50%"], versions].concat());
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
    ended
}

/// Searches in a new results file, and also returns the largest number of rounds that a comparison could have. Eight
/// rounds suffice on a quiet host. On a busy host, they may leave a comparison undecided. The search is then repeated
/// with more rounds, as its answer advises.
fn decided(slower_from: &str, versions: &[&str]) -> (Bench, &'static str, Ended) {
    let search = |rounds_max| {
        let bench = Bench::new();
        let ended = bisect(&bench, rounds_max, slower_from, versions);
        (bench, rounds_max, ended)
    };
    let is_decided = |(.., ended): &(_, _, Ended)| !ended.stdout.contains("not decided");
    ["8", "16"].into_iter().map(search).find(is_decided).unwrap_or_else(|| search("32"))
}

#[dyno_test(with_engine(LADDER[0]))]
fn the_version_that_became_slow_is_found_among_versions() {
    for name in LADDER {
        installation(name).unwrap();
    }
    let (bench, _, ended) = decided("10.05", &["--versions", &LADDER.join(",")]);
    let ended = ended.with(0);
    let last = ended.stdout.lines().last();
    assert_eq!(last, Some("mariadb@10.5 made answer slower; mariadb@10.2.11 was not."), "{}", ended.stdout);
    let worse = ended.stdout.lines().find(|line| line.starts_with("mariadb@11.8 ")).unwrap_or_default();
    assert!(
        worse.contains("worse than mariadb@10.1.23: 0.") && worse.contains("] times its rate (run 1)"),
        "{worse}"
    );
    // Three comparisons are enough for five versions: the last version, the middle one, and the one before the
    // middle. A fourth comparison is between the version that was found and the version before it.
    assert_eq!(bench.count("run"), 4);
    let waited_seconds = bench.value::<f64>("SELECT max(settle_seconds) FROM instance");
    assert_eq!(waited_seconds, Some(0.0), "the plan does not wait for servers at rest");
    let tested =
        "SELECT group_concat(id, ' ') FROM (SELECT id FROM system WHERE NOT is_base ORDER BY run_id)";
    assert_eq!(
        bench.value(tested),
        Some("mariadb@11.8 mariadb@10.5 mariadb@10.2.11 mariadb@10.5".to_owned())
    );
    let bases = "SELECT group_concat(id, ' ') FROM (SELECT id FROM system WHERE is_base ORDER BY run_id)";
    let bases: String = bench.value(bases).unwrap();
    assert!(bases.ends_with("mariadb@10.1.23 mariadb@10.2.11"), "{bases}");
    what_was_found_is_explained_and_taken_apart(&bench, &ended);
}

/// The last line on standard error names a command that explains the difference between the two versions. The
/// command also works with `--prove`.
fn what_was_found_is_explained_and_taken_apart(bench: &Bench, ended: &Ended) {
    let hint = ended.stderr.lines().last().unwrap();
    assert!(hint.starts_with("`dyno explain 4` shows what changed between the two"), "{hint}");
    let explained = bench.dyno(&["explain", "4", "--test", "answer"]).with(0);
    assert!(
        explained.stdout.starts_with("mariadb@10.5 against mariadb@10.2.11: answer"),
        "{}",
        explained.stdout
    );
    let proof = bench.dyno(&["explain", "4", "--test", "answer", "--prove", "--rounds", "4"]).with(0);
    // The script checks the version, so no setting can be the cause.
    for words in
        ["mariadb@10.5 against mariadb@10.2.11: answer at 1 client", "No setting explains the difference"]
    {
        assert!(proof.stdout.contains(words), "{words}: {}{}", proof.stdout, proof.stderr);
    }
    assert!(bench.processes().is_empty());
}

#[dyno_test(with_engine(LADDER[0]))]
fn a_search_that_is_started_again_makes_no_comparison_twice() {
    for name in [LADDER[0], LADDER[3]] {
        installation(name).unwrap();
    }
    let versions = ["--versions", &[LADDER[0], LADDER[3]].join(",")];
    let (bench, rounds_max, first) = decided("10.11", &versions);
    let first = first.with(0);
    let runs = bench.count("run");
    let again = bisect(&bench, rounds_max, "10.11", &versions).with(0);
    assert_eq!((again.stdout, bench.count("run")), (first.stdout, runs));
    // A search with another measured time does not use the comparisons of the first search.
    let search = || bisect(&bench, rounds_max, "10.11", &[&versions[..], &["--seconds", "0.5"]].concat());
    search();
    let last_run = bench.count("run");
    assert!(last_run > runs, "{last_run} of {runs}");
    // A stopped comparison is resumed, and does not begin a new run.
    rusqlite::Connection::open(bench.path("dyno.db"))
        .unwrap()
        .execute_batch(
            "PRAGMA foreign_keys = ON;
             UPDATE run SET status = 'interrupted' WHERE id = (SELECT max(id) FROM run);
             DELETE FROM trial WHERE run_id = (SELECT max(id) FROM run) AND round > 2;",
        )
        .unwrap();
    let resumed = search();
    assert!(resumed.stderr.contains("going on to compare"), "{}", resumed.stderr);
    let status = format!("SELECT status FROM run WHERE id = {last_run}");
    assert_eq!(bench.value(&status), Some("finished".to_owned()), "{}", resumed.stderr);
    let rounds = format!("SELECT max(round) FROM trial WHERE run_id = {last_run}");
    assert!(bench.value::<usize>(&rounds) > Some(2), "{}", resumed.stderr);
}

/// Two rounds of a comparison decide nothing.
#[dyno_test(with_engine(LADDER[0]))]
fn a_comparison_without_a_verdict_is_no_answer() {
    for name in [LADDER[0], LADDER[3]] {
        installation(name).unwrap();
    }
    let bench = Bench::new();
    let versions = ["--versions", &[LADDER[0], LADDER[3]].join(",")];
    // On a busy host, even this search may be undecided.
    bisect(&bench, "8", "99", &versions);
    rusqlite::Connection::open(bench.path("dyno.db"))
        .unwrap()
        .execute_batch("PRAGMA foreign_keys = ON; DELETE FROM trial WHERE round > 2;")
        .unwrap();
    let ended = bisect(&bench, "8", "99", &versions).with(3);
    assert!(ended.stderr.contains(": taken from run 1"), "{}", ended.stderr);
    let words = format!(
        "Whether {} is slower in answer was not decided; give it more rounds (--rounds-max).",
        LADDER[3]
    );
    assert_eq!(ended.stdout.lines().last(), Some(words.as_str()), "{}", ended.stdout);
}

#[dyno_test(with_engine(LADDER[0]))]
fn the_build_that_became_slow_is_found_among_folders() {
    let folders =
        [LADDER[0], LADDER[1], LADDER[3]].map(|name| installation(name).unwrap().root.display().to_string());
    let arguments: Vec<_> = folders.iter().flat_map(|folder| ["--basedir", folder.as_str()]).collect();
    let (bench, rounds_max, ended) = decided("10.11", &arguments);
    let ended = ended.with(0);
    let found = format!("{} made answer slower; {} was not.", folders[2], folders[1]);
    assert_eq!(ended.stdout.lines().last(), Some(found.as_str()), "{}", ended.stdout);
    assert_eq!(bench.count("run"), 3);
    assert_eq!(bench.value("SELECT DISTINCT origin FROM system"), Some("basedir".to_owned()));
    let again = bisect(&bench, rounds_max, "10.11", &arguments).with(0);
    assert_eq!((again.stdout, bench.count("run")), (ended.stdout, 3), "the builds are the same as before");
}

/// A folder whose server prints a version and does nothing else.
fn broken(bench: &Bench, model: &Path) -> PathBuf {
    let folder = bench.path("cache/broken");
    fs::create_dir_all(folder.join("bin")).unwrap();
    for entry in fs::read_dir(model).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != "bin") {
        symlink(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    let server = folder.join("bin/mysqld");
    let script = "#!/bin/sh\n\
                  case \"$*\" in *--version*) echo 'mysqld  Ver 10.2.11-MariaDB for Linux on x86_64';; \
                  *) echo '[ERROR] this build is broken' >&2; exit 1;; esac\n";
    fs::write(&server, script).unwrap();
    fs::set_permissions(&server, Permissions::from_mode(0o755)).unwrap();
    folder
}

#[dyno_test(with_engine(LADDER[0]))]
fn a_version_that_does_not_start_is_passed_by() {
    let [good, bad] = [LADDER[0], LADDER[3]].map(|name| installation(name).unwrap().root);
    let home = Bench::new();
    let broken = broken(&home, &installation(LADDER[1]).unwrap().root);
    let folders = [good, broken, bad].map(|folder| folder.display().to_string());
    let arguments: Vec<_> = folders.iter().flat_map(|folder| ["--basedir", folder.as_str()]).collect();
    let (_, _, ended) = decided("10.02", &arguments);
    let ended = ended.with(1);
    assert!(ended.stdout.contains(" did not start: "), "{}", ended.stdout);
    let last = format!(
        "One of {}, {} made answer slower; more rounds, or versions that start, would tell which.",
        folders[1], folders[2]
    );
    assert_eq!(ended.stdout.lines().last(), Some(last.as_str()), "{}", ended.stdout);
}
