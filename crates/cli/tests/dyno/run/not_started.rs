//! If a system does not start, its own trials fail, and the trials of other systems do not.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;

use crate::bench::{Bench, sqlite_plan};

const MARIADB: &str = "mariadb@10.11";

/// Completed and failed trials of a system.
fn trials(bench: &Bench, system: &str) -> (Option<i64>, Option<i64>) {
    let count = |outcome| {
        bench.value(&format!(
            "SELECT count(*) FROM trial WHERE system_id = '{system}' AND outcome = '{outcome}'"
        ))
    };
    (count("completed"), count("failed"))
}

#[dyno_test]
fn a_system_that_cannot_be_fetched_loses_its_own_trials() {
    let bench = Bench::new();
    let system = format!("engine = \"{MARIADB}\"");
    bench.write(
        "plan.toml",
        &sqlite_plan(0.1).replace("engine = \"sqlite\"\nsettings = { journal_mode = \"WAL\" }", &system),
    );
    // No package manager is available, and nothing was fetched before.
    let mut command = bench.command(&["run", "plan.toml"]);
    let ended = command.env("PATH", "").env("DYNO_CACHE", bench.path("empty")).output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("; wal did not start: cannot fetch mariadb@10.11: "), "{stderr}");
    assert_eq!((trials(&bench, "rollback"), trials(&bench, "wal")), ((Some(5), Some(0)), (Some(0), Some(5))));
}

#[dyno_test]
fn a_setting_that_sqlite_does_not_know_loses_its_own_trials() {
    let bench = Bench::new();
    let plan = sqlite_plan(0.1).replace("journal_mode = \"WAL\"", "jurnal_mode = \"WAL\"");
    // If Dyno waited for verdicts on a system that does not start, the run would last until `rounds_max`.
    bench.write("plan.toml", &plan.replace("rounds = 2", "rounds = \"until-decided\"\nrounds_max = 20"));
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(
        ended.stderr.contains("warning: wal did not start: SQLite has no pragma `jurnal_mode`"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("error: 15 of 30 trials failed; wal did not start: "), "{}", ended.stderr);
    assert_eq!(
        (trials(&bench, "rollback"), trials(&bench, "wal")),
        ((Some(15), Some(0)), (Some(0), Some(15)))
    );
    assert!(bench.leftovers().is_empty());
}

#[dyno_test]
fn without_its_base_a_run_ends() {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        &sqlite_plan(0.1).replace("journal_mode = \"DELETE\"", "jurnal_mode = \"DELETE\""),
    );
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(
        ended.stderr.contains("error: system `rollback` does not start: SQLite has no pragma"),
        "{}",
        ended.stderr
    );
    assert_eq!(bench.count("trial"), 0);
    assert_eq!(bench.value("SELECT status FROM run"), Some("failed".to_owned()));
}

#[dyno_test(with_engine(MARIADB))]
fn a_server_that_does_not_start_is_tried_again() {
    let bench = Bench::new();
    // The server `bad` refuses to start while its folder for temporary files is missing.
    let system = |id: &str, settings: &str| {
        format!("[[system]]\nid = \"{id}\"\nengine = \"{MARIADB}\"\nsettings = {{ {settings} }}\n")
    };
    let folder = bench.path("tmp");
    let plan = sqlite_plan(0.1);
    let (head, steps) = plan.split_once("[[system]]").unwrap();
    let steps = &steps[steps.find("[[step]]").unwrap()..];
    let head = head.replace("\"rollback\"", "\"good\"");
    let systems = system("good", "max_connections = 50")
        + &system("bad", &format!("tmpdir = \"{}\"", folder.display()));
    bench.write("plan.toml", &format!("{head}{systems}{steps}"));

    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    let last = ended.stderr.lines().last().unwrap();
    assert!(last.starts_with("error: 5 of 10 trials failed; bad did not start: exit status: "), "{last}");
    assert!(last.contains("ERROR") && last.contains("tmp"), "{last}");
    assert_eq!((trials(&bench, "good"), trials(&bench, "bad")), ((Some(5), Some(0)), (Some(0), Some(5))));
    assert_eq!(bench.value("SELECT count(*) FROM variable WHERE system_id = 'bad'"), Some(0));
    let report = bench.dyno(&["report"]);
    assert!(report.stdout.contains("5 trials failed: did not start: "), "{}", report.stdout);
    let shown = bench.dyno(&["results", "show"]);
    assert!(shown.stdout.contains("\nbad did not start: "), "{}", shown.stdout);
    assert!(shown.stdout.contains("(5 trials)\n    "), "{}", shown.stdout);

    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o1777)).unwrap();
    bench.dyno(&["run", "plan.toml", "--resume"]).with(0);
    // The run makes two further rounds. The first of them also measures the loads, because no load of `bad` was
    // measured before.
    assert_eq!((trials(&bench, "good"), trials(&bench, "bad")), ((Some(10), Some(0)), (Some(5), Some(5))));
    assert!(bench.processes().is_empty());
    assert_eq!(bench.leftovers(), [folder]);
}
