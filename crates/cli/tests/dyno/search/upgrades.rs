//! `dyno upgrade` on real servers. Regressions that were planted are found, and an upgrade to the same version is
//! safe.

use std::fmt::Write as _;
use std::fs;

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::{Bench, unwrapped};

const MARIADB: &str = "mariadb@10.5/innodb";
const POSTGRES: &str = "postgres@14.23";

/// Options for the fewest rounds that can give a verdict.
const QUICK: [&str; 6] = ["--traffic", "mine.traffic", "--rounds", "6", "--margin", "50%"];

/// The rows of two tables: 200 items, and 6,000 sales of about half of the items. Sales have no index on the item.
fn rows(table: &str) -> Vec<String> {
    match table {
        "item" => (1..=200).map(|id| format!("({id},{},'it''s {id}')", id % 7)).collect(),
        _ => (1..=6000).map(|id| format!("({id},{},{})", id % 97, id % 11)).collect(),
    }
}

/// A dump of a shop, with a column of this name.
fn dump(column: &str) -> String {
    format!(
        "-- a dump\nCREATE TABLE item (id INT PRIMARY KEY, {column} INT, note VARCHAR(40));\n\
         CREATE TABLE sale (id INT PRIMARY KEY, item INT, amount INT);\n\
         INSERT INTO item VALUES {};\nINSERT INTO sale VALUES {};\n",
        rows("item").join(","),
        rows("sale").join(",")
    )
}

/// A query whose plan depends on settings. Without materialization of the subquery, MariaDB reads more rows.
/// PostgreSQL reads the same rows with the settings of its test.
const OTHER_PLAN: &str =
    "SELECT count(*) FROM item WHERE id NOT IN (SELECT item FROM sale WHERE amount > 5 AND item IS NOT NULL)";
const HARMLESS: &str = "SELECT note FROM item WHERE id = 7";
const WRITE: &str = "UPDATE item SET note = 'changed' WHERE id = 9";

/// Writes the log of a server that executed each of the statements five times, and imports it.
fn import(bench: &Bench, statements: &[&str], entry: impl Fn(&str) -> String) {
    let mut log = String::new();
    for _ in 0..5 {
        for statement in statements {
            let _ = writeln!(log, "{}", entry(statement));
        }
    }
    bench.write("server.log", &log);
    bench.dyno(&["traffic", "import", "server.log", "--out", "mine.traffic"]).with(0);
}

fn of_mysql(statement: &str) -> String {
    format!("2026-11-27T10:00:00.000000Z\t    1 Query\t{statement}")
}

fn of_postgres(statement: &str) -> String {
    format!("2026-11-27 13:22:21.500 UTC 77 6747.4d LOG:  statement: {statement}")
}

/// The statements of a list of the report.
fn listed(report: &Value, list: &str) -> Vec<String> {
    let digests = report["replay"]["digests"].as_array().unwrap();
    let places = report["found"][list]["digests"].as_array().unwrap();
    places
        .iter()
        .map(|at| digests[at.as_u64().unwrap() as usize]["statement"].as_str().unwrap().to_owned())
        .collect()
}

