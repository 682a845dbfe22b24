//! Steps with long queries: answers that differ, and an event that never ends.

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;

use crate::bench::{Bench, unwrapped};

const MARIADB: &str = "mariadb@10.11/innodb";

/// A plan of systems and of steps with the workload `query.lua`.
fn plan(systems: &str, steps: &str) -> String {
    format!(
        "name = 'queries'\ntitle = 'Queries'\nbase = 'a'\nrounds = 1\nclients = [1]\nseconds = 0.3\n{systems}\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = './query.lua'\noperation = 'row'\n{steps}"
    )
}

/// A workload of one query. `commands` are its further commands.
fn workload(query: &str, commands: &str) -> String {
    format!(
        "function nothing() end
         function connect() return sysbench.sql.driver():connect() end
         {commands}
         sysbench.cmdline.commands = {{ prepare = {{ nothing }}, cleanup = {{ nothing }}, answer = {{ answer }},
                                        explain = {{ explain }} }}
         sysbench.cmdline.options = {{ sleep_s = {{ 'how long the query takes', 0 }},
                                       mysql_storage_engine = {{ 'of no table', 'innodb' }} }}
         function thread_init() con = connect() end
         function event() con:query({query}) end"
    )
}

const SQLITE: &str = "[[system]]\nid = 'a'\nengine = 'sqlite'\nsettings = { journal_mode = 'DELETE' }\n\
                      [[system]]\nid = 'b'\nengine = 'sqlite'\nsettings = { journal_mode = 'WAL' }\n";

fn step(id: &str, keys: &str) -> String {
    format!("[[step]]\nid = '{id}'\ngroup = 'g'\nworkload = './query.lua'\noperation = 'query'\n{keys}\n")
}

#[dyno_test]
fn answers_that_differ_fail_the_trial_with_the_first_differing_row() {
    let bench = Bench::new();
    let commands = "function answer()
                      local con = connect()
                      print('same|1.0')
                      print(con:query_row('PRAGMA journal_mode') .. '|2')
                    end
                    function explain() print('SELECT 1') print('a row') end";
    bench.write("query.lua", &workload("'SELECT 1'", commands));
    let steps = step("asked", "events = 5\nanswers = true\nexplain = true") + &step("after", "events = 5");
    bench.write("plan.toml", &plan(SQLITE, &steps));
    let ended = bench.dyno(&["run", "plan.toml"]);
    assert_ne!(ended.status, Some(0), "{}", ended.stderr);
    let message: String = bench.value("SELECT message FROM trial WHERE outcome = 'failed'").unwrap();
    let rows = ["row 2 is `wal|2` here and `delete|2` there", "row 2 is `delete|2` here and `wal|2` there"];
    assert!(rows.iter().any(|row| message.ends_with(row)), "{message}");
    assert!(message.starts_with("its answer differs from that of "), "{message}");
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE step_id = 'after' AND operations = 5"), Some(2));
    assert_eq!(bench.count("query_plan"), 2);
    assert!(unwrapped(&bench.dyno(&["report", "--full"]).stdout).contains(&message), "the report tells it");
}

#[dyno_test]
fn a_query_that_cannot_be_explained_is_no_failure() {
    let bench = Bench::new();
    let commands =
        "function answer() print('x') end function explain() connect():query('EXPLAIN nonsense') end";
    bench.write("query.lua", &workload("'SELECT 1'", commands));
    bench.write("plan.toml", &plan(SQLITE, &step("asked", "events = 2\nanswers = true\nexplain = true")));
    bench.dyno(&["run", "plan.toml"]).with(0);
    let plan: String = bench.value("SELECT plan FROM query_plan").unwrap();
    assert!(plan.starts_with("none: ") && plan.contains("syntax error"), "{plan}");
}

#[dyno_test(with_engine(MARIADB))]
fn a_query_that_never_ends_is_ended_at_its_limit() {
    let bench = Bench::new();
    bench.write(
        "query.lua",
        &workload(
            "'SELECT SLEEP(' .. sysbench.opt.sleep_s .. ')'",
            "function answer() end function explain() end",
        ),
    );
    let system = format!("[[system]]\nid = 'a'\nengine = '{MARIADB}'\n");
    let limited = "events = 1\nevent_seconds_max = 1.5\noptions = { sleep_s = 100000 }";
    let steps = step("endless", limited) + &step("after", "events = 3\nevent_seconds_max = 60");
    bench.write("plan.toml", &plan(&system, &steps));
    let ended = bench.dyno(&["run", "plan.toml"]);
    assert_ne!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(
        bench.value("SELECT message FROM trial WHERE step_id = 'endless'"),
        Some("an event did not end within `event_seconds_max` = 1.5".to_owned()),
        "{}",
        ended.stderr
    );
    assert_eq!(bench.value("SELECT operations FROM trial WHERE step_id = 'after'"), Some(3));
    assert!(bench.servers().is_empty() && bench.leftovers().is_empty());
}

#[dyno_test]
fn a_claim_on_a_counter_that_is_not_listed_is_told_with_its_place() {
    let bench = Bench::new();
    bench.write("query.lua", &workload("'SELECT 1'", "function answer() end function explain() end"));
    let claim = "[[claim]]\nid = 'c'\nsays = 'x'\nexpression = 'value(a, counter.pages, asked, 1) > 1'\n";
    bench.write("plan.toml", &plan(SQLITE, &(step("asked", "events = 1") + claim)));
    let ended = bench.dyno(&["run", "plan.toml", "--dry-run"]);
    assert_ne!(ended.status, Some(0));
    let words = "the counter `pages` is not in the plan's `counters`; add it there";
    assert!(ended.stderr.contains(words) && ended.stderr.contains("plan.toml:"), "{}", ended.stderr);
}
