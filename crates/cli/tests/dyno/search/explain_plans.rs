//! Query plans as evidence, on real servers: one of two systems lacks an index.

use dyno_browser::{Browser, Scheme};
use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;
use rusqlite::Connection;
use serde_json::Value;

use crate::bench::{Bench, unwrapped};

const MARIADB: &str = "mariadb@10.11";
const POSTGRES: &str = "postgres@18.4";
/// This version explains only SELECT.
const OLD_MYSQL: &str = "mysql@5.5.34";

/// Runs a plan of two systems. With the settings of `new`, the script makes no index. `keys` are further keys of
/// the step `read`, in which the systems take turns. After the run, the figures of the step `paced` are replaced,
/// so that `new` is slower in every round whatever else the host does.
fn measured(engine: &str, settings: &str, no_index_if: &str, keys: &str) -> Bench {
    let bench = Bench::new();
    bench.write("dropped.lua", include_str!("dropped_index.lua"));
    let step = |id: &str, keys: &str| {
        format!(
            "[[step]]\nid = '{id}'\ngroup = 'g'\nworkload = 'dropped.lua'\noperation = 'transaction'\n{keys}\n\
             options = {{ no_index_if = \"{no_index_if}\" }}\n"
        )
    };
    let plan = format!(
        "name = 'dropped'\ntitle = 'A dropped index'\nbase = 'old'\nrounds = 6\nload = 'every-round'\n\
         clients = [1, 2]\nseconds = 0.6\nwarmup_seconds = 0.1\nrest_seconds_max = 0\n\
         [[system]]\nid = 'old'\nengine = '{engine}'\n\
         [[system]]\nid = 'new'\nengine = '{engine}'\nsettings = {{ {settings} }}\n{}{}{}",
        step("load", "command = 'prepare'\nclients = [1]").replace("'transaction'", "'row'"),
        step("read", keys),
        step("paced", "rate = 100\nspacing = 'constant'\nclients = [1]")
    );
    bench.write("plan.toml", &plan);
    bench.dyno(&["run", "plan.toml"]).with(0);
    let file = Connection::open(bench.path("dyno.db")).unwrap();
    let figures =
        "UPDATE trial SET seconds = 1, operations = CASE system_id WHEN 'old' THEN 100 ELSE 10 END + round
                   WHERE step_id = 'paced'";
    assert_eq!(file.execute(figures, []).unwrap(), 12, "two systems, six rounds");
    bench
}

