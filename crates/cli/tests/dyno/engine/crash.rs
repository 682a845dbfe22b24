//! `dyno crash`: crashes systems and checks their data.

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::Bench;

const SQLITE: [&str; 10] =
    ["crash", "sqlite", "--profile", "safe", "--crashes", "2", "--commits", "30", "--clients", "2"];

#[dyno_test]
fn a_crash_test_is_told_in_a_table() {
    let ended = Bench::new().dyno(&SQLITE).with(0);
    assert!(ended.stderr.starts_with("crash 1/2: "), "{}", ended.stderr);
    let line = |name: &str| {
        let line = ended.stdout.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{}", ended.stdout))[20..].to_owned()
    };
    assert_eq!(line("settings guarantee"), "no acknowledged commit is lost");
    assert_eq!((line("crashes"), line("lost"), line("torn")), ("2".into(), "0".into(), "0".into()));
    assert_eq!(line("verdict"), "kept: nothing was lost");
}

#[dyno_test]
fn a_crash_test_is_json_for_programs() {
    let ended = Bench::new().dyno(&[&SQLITE[..], &["--format", "json"]].concat()).with(0);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["verdict"], &report["kind"]), (&"kept".into(), &"process".into()));
    assert_eq!((&report["promise"]["loss"], &report["lost"]), (&"nothing".into(), &0.into()));
    assert!(report["acknowledged"].as_u64() >= Some(60), "{report}");
    assert_eq!(report["crashes"].as_array().unwrap().len(), 2);
}

#[dyno_test]
fn what_cannot_be_crashed_is_refused() {
    let bench = Bench::new();
    for (arguments, status, words) in [
        (vec!["crash", "sqlit"], 2, "did you mean 'sqlite'?"),
        (vec!["crash", "sqlite", "--volume", "1M"], 2, "must be at least 256M"),
        (vec!["crash", "sqlite", "--profile", "saef"], 2, "safe"),
        (vec!["crash", "sqlite", "--crashes", "0"], 2, "--crashes"),
    ] {
        let ended = bench.dyno(&arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
}

/// Systems are crash-tested after the rounds. A resumed run does not repeat crash tests that were made before it.
#[dyno_test]
fn a_plan_has_its_systems_crashed_once_and_resumes() {
    let bench = Bench::new();
    let system = |id: &str| format!("[[system]]\nid = '{id}'\nengine = 'sqlite'\nprofile = 'safe'\n");
    bench.write(
        "plan.toml",
        &format!(
            "name = 'crashed'\ntitle = 'Crashes'\nbase = 'a'\nrounds = 1\nclients = [1]\nseconds = 0.2\n\
             [crash]\nkill = 'process'\ncrashes = 2\ncommits = 30\nclients = 2\nsystems = ['a', 'c*']\n{}{}{}\
             [data]\ntables = 1\nrows = 100\n\
             [[step]]\nid = 'load'\ngroup = 'load'\nworkload = 'oltp_read_write'\ncommand = 'prepare'\noperation = 'row'\n\
             [[step]]\nid = 'point'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n",
            system("a"),
            system("b"),
            system("c"),
        ),
    );
    let ended = bench.dyno(&["run", "plan.toml"]).with(0);
    assert!(ended.stdout.contains("a, processes killed: nothing was lost"), "{}", ended.stdout);
    let sql = "SELECT group_concat(system_id || verdict || crashes || lost || (acknowledged >= 60), ' ') FROM crash_test";
    assert_eq!(bench.value::<String>(sql).unwrap(), "akept201 ckept201");
    // Simulates a `dyno` that was killed before the last system.
    let file = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    file.execute_batch("DELETE FROM crash_test WHERE system_id = 'c'; UPDATE run SET status = 'interrupted'")
        .unwrap();
    let before: i64 = bench.value("SELECT acknowledged FROM crash_test").unwrap();
    bench.dyno(&["run", "plan.toml", "--resume"]).with(0);
    assert_eq!(
        bench.value::<i64>("SELECT acknowledged FROM crash_test WHERE system_id = 'a'").unwrap(),
        before
    );
    assert_eq!(bench.value::<i64>("SELECT count(*) FROM crash_test").unwrap(), 2);
    let report = bench.dyno(&["report", "--format", "json"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["crash_tests"][1]["system_id"], "c", "{report}");
    // A resumed run fails if a guarantee was broken before the interruption.
    file.execute_batch(
        "UPDATE crash_test SET verdict = 'broken' WHERE system_id = 'a'; UPDATE run SET status = 'interrupted'",
    )
    .unwrap();
    let ended = bench.dyno(&["run", "plan.toml", "--resume"]).with(1);
    assert!(ended.stderr.contains("crash tests failed: a"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("error:"), "what a test found is not an error: {}", ended.stderr);
}

/// The script's check passes three times and fails from the fourth call on. It passes after the trial of the first
/// step and after each of the two crashes of that step. The check after the second step fails.
#[dyno_test]
fn data_is_checked_after_trials_and_crashes() {
    let bench = Bench::new();
    bench.write(
        "script.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function prepare() local con = sysbench.sql.driver():connect() con:query('CREATE TABLE t (id INTEGER)') \
         con:query('CREATE TABLE checks (id INTEGER)') end\n\
         function cleanup() local con = sysbench.sql.driver():connect() con:query('DROP TABLE IF EXISTS t') \
         con:query('DROP TABLE IF EXISTS checks') end\n\
         function event() con:query('INSERT INTO t VALUES (1)') end\n\
         function check() local con = sysbench.sql.driver():connect() con:query('INSERT INTO checks VALUES (1)') \
         local n = tonumber((con:query_row('SELECT COUNT(*) FROM checks'))) \
         if n > 3 then error('four checks', 0) end end\n\
         sysbench.cmdline.commands = { check = { check } }\n",
    );
    bench.write(
        "plan.toml",
        "name = 'checked'\ntitle = 'Checks'\nbase = 'a'\nrounds = 1\nclients = [1]\nseconds = 1\nslice_seconds = 'whole'\n\
         [[system]]\nid = 'a'\nengine = 'sqlite'\n\
         [[step]]\nid = 'load'\ngroup = 'g'\nworkload = './script.lua'\ncommand = 'prepare'\noperation = 'row'\n\
         [[step]]\nid = 'crashed'\ngroup = 'g'\nworkload = './script.lua'\noperation = 'query'\ncheck = true\ncrashes = 2\n\
         [[step]]\nid = 'checked'\ngroup = 'g'\nworkload = './script.lua'\noperation = 'query'\ncheck = true\n",
    );
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    let outcome = "SELECT coalesce(max(message), '') FROM trial WHERE step_id = ";
    assert_eq!(bench.value::<String>(&format!("{outcome}'crashed'")).unwrap(), "", "{}", ended.stderr);
    let failure = bench.value::<String>(&format!("{outcome}'checked'")).unwrap();
    assert!(failure.contains("four checks"), "{failure}");
}

#[dyno_test(with_engine("mariadb@10.11"))]
fn a_server_that_may_lose_its_last_second_is_told_so() {
    let ended = Bench::new().dyno(&[
        "crash",
        "mariadb@10.11",
        "--set",
        "innodb_flush_log_at_trx_commit=0",
        "--set",
        "innodb_flush_log_at_timeout=2700",
        "--crashes",
        "1",
        "--commits",
        "100",
    ]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let words = ["commits of about the last second may be lost", "it lost no more than its settings allow"];
    assert!(words.iter().all(|words| ended.stdout.contains(words)), "{}", ended.stdout);
    assert!(ended.stdout.contains("ms before its crash\n"), "{}", ended.stdout);
}