/// The rows that each version read for an example of the first digest with these words.
fn rows_examined(report: &Value, words: &str) -> [u64; 2] {
    let digests = report["replay"]["digests"].as_array().unwrap();
    let is_it = |digest: &&Value| digest["statement"].as_str().unwrap().contains(words);
    let systems = &digests.iter().find(is_it).unwrap()["systems"];
    [0, 1].map(|system| systems[system]["rows_examined"].as_u64().unwrap())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[dyno_test(with_engine(MARIADB))]
fn planted_regressions_of_mariadb_are_found() {
    let bench = Bench::new();
    bench.write("shop.sql", &dump("`offset`"));
    // In the later version this is so much slower that a busy host cannot hide it.
    let slower = "SELECT SLEEP(IF(VERSION() LIKE '10.%', 0, 0.5)) FROM item WHERE id = 8";
    let fails = "SELECT offset FROM item WHERE id = 3";
    let otherwise = "SELECT note || 'x' FROM item WHERE id = 4";
    let changes = "SELECT note, NOW(6), RAND() FROM item WHERE id = 5";
    let changed_after = "SELECT id, note FROM item WHERE id = 6";
    bench.write("after.sql", "UPDATE item SET note = 'after' WHERE id = 6;\n");
    import(
        &bench,
        &[OTHER_PLAN, slower, HARMLESS, WRITE, fails, otherwise, changes, changed_after],
        of_mysql,
    );
    let to = "mariadb@11.8/innodb optimizer_switch=semijoin=off,materialization=off sql_mode=PIPES_AS_CONCAT";
    let data = ["--data", "shop.sql", "--after", "after.sql", "--format", "json"];
    let line = [&["upgrade", MARIADB, to][..], &data, &QUICK].concat();
    let report = json(&bench.dyno(&line).with(1).stdout);
    assert_eq!(report["safety"], "not_safe");
    assert_eq!(listed(&report, "failed"), ["SELECT OFFSET FROM item WHERE id = ?"]);
    assert!(listed(&report, "slower").iter().any(|it| it.to_lowercase().contains("sleep(")), "{report}");
    let [before, after] = rows_examined(&report, "NOT IN");
    assert!(before > 6000 && after > 10 * before, "{before} rows, then {after}");
    assert_eq!(rows_examined(&report, "SELECT note FROM item"), [1, 1]);
    let other = listed(&report, "answers_otherwise");
    assert_eq!(other.len(), 2, "{other:?}");
    assert!(other.iter().any(|it| it.contains("||")), "{other:?}");
    assert!(other.contains(&"SELECT id, note FROM item WHERE id = ?".to_owned()), "{other:?}");
    assert!(
        report["found"]["answers_not_determined"].as_u64().unwrap() >= 1,
        "NOW() says something else each time"
    );
    let data = report["to"]["data"].as_str().unwrap();
    assert!(data.starts_with("upgraded in place"), "{data}");
    assert!(data.contains(", then changed by ") && data.ends_with("after.sql"), "{data}");
    assert!(report["to"]["version"].as_str().unwrap().starts_with("11.8"), "{}", report["to"]);
    assert!(report["settings"].as_array().unwrap().len() > 5);
    let proof = report["proof"].as_str().unwrap_or_default();
    assert!(
        proof.starts_with("dyno explain 1 ") && proof.contains(" --test traffic --clients 1 --prove"),
        "{proof}"
    );
    let page = fs::read_to_string(bench.path("upgrade-1.html")).unwrap();
    assert!(page.contains("is not safe") && page.contains("Slower digests"), "the page");
}

#[dyno_test(with_engine(POSTGRES))]
fn planted_regressions_of_postgres_are_found() {
    let bench = Bench::new();
    bench.write("shop.sql", &dump("\"system_user\""));
    let slower =
        "SELECT count(pg_sleep(CASE WHEN current_setting('server_version') LIKE '14%' THEN 0 ELSE 0.5 END))";
    let fails = "SHOW old_snapshot_threshold";
    // `system_user` is a column before version 16 of PostgreSQL, and a function since.
    let otherwise = "SELECT system_user FROM item WHERE id = 4";
    import(&bench, &[OTHER_PLAN, slower, HARMLESS, WRITE, fails, otherwise], of_postgres);
    let to = "postgres@18.4 work_mem=64kB hash_mem_multiplier=1";
    let line = [&["upgrade", POSTGRES, to, "--data", "shop.sql", "--reload", "--format", "json"][..], &QUICK]
        .concat();
    let report = json(&bench.dyno(&line).with(1).stdout);
    assert_eq!(listed(&report, "failed").len(), 1, "a setting that is gone: {report}");
    assert!(listed(&report, "slower").iter().any(|it| it.to_lowercase().contains("sleep(")), "{report}");
    assert_eq!(rows_examined(&report, "NOT IN"), [6200, 6200], "both read each row once");
    assert_eq!(
        rows_examined(&report, "SELECT note FROM item"),
        [200, 200],
        "a table of few pages is scanned"
    );
    let other = listed(&report, "answers_otherwise");
    assert!(other.iter().any(|it| it.to_lowercase().contains("system_user")), "{other:?}");
    assert!(report["to"]["version"].as_str().unwrap().starts_with("18."), "{}", report["to"]);
}

#[dyno_test(with_engine(MARIADB))]
fn an_upgrade_to_the_same_version_is_safe() {
    let bench = Bench::new();
    bench.write("shop.sql", &dump("kind"));
    // The host of tests is busy. Statements take so long that the delay by other tests stays within the wide margin.
    let read = "SELECT note, SLEEP(0.1) FROM item WHERE id = 7";
    let count = "SELECT count(*), SLEEP(0.1) FROM sale";
    let write = "UPDATE item SET note = CONCAT('changed', SLEEP(0.1)) WHERE id = 9";
    import(&bench, &[read, count, write], of_mysql);
    let line = [
        "upgrade",
        MARIADB,
        MARIADB,
        "--data",
        "shop.sql",
        "--traffic",
        "mine.traffic",
        "--rounds",
        "6",
        "--margin",
        "900%",
    ];
    let text = unwrapped(&bench.dyno(&line).with(0).stdout);
    assert!(text.contains("is safe for this traffic"), "{text}");
    assert!(text.contains("used as it is, because both versions have the same format"), "{text}");
    assert!(text.contains("The answers of 3 digests were compared."), "{text}");
    // The data of the old version is kept, so the same command loads nothing again.
    let again = bench.dyno(&line).with(0);
    assert!(!again.stderr.contains("loading"), "{}", again.stderr);
}

#[dyno_test(with_engine(MARIADB))]
fn a_server_that_refuses_the_data_is_an_answer() {
    let bench = Bench::new();
    import(&bench, &[HARMLESS], of_mysql);
    let line = [&["upgrade", MARIADB, "mariadb@11.8/innodb no_such_setting=1"][..], &QUICK].concat();
    let text = unwrapped(&bench.dyno(&line).with(1).stdout);
    assert!(text.contains("does not take the data of") && text.contains("no_such_setting"), "{text}");
    let line = [&["upgrade", "mariadb@11.8/innodb", MARIADB][..], &QUICK].concat();
    let text = unwrapped(&bench.dyno(&line).with(1).stdout);
    assert!(text.contains("No server reads the data of a later version."), "{text}");
    assert!(bench.path("upgrade-refused.html").exists());
}

#[dyno_test(with_engine(MARIADB))]
fn what_cannot_be_upgraded_is_told() {
    let bench = Bench::new();
    import(&bench, &[HARMLESS], of_mysql);
    bench.write("broken.sql", "CREATE TABLE t (i INT);\n\nINSERT INTO nowhere VALUES (1);\n");
    let line = |from: &str, more: &[&str]| {
        let ended =
            bench.dyno(&[&["upgrade", from, "mariadb@11.8/innodb"][..], &QUICK, more].concat()).with(2);
        unwrapped(&ended.stderr)
    };
    assert!(line("mysql://root@127.0.0.1/x", &[]).contains("a server that runs already cannot be upgraded"));
    let broken = line(MARIADB, &["--data", "broken.sql"]);
    assert!(
        broken.contains("broken.sql:3: the server says") && broken.contains("INSERT INTO nowhere"),
        "{broken}"
    );
    let broken = line(MARIADB, &["--after", "broken.sql"]);
    assert!(broken.contains("its data cannot be changed") && broken.contains("broken.sql:3: "), "{broken}");
    assert!(line(MARIADB, &["--data", "nothing.sql"]).contains("nothing.sql"));
    assert!(line(MARIADB, &["--data", ".", "--reload"]).contains("a folder is data of one version"));
    assert!(line(MARIADB, &["--data", "."]).contains("is not a data folder of mariadb: it has no ibdata1"));
    let plan =
        bench.dyno(&[&["upgrade", MARIADB, "mariadb@11.8/innodb", "--print-plan"][..], &QUICK].concat());
    let plan = plan.with(0).stdout;
    assert!(plan.contains("upgrade_of = \"mariadb@10.5/innodb\""), "{plan}");
    bench.write("mine.toml", &plan);
    bench.dyno(&["run", "mine.toml", "--dry-run"]).with(0);
}
