//! Trials during which another process used the host's CPU are repeated and do not count as replicates.

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;

use crate::bench::{Bench, Busy, Ended, sqlite_plan, unwrapped};

const MARIADB: &str = "mariadb@10.11";

#[dyno_test]
fn disturbed_trials_are_run_again_and_kept() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.3));
    let busy = [Busy::start(), Busy::start()];
    let ended = bench.dyno(&["run", "plan.toml", "--rerun-disturbed", "1"]);
    drop(busy);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for words in [": other processes used ", "% of the CPU time, measuring again"] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    let superseded = bench.value::<i64>("SELECT count(*) FROM trial WHERE is_superseded").unwrap();
    assert!(superseded > 0);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE NOT is_superseded"), Some(10));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE is_superseded AND step_id = 'load'"), Some(0));
    let whole = "SELECT count(*) FROM (SELECT count(*) AS systems FROM trial WHERE is_superseded
                 GROUP BY step_id, clients, round HAVING systems <> 2)";
    assert_eq!(bench.value(whole), Some(0), "a step is run again by all systems");
    let late = "SELECT min(new.position > old.position) FROM trial new JOIN trial old
                USING (run_id, step_id, clients, system_id, round) WHERE old.is_superseded AND NOT new.is_superseded";
    assert_eq!(bench.value(late), Some(true));
    assert_eq!(bench.dyno(&["results", "check"]).status, Some(0));
}

#[dyno_test(with_engine(MARIADB))]
fn a_replay_is_run_again_on_the_data_that_it_began_with() {
    let bench = Bench::new();
    bench.write(
        "shop.sql",
        "CREATE TABLE item (id INT PRIMARY KEY, stock INT);\nINSERT INTO item VALUES (1, 1);\n",
    );
    let entry = |sql: &str| format!("2026-11-27T10:00:00.000000Z\t    1 Query\t{sql}\n");
    let statements =
        ["INSERT INTO item VALUES (2, 5)", "SELECT SLEEP(0.3)", "UPDATE item SET stock = stock + 1"];
    bench.write("server.log", &statements.map(entry).concat());
    bench.dyno(&["traffic", "import", "server.log", "--out", "mine.traffic"]).with(0);
    let plan = |keys: &str| {
        format!(
            "name = 'replay'\ntitle = 'My traffic'\nbase = 'old'\nrounds = 1\nclients = [1]\nseconds = 1\nrest_seconds_max = 0\n{keys}\n\
             [[system]]\nid = 'old'\nengine = '{MARIADB}'\ndata = 'shop.sql'\n\
             [[system]]\nid = 'new'\nengine = '{MARIADB}'\ndata = 'shop.sql'\n\
             [[step]]\nid = 'mine'\nworkload = 'traffic'\ntraffic = 'mine.traffic'\n"
        )
    };
    bench.write("plan.toml", &plan(""));
    bench.write("kept.toml", &plan("between_steps = 'keep'"));
    let busy = [Busy::start(), Busy::start()];
    let run = |plan: &str| bench.dyno(&["run", plan, "--rerun-disturbed", "1", "--no-html"]).with(0);
    let (again, kept) = (run("plan.toml"), run("kept.toml"));
    drop(busy);
    assert!(again.stderr.contains("measuring again"), "{}", again.stderr);
    assert!(!kept.stderr.contains("measuring again"), "its data is gone: {}", kept.stderr);
    let superseded = "SELECT group_concat(DISTINCT run_id) FROM trial WHERE is_superseded";
    assert_eq!(bench.value(superseded), Some("1".to_owned()));
    assert_eq!(bench.value("SELECT sum(errors) FROM trial"), Some(0), "the row was inserted once");
}

#[dyno_test]
fn nothing_is_decided_on_a_busy_host() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.2).replace("rounds = 2", "rounds = 6"));
    let dyno = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.env_remove("DYNO_COUNT_DISTURBED");
        Ended::from(command.output().unwrap())
    };
    let busy = [Busy::start(), Busy::start()];
    let run = dyno(&["run", "plan.toml", "--no-html"]).with(0);
    drop(busy);
    let said = unwrapped(&run.stdout);
    assert!(said.contains("disturbed: other processes used"), "{said}");
    assert!(!said.contains("is faster than") && !said.contains("is slower than"), "{said}");

    let compared = dyno(&["compare"]).with(3);
    let first = compared.stdout.lines().next().unwrap();
    assert!(
        first.starts_with("Not decided: ") && first.contains("rounds were disturbed: other processes"),
        "{first}"
    );
    let explained = dyno(&["explain"]).with(3);
    assert!(explained.stderr.starts_with("not decided: run 1: "), "no error: {}", explained.stderr);
    assert!(
        explained.stderr.contains("quiet the host, or count such rounds with --count-disturbed"),
        "{}",
        explained.stderr
    );

    let counted = dyno(&["compare", "--count-disturbed"]);
    let first = counted.stdout.lines().next().unwrap();
    assert!(!first.contains("disturbed"), "{first}");
    let run = dyno(&["report", "--full", "--count-disturbed"]).with(0);
    assert!(unwrapped(&run.stdout).contains("disturbed rounds count"), "{}", run.stdout);
    // Dyno stops repeating a step after some attempts without success.
    let rerun = bench.value::<i64>("SELECT count(*) FROM trial WHERE is_superseded").unwrap();
    let made = bench.value::<i64>("SELECT count(*) FROM trial WHERE NOT is_superseded").unwrap();
    assert!(rerun > 0 && rerun < made / 2, "{rerun} of {made}");
}