/// The explanation of the step `read` at 2 clients. The query plans were read at 1 client.
fn explained(bench: &Bench) -> Value {
    let arguments = ["explain", "1", "new", "--test", "read", "--clients", "2", "--format", "json"];
    let ended = bench.dyno(&arguments).with(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Checks that the base uses the index, that the candidate reads every row, and that nothing else differs.
fn assert_scan(json: &Value, (how, key): (&str, &str), scan: &str) {
    let plans = &json[0]["plans"];
    assert_eq!(plans["compared"], 2, "{plans}");
    let [change] = &plans["changes"].as_array().unwrap()[..] else { panic!("{plans}") };
    assert_eq!(change["statement"], "SELECT c FROM dropped WHERE k = ?");
    let access = &change["accesses"][0];
    let found = |side: &str| (access[side]["how"].clone(), access[side]["key"].clone());
    assert_eq!(found("base"), (how.into(), key.into()), "{plans}");
    assert_eq!(found("candidate"), (scan.into(), Value::Null), "{plans}");
    assert_eq!(access["candidate"]["is_full_scan"], true);
    assert_eq!(plans["refused"], Value::Array(Vec::new()), "{plans}");
}

/// A run of SQLite, in which `new` has no index.
fn measured_in_sqlite() -> Bench {
    let condition = "(SELECT cache_size FROM pragma_cache_size) = -4000";
    measured("sqlite", "cache_size = '-4000'", condition, "")
}

/// An opened cell of the report shows the text of `dyno explain`. Cells are explained only against the plan's base.
#[dyno_test(crate::read::pages::with_browser)]
fn a_drilldown_opens_with_its_explanation(browser: &mut Browser) {
    let bench = measured_in_sqlite();
    bench.dyno(&["report", "--format", "html", "--out", "page.html"]).with(0);
    let address = format!("file://{}#cell=paced/new/1", bench.path("page.html").display());
    let mut page = browser.open(&address, 1280, 900, Scheme::Light);
    // Whether the open cell has the heading of an explanation.
    let explained =
        "[...document.querySelectorAll('#drilldown h3')].some(it => it.textContent.startsWith('Why'))";
    page.wait_until(explained);
    let said = page.text("document.querySelector('#drilldown .sheet').textContent");
    for words in [
        "new reads dropped by a full scan, old by index dropped_k.",
        "Why, against old",
        "SEARCH dropped USING INDEX dropped_k (k=?)",
        "SCAN dropped",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    page.keep_picture("explained", false);
    let why = page.text("document.querySelector('#why').textContent");
    assert!(why.contains("Not proven yet.") && why.contains("dyno explain 1 new --test "), "{why}");
    page.eval("location.hash = '#base=new&cell=paced/new/1'");
    page.wait_until(
        "document.querySelector('#drilldown .figures')?.textContent.includes('against') === false",
    );
    assert_eq!(page.eval(explained), Value::Bool(false));
    assert_eq!(page.complaints(), [""; 0]);
}

#[dyno_test]
fn a_dropped_index_in_sqlite_is_found() {
    let bench = measured_in_sqlite();
    assert_scan(&explained(&bench), ("SEARCH", "dropped_k"), "SCAN");
    let text = bench.dyno(&["explain", "1", "new", "--test", "paced"]).with(0);
    for words in [
        "SELECT c FROM dropped WHERE k = ?: dropped by index dropped_k → by a full scan",
        "    SEARCH dropped USING INDEX dropped_k (k=?)",
        "    SCAN dropped",
    ] {
        assert!(text.stdout.contains(words), "{words}: {}", text.stdout);
    }
    // Plans are read once per instance: two systems in six rounds and two steps, at the first number of clients.
    let explained = "SELECT count(DISTINCT trial_id) FROM statement_plan JOIN trial ON trial.id = trial_id WHERE clients = 1";
    assert_eq!(
        (bench.value(explained), bench.value("SELECT count(DISTINCT trial_id) FROM statement_plan")),
        (Some(24), Some(24))
    );
    let statements = "SELECT group_concat(DISTINCT statement) FROM statement_plan";
    let statements: String = bench.value(statements).unwrap();
    assert_eq!(
        statements.matches("dropped").count(),
        2,
        "BEGIN and what comes before the events have no plan: {statements}"
    );
    reports_say_why(&bench);
}

#[dyno_test(with_engine(MARIADB))]
fn a_dropped_index_in_mariadb_is_found() {
    let bench = measured(MARIADB, "sort_buffer_size = '4M'", "@@sort_buffer_size = 4194304", "");
    let json = explained(&bench);
    assert_scan(&json, ("ref", "dropped_k"), "ALL");
}

#[dyno_test(with_engine(POSTGRES))]
fn a_dropped_index_in_postgres_is_found() {
    let bench = measured(POSTGRES, "work_mem = '8MB'", "current_setting('work_mem') = '8MB'", "");
    let json = explained(&bench);
    assert_scan(&json, ("Index Scan", "dropped_k"), "Seq Scan");
}

/// The step `paced` always has a difference that reports explain.
fn reports_say_why(bench: &Bench) {
    for format in ["text", "markdown", "html", "json"] {
        let report = bench.dyno(&["report", "--full", "--format", format, "--out", "-"]).with(0);
        let said = unwrapped(&report.stdout);
        assert!(said.contains("new reads dropped by a full scan, old by index dropped"), "{format}: {said}");
        assert!(said.contains("dyno explain 1 new --test "), "{format}: {said}");
    }
}

#[dyno_test]
fn a_step_that_wants_no_plans_has_none() {
    let bench = measured("sqlite", "cache_size = '-4000'", "1 = 0", "explain = false");
    let steps = "SELECT group_concat(DISTINCT step_id) FROM statement_plan JOIN trial ON trial.id = trial_id";
    assert_eq!(bench.value(steps), Some("paced".to_owned()));
}

#[dyno_test(with_engine(OLD_MYSQL))]
fn what_a_server_does_not_explain_is_told() {
    let bench = measured(OLD_MYSQL, "sort_buffer_size = '4M'", "@@sort_buffer_size = 4194304", "");
    let json = explained(&bench);
    let plans = &json[0]["plans"];
    assert_eq!(plans["compared"], 1, "{plans}");
    assert_eq!(plans["changes"][0]["accesses"][0]["candidate"]["how"], "ALL", "{plans}");
    let refused = plans["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 2, "of both systems: {plans}");
    for it in refused {
        assert_eq!(it["statement"], "UPDATE dropped SET c = ? WHERE id = ?");
        assert!(it["reason"].as_str().unwrap().starts_with("error 1064: "), "{it}");
    }
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
}
