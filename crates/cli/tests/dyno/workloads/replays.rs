//! The traffic of a real server: logged, imported, and replayed by a plan on two systems.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dyno_engine::testing::{installation, start_with, with_engine};
use dyno_engine::{DATABASE, HOST, Server};
use dyno_testing::dyno_test;
use rusqlite::Connection;

use crate::bench::{Bench, Ended, eventually, unwrapped};

const MARIADB: &str = "mariadb@10.11";
const MYSQL: &str = "mysql@9.7.4";
const POSTGRES: &str = "postgres@18.4";

/// A small shop: each event is a transaction that contains a prepared statement.
const WORK: &str = "
function connect() return sysbench.sql.driver():connect() end
function prepare()
  local con = connect()
  con:query('CREATE TABLE item (id INT PRIMARY KEY, stock INT, note VARCHAR(100))')
  for id = 1, 50 do con:query((\"INSERT INTO item VALUES (%d, 100, 'it''s %d')\"):format(id, id)) end
end
function cleanup() connect():query('DROP TABLE IF EXISTS item') end
function all(statements)
  return function() local con = connect() for _, statement in ipairs(statements) do con:query(statement) end end
end
sysbench.cmdline.commands = {
  prepare = { prepare }, cleanup = { cleanup },
  log_mysql = { all { 'SET GLOBAL general_log = ON' } }, end_mysql = { all { 'SET GLOBAL general_log = OFF' } },
  log_postgres = { all { 'ALTER SYSTEM SET log_min_duration_statement = 0', 'SELECT pg_reload_conf()' } },
  end_postgres = { all { 'ALTER SYSTEM RESET log_min_duration_statement', 'SELECT pg_reload_conf()' } },
}
sysbench.cmdline.options = { mysql_storage_engine = { 'of no table', 'innodb' } }
function thread_init()
  con = connect()
  read = con:prepare('SELECT note FROM item WHERE id = ?')
  id = read:bind_create(sysbench.sql.type.INT)
  read:bind_param(id)
end
function event()
  local at = sysbench.rand.uniform(1, 50)
  con:query('BEGIN')
  id:set(at)
  read:execute()
  con:query(('UPDATE item SET stock = stock - 1 WHERE id = %d'):format(at))
  con:query((\"SELECT count(*) FROM item WHERE note LIKE '%%%d'\"):format(at))
  con:query('COMMIT')
end
";

/// Runs a command of the script on a server.
fn work(bench: &Bench, server: &Server, command: &[&str]) -> Ended {
    sysbench(bench, server, "./work.lua", command)
}

fn sysbench(bench: &Bench, server: &Server, script: &str, command: &[&str]) -> Ended {
    let access = server.access();
    let is_postgres = access.engine == "postgres";
    let kind = if is_postgres { "pgsql" } else { "mysql" };
    let mut arguments = vec!["sysbench".to_owned(), script.to_owned(), format!("--db-driver={kind}")];
    arguments.extend([
        format!("--{kind}-host={HOST}"),
        format!("--{kind}-port={}", access.port),
        format!("--{kind}-user={}", access.user),
        format!("--{kind}-password={}", access.password),
        format!("--{kind}-db={DATABASE}"),
    ]);
    arguments.extend(command.iter().map(ToString::to_string));
    bench.dyno(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).with(0)
}

/// Logs 30 events of three connections on a server, and imports the log.
fn import(bench: &Bench, server: &Server, [begin, end]: [&str; 2], log: &Path) {
    bench.write("work.lua", WORK);
    work(bench, server, &["prepare"]);
    work(bench, server, &[begin]);
    work(bench, server, &["--threads=3", "--events=30", "--time=0", "run"]);
    work(bench, server, &[end]);
    eventually("the log is written", || {
        fs::read_to_string(log).is_ok_and(|text| text.matches("COMMIT").count() >= 30)
    });
    fs::copy(log, bench.path("server.log")).unwrap();
    bench.dyno(&["traffic", "import", "server.log", "--out", "mine.traffic"]).with(0);
}

/// Makes a mix of the traffic, and runs it on the server from which the traffic comes.
fn check_mix(bench: &Bench, server: &Server) {
    let told = bench.dyno(&["traffic", "mix", "mine.traffic", "--out", "mix.lua"]).with(0).stdout;
    let script = fs::read_to_string(bench.path("mix.lua")).unwrap();
    for words in ["COUNT(*) FROM item WHERE note LIKE ?", "UPDATE item SET stock = stock - ? WHERE id = ?"] {
        assert!(script.to_lowercase().contains(&words.to_lowercase()), "{words}: {script}");
    }
    // The log ends with a statement that changes more than its database. The mix leaves it out and reports this.
    assert!(told.contains("that change more than their database"), "{told}");
    let run = ["--threads=2", "--events=200", "--time=0", "run"];
    let report = sysbench(bench, server, "./mix.lua", &run).stdout;
    assert!(report.contains("ignored errors:                      0"), "{report}");
    let events = report.lines().find(|line| line.contains("total number of events:")).unwrap();
    assert!(events.ends_with(" 200"), "{report}");
    let other = bench.dyno(&["traffic", "mix", "mine.traffic", "--out", "mix.lua"]).with(1);
    assert!(other.stderr.contains("mix.lua: exists already"), "{}", other.stderr);
}

/// A plan that replays the traffic on two systems.
fn plan(old: &str, new: &str, keys: &str) -> String {
    format!(
        "name = 'replay'\ntitle = 'My traffic'\nbase = 'old'\nrounds = 1\nclients = [1]\nseconds = 1\n\
         rest_seconds_max = 0\nbetween_steps = 'restore'\n\
         [[system]]\nid = 'old'\nengine = '{old}'\n[[system]]\nid = 'new'\nengine = '{new}'\n\
         [[step]]\nid = 'load'\ncommand = 'prepare'\nworkload = './work.lua'\n\
         [[step]]\nid = 'mine'\nworkload = 'traffic'\ntraffic = 'mine.traffic'\n{keys}\n"
    )
}

/// The number of statements of each digest.
fn by_digest(file: &Path, sql: &str) -> BTreeMap<String, i64> {
    let connection = Connection::open(file).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Checks that each system received the statements of the log, except those that change more than their database.
fn check_counts(bench: &Bench) {
    let logged = by_digest(&bench.path("mine.traffic"), "SELECT hash, statements FROM digest");
    let total: i64 = logged.values().sum();
    for system in ["old", "new"] {
        let replayed = by_digest(
            &bench.path("dyno.db"),
            &format!(
                "SELECT digest, statements FROM replayed_digest JOIN trial ON trial.id = trial_id \
                 WHERE step_id = 'mine' AND system_id = '{system}'"
            ),
        );
        for (digest, statements) in &replayed {
            assert_eq!(logged.get(digest), Some(statements), "{system}: {digest}");
        }
        let of_trial = format!("FROM trial WHERE step_id = 'mine' AND system_id = '{system}'");
        let not_sent: i64 =
            bench.value(&format!("SELECT replay ->> '$.not_sent.server' {of_trial}")).unwrap();
        assert!(not_sent >= 1, "the statement that ended the log");
        assert_eq!(replayed.values().sum::<i64>() + not_sent, total, "{system}");
        assert_eq!(bench.value(&format!("SELECT replay ->> '$.sessions_lost' {of_trial}")), Some(0));
        assert_eq!(bench.value(&format!("SELECT errors {of_trial}")), Some(0));
        let events: i64 = bench.value(&format!("SELECT events {of_trial}")).unwrap();
        assert_eq!(events, replayed.values().sum::<i64>());
    }
    let updates =
        "SELECT count(*) FROM replayed_digest WHERE statement LIKE 'UPDATE item%' AND rows_affected = 30";
    assert_eq!(bench.value(updates), Some(2));
}

fn check_report(bench: &Bench) {
    let report = unwrapped(&bench.dyno(&["report", "--full"]).with(0).stdout);
    for words in [
        "Statements of the traffic",
        "UPDATE item SET stock = stock - ? WHERE id = ?",
        "not sent: they change more than their database",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    let json = bench.dyno(&["report", "--format", "json"]).with(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let digests = json["replays"][0]["digests"].as_array().unwrap();
    let update = digests.iter().find(|digest| digest["kind"] == "write").unwrap();
    assert_eq!(update["systems"][0]["statements"], 30, "{update}");
    assert!(update["systems"][1]["against_base"]["ratio"].as_f64().unwrap() > 0.0, "{update}");
    bench.dyno(&["report", "--format", "html"]).with(0);
    let page = fs::read_to_string(bench.path("replay-1.html")).unwrap();
    assert!(page.contains("Statements of the traffic"));
}

#[dyno_test(with_engine(MARIADB))]
fn traffic_of_mariadb_is_replayed_on_two_products() {
    let bench = Bench::new();
    let data = tempfile::tempdir().unwrap();
    let settings = [("general_log_file", "general.log"), ("log_output", "FILE")];
    let server = start_with(&installation(MARIADB).unwrap(), data.path(), &settings);
    let log = server.access().datadir.join("general.log");
    import(&bench, &server, ["log_mysql", "end_mysql"], &log);
    check_mix(&bench, &server);
    drop(server);
    let keys = "pace = 'closed'\nclients = [2]";
    bench.write("plan.toml", &plan("mariadb@10.11/innodb", &format!("{MYSQL}/innodb"), keys));
    bench.dyno(&["run", "plan.toml"]).with(0);
    check_counts(&bench);
    check_report(&bench);
}

#[dyno_test(with_engine(POSTGRES))]
fn traffic_of_postgres_is_replayed_with_its_parameters() {
    let bench = Bench::new();
    let data = tempfile::tempdir().unwrap();
    let settings = [
        ("logging_collector", "on"),
        ("log_destination", "csvlog"),
        ("log_directory", "log"),
        ("log_filename", "postgresql.log"),
    ];
    let server = start_with(&installation(POSTGRES).unwrap(), data.path(), &settings);
    let log = server.access().datadir.join("log/postgresql.csv");
    import(&bench, &server, ["log_postgres", "end_postgres"], &log);
    check_mix(&bench, &server);
    drop(server);
    let bound = "SELECT 'bound', count(*) FROM statement WHERE bound IS NOT NULL";
    assert_eq!(by_digest(&bench.path("mine.traffic"), bound)["bound"], 30);
    bench.write("plan.toml", &plan(POSTGRES, POSTGRES, "pace = 10"));
    bench.dyno(&["run", "plan.toml"]).with(0);
    check_counts(&bench);
    check_report(&bench);
}

#[dyno_test(with_engine(MARIADB))]
fn mistakes_of_a_replay_are_told_with_their_place() {
    let bench = Bench::new();
    bench.write("work.lua", WORK);
    let entry = "2026-11-27T10:00:00.000000Z\t    1 Query\tSELECT 1\n";
    bench.write("server.log", entry);
    bench.dyno(&["traffic", "import", "server.log", "--out", "mine.traffic"]).with(0);
    let mariadb = "mariadb@10.11/innodb";
    for (keys, words) in [
        ("pace = 11", "`pace` must be from 0.1 to 10"),
        ("pace = 'fast'", "`pace`"),
        ("clients = [2]", "as many sessions at the same time as the traffic had"),
        ("rate = 5", "a replay has no `rate`; leave it out"),
        ("warmup_seconds = 1", "a replay has no `warmup_seconds`; leave it out"),
    ] {
        bench.write("plan.toml", &plan(mariadb, mariadb, keys));
        let refused = bench.dyno(&["run", "plan.toml", "--dry-run"]);
        assert_ne!(refused.status, Some(0), "{keys}");
        assert!(
            refused.stderr.contains(words) && refused.stderr.contains("plan.toml:"),
            "{}",
            refused.stderr
        );
    }
    for (new, words) in [
        ("traffic = 'none'", "none: no such traffic file"),
        ("traffic = 'work.lua'", "work.lua: not a traffic file"),
        ("", "a replay needs `traffic`"),
    ] {
        let text = plan(mariadb, mariadb, "").replace("traffic = 'mine.traffic'", new);
        bench.write("plan.toml", &text);
        let refused = bench.dyno(&["run", "plan.toml", "--dry-run"]);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    bench.write("plan.toml", &plan(mariadb, POSTGRES, ""));
    let refused = bench.dyno(&["run", "plan.toml", "--dry-run"]);
    assert!(refused.stderr.contains("is traffic of MySQL or MariaDB"), "{}", refused.stderr);
    let running = plan(mariadb, mariadb, "").replacen(
        &format!("engine = '{mariadb}'"),
        "dsn = 'mysql://root@127.0.0.1:1/shop'",
        1,
    );
    bench.write("plan.toml", &running);
    let refused = bench.dyno(&["run", "plan.toml", "--dry-run"]);
    assert!(refused.stderr.contains("write `allow = [\"dsn\"]` if it may"), "{}", refused.stderr);
    let outside = plan(mariadb, mariadb, "").replace("workload = 'traffic'", "workload = 'oltp_insert'");
    bench.write("plan.toml", &outside);
    let refused = bench.dyno(&["run", "plan.toml", "--dry-run"]);
    assert!(refused.stderr.contains("`traffic` is for replays"), "{}", refused.stderr);
}
