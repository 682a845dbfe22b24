//! Servers that run already: a load never drops a table that Dyno did not make.

use std::fs;
use std::process::Child;

use dyno_engine::testing::server_test;
use dyno_engine::{Access, DATABASE, Dsn, Remote, Server};
use dyno_testing::{Trial, dyno_test};
use rustix::process::Signal;

use crate::bench::{Bench, Ended, eventually, finish, press_ctrl_c, send};

const SYSTEMS: [&str; 3] = ["mariadb@10.11", "mysql@9.7.4", "postgres@18.4"];

/// The tables of a run that keeps its data.
const KEPT: &str = "dyno_mark, sbtest1, sbtest2";

/// Makes a test for a running server of each system.
fn with_place(name: &str, test: fn(&Place<'_>)) -> Vec<Trial> {
    let on_system = |system| server_test(name, system, move |server| test(&Place::new(server)));
    SYSTEMS.map(on_system).into()
}

/// A server that runs already, and a folder to run `dyno` in.
struct Place<'a> {
    server: &'a Server,
    bench: Bench,
}

impl<'a> Place<'a> {
    fn new(server: &'a Server) -> Self {
        let bench = Bench::new();
        bench.write("secret", &format!("{}\n", server.access().password));
        Self { server, bench }
    }

    /// `dyno doctor` tries no step on a server that runs already, even if a run may drop tables there.
    fn doctor(&self) -> Ended {
        self.bench.dyno(&["doctor", "plan.toml", "--seconds", "0.1"])
    }

    fn is_postgres(&self) -> bool {
        self.server.access().engine == "postgres"
    }

    /// The server's address without the name of a database.
    fn server_address(&self) -> String {
        let Access { user, port, .. } = self.server.access();
        let scheme = if self.is_postgres() { "postgres" } else { "mariadb" };
        format!("{scheme}://{user}:${{file:secret}}@127.0.0.1:{port}")
    }

    fn address(&self) -> String {
        format!("{}/{DATABASE}", self.server_address())
    }

    /// Writes a plan that loads tables and reads them.
    fn plan(&self, address: &str, keys: &str, seconds: f64, more: &str) {
        let secret = self.bench.path("secret");
        let address = address.replace("file:secret", &format!("file:{}", secret.display()));
        self.bench.write(
            "plan.toml",
            &format!(
                "name = 'precious'\ntitle = 'Precious'\nbase = 'a'\nrounds = 1\nclients = [1]\nseconds = {seconds}\n\
                 [data]\ntables = 2\nrows = 100\n[[system]]\nid = 'a'\ndsn = '{address}'\n{keys}\n\
                 [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
                 [[step]]\nid = 'read'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n{more}"
            ),
        );
    }

    fn query(&self, sql: &str) {
        self.server.query(sql).unwrap();
    }

    fn one(&self, sql: &str) -> String {
        let rows = self.server.query(sql).unwrap().rows;
        rows.into_iter().flatten().flatten().collect::<Vec<_>>().join(", ")
    }

    /// All tables of the database, in order.
    fn tables(&self) -> String {
        let schema = if self.is_postgres() { "'public'" } else { "DATABASE()" };
        self.one(&format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = {schema} ORDER BY table_name"
        ))
    }

    fn databases(&self) -> String {
        self.one(if self.is_postgres() {
            "SELECT datname FROM pg_database WHERE datname LIKE 'dyno%'"
        } else {
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'dyno%'"
        })
    }

    fn make_precious(&self) {
        self.query("CREATE TABLE sbtest1 (id INT, precious VARCHAR(20))");
        self.query("INSERT INTO sbtest1 VALUES (1, 'a life''s work')");
    }

    #[track_caller]
    fn assert_is_precious(&self) {
        assert_eq!(self.one("SELECT precious FROM sbtest1 WHERE id = 1"), "a life's work");
    }

    /// Starts a run, and waits until it has loaded.
    fn start(&self) -> Child {
        self.bench.start_until(&["run", "plan.toml"], 1)
    }
}

#[dyno_test(with_place)]
fn what_is_not_dynos_is_neither_dropped_nor_loaded_over(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.make_precious();
    place.query("CREATE VIEW customers AS SELECT 1 AS one");
    place.plan(&place.address(), "", 0.1, "");
    let before = place.tables();
    for arguments in [&["run", "plan.toml"][..], &["run", "plan.toml", "--dry-run"]] {
        let refused = bench.dyno(arguments).with(1);
        let words = "holds what no run of Dyno has made, and a load could drop it: view customers, sbtest1; ";
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
        let all = refused.stderr + &refused.stdout;
        assert!(all.contains("system `a`") && all.contains("may_drop = true"), "{all}");
        assert!(!all.contains(&place.server.access().password), "{all}");
        place.assert_is_precious();
        assert_eq!(place.tables(), before);
    }
    assert_eq!(bench.count("trial"), 0);
    let said = place.doctor().with(1).stdout;
    assert!(said.contains("contains objects that Dyno did not create: view customers, sbtest1"), "{said}");
    place.assert_is_precious();
    assert_eq!(place.tables(), before);
    // A run that resumes also finds objects that appeared while it was interrupted.
    place.query("DROP VIEW customers");
    place.query("DROP TABLE sbtest1");
    place.plan(&place.address(), "", 60.0, "");
    let started = place.start();
    press_ctrl_c(&started);
    finish(started).with(130);
    place.make_precious();
    let resumed = bench.dyno(&["run", "plan.toml", "--resume"]).with(1);
    assert!(resumed.stderr.contains("a load could drop it: sbtest1;"), "{}", resumed.stderr);
    place.assert_is_precious();
}

#[dyno_test(with_place)]
fn what_may_be_dropped_is_replaced_and_the_rest_stays(place: &Place<'_>) {
    let Place { bench, .. } = place;
    let make = || {
        place.make_precious();
        place.query("CREATE TABLE customers (id INT)");
        place.query("INSERT INTO customers VALUES (7)");
    };
    make();
    place.plan(&place.address(), "may_drop = true", 0.1, "");
    let shown = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0).stdout;
    let words = "the loads may drop objects that Dyno did not create: customers, sbtest1; the tables of the loads are dropped";
    assert!(shown.contains(words), "{shown}");
    place.assert_is_precious();
    let said = place.doctor().stdout;
    assert!(said.contains(words) && said.contains("steps       not tried"), "{said}");
    place.assert_is_precious();
    let ran = bench.dyno(&["run", "plan.toml"]).with(0);
    assert!(
        ran.stderr.contains("may drop objects that Dyno did not create: customers, sbtest1"),
        "{}",
        ran.stderr
    );
    assert_eq!((place.tables().as_str(), place.one("SELECT id FROM customers").as_str()), ("customers", "7"));
    // The option `--may-drop` has the same effect as the key of the plan.
    place.query("DROP TABLE customers");
    make();
    place.plan(&place.address(), "", 0.1, "");
    bench.dyno(&["run", "plan.toml"]).with(1);
    bench.dyno(&["run", "plan.toml", "--may-drop"]).with(0);
    assert_eq!(place.tables(), "customers");
}

#[dyno_test(with_place)]
fn what_dyno_made_is_dropped_or_kept(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.plan(&place.address(), "", 0.1, "");
    let shown = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0).stdout;
    assert!(shown.contains(": empty; the tables of the loads are dropped at the end"), "{shown}");
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!(place.tables(), "");
    place.plan(&place.address(), "keep_data = true", 0.1, "");
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!((place.tables().as_str(), place.one("SELECT count(*) FROM sbtest1").as_str()), (KEPT, "100"));
    // Tables that an earlier run of Dyno kept belong to Dyno. Objects that others made later do not.
    place.plan(&place.address(), "", 0.1, "");
    let shown = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0).stdout;
    assert!(
        shown.contains("the loads replace objects that earlier runs of Dyno created: sbtest1, sbtest2;"),
        "{shown}"
    );
    place.doctor();
    assert_eq!((place.tables().as_str(), place.one("SELECT count(*) FROM sbtest1").as_str()), (KEPT, "100"));
    place.query("CREATE TABLE mine (id INT)");
    let refused = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(refused.stderr.contains("a load could drop it: mine;"), "{}", refused.stderr);
    assert_eq!(place.tables(), "dyno_mark, mine, sbtest1, sbtest2");
    place.query("DROP TABLE mine");
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!(place.tables(), "");
}

#[dyno_test(with_place)]
fn a_database_that_is_not_named_is_dynos_own(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.make_precious();
    place.plan(&place.server_address(), "", 0.1, "");
    let shown = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0).stdout;
    assert!(shown.contains("Dyno creates a database for the run and drops it at the end"), "{shown}");
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'completed'"), Some(2));
    place.assert_is_precious();
    assert_eq!((place.databases().as_str(), place.tables().as_str()), ("", "sbtest1"));
    // After a killed run, the next run removes the databases of the killed one.
    place.plan(&place.server_address(), "", 60.0, "");
    let mut killed = bench.start_until(&["run", "plan.toml"], 3);
    let Access { user, password, port, engine, .. } = place.server.access();
    let scheme = if engine == "postgres" { "postgres" } else { "mariadb" };
    let own = format!("{scheme}://{user}:{password}@127.0.0.1:{port}/{}", place.databases());
    eventually("its tables are noted", || {
        let remote = Remote::connect(&Dsn::parse(&own).unwrap()).unwrap();
        let rows = remote.query("SELECT count(*) FROM dyno_mark").unwrap().rows;
        rows[0][0].as_deref() == Some("4")
    });
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(place.databases().starts_with("dyno_"), "{}", place.databases());
    eventually("the load process has ended", || bench.processes().is_empty());
    place.plan(&place.server_address(), "", 0.1, "");
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!(place.databases(), "");
    // Without the right to create a database, the run fails with a message.
    if place.is_postgres() {
        place.query("CREATE ROLE poor LOGIN PASSWORD 'poor'");
    } else {
        place.query("CREATE USER poor@'%' IDENTIFIED BY 'poor'");
    }
    bench.write("secret", "poor\n");
    let address = place.server_address().replace(&format!("//{}:", place.server.access().user), "//poor:");
    place.plan(&address, "", 0.1, "");
    let refused = bench.dyno(&["run", "plan.toml"]).with(1);
    let words = "name an empty database in the dsn, or let the account make databases";
    assert!(
        refused.stderr.contains("cannot make a database on") && refused.stderr.contains(words),
        "{}",
        refused.stderr
    );
    // Without a named database, the plan cannot keep data.
    place.plan(&place.server_address(), "keep_data = true", 0.1, "");
    let refused = bench.dyno(&["run", "plan.toml"]);
    assert!(refused.stderr.contains("`keep_data` needs a database"), "{}", refused.stderr);
}

#[dyno_test(with_place)]
fn a_table_that_was_made_again_is_not_dynos(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.plan(&place.address(), "keep_data = true", 0.1, "");
    bench.dyno(&["run", "plan.toml"]).with(0);
    place.query("DROP TABLE sbtest1");
    place.make_precious();
    for arguments in [&["run", "plan.toml"][..], &["run", "plan.toml", "--dry-run"]] {
        let refused = bench.dyno(arguments).with(1);
        assert!(refused.stderr.contains("a load could drop it: sbtest1;"), "{}", refused.stderr);
        place.assert_is_precious();
    }
}

#[dyno_test(with_place)]
fn what_a_stopped_or_failed_run_made_is_dropped(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.plan(&place.address(), "", 60.0, "");
    let started = place.start();
    assert_eq!(place.tables(), "dyno_mark, sbtest1, sbtest2");
    press_ctrl_c(&started);
    finish(started).with(130);
    assert_eq!(place.tables(), "");
    place.plan(&place.address(), "", 0.1, "after = 'exit 3'\n");
    bench.dyno(&["run", "plan.toml"]).with(1);
    assert_eq!(place.tables(), "");
    // Objects that a script made at its top level are dropped too, even if the script failed there.
    bench.write(
        "top.lua",
        "local con = sysbench.sql.driver():connect() con:query('CREATE TABLE top (id INT)') error('enough')",
    );
    let step = "[[step]]\nid = 'top'\ngroup = 'reads'\nworkload = 'top.lua'\noperation = 'query'\n";
    place.plan(&place.address(), "", 0.1, step);
    let failed = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(failed.stderr.contains("enough"), "{}", failed.stderr);
    assert_eq!(place.tables(), "");
}

#[dyno_test(with_place)]
fn what_a_killed_run_made_is_dropped_by_the_next(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.plan(&place.address(), "", 60.0, "");
    let mut killed = place.start();
    // After a load, Dyno needs a second or two to record the objects that the load has made.
    eventually("its tables are noted", || place.one("SELECT count(*) FROM dyno_mark") == "3");
    killed.kill().unwrap();
    killed.wait().unwrap();
    eventually("the load process has ended", || bench.processes().is_empty());
    assert_eq!(place.tables(), "dyno_mark, sbtest1, sbtest2");
    place.plan(&place.address(), "", 0.1, "");
    let shown = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0).stdout;
    assert!(
        shown.contains("the loads replace objects that earlier runs of Dyno created: sbtest1, sbtest2;"),
        "{shown}"
    );
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!(place.tables(), "");
}

#[dyno_test(with_place)]
fn one_run_at_a_time_has_a_database(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.plan(&place.address(), "", 60.0, "");
    let first = place.start();
    let refused = bench.dyno(&["run", "plan.toml", "--results", "other.db"]).with(1);
    assert!(refused.stderr.contains("another run of Dyno uses the database sbtest"), "{}", refused.stderr);
    let refused = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(1);
    assert!(refused.stderr.contains("another run of Dyno uses the database sbtest"), "{}", refused.stderr);
    assert_eq!(place.one("SELECT count(*) FROM sbtest2"), "100");
    send(first.id(), Signal::INT);
    finish(first).with(130);
    assert_eq!(place.tables(), "");
}

/// A table that somebody else makes during a run is not dropped. In a run that loads in every round, the next load
/// fails because of this table.
#[dyno_test(with_place)]
fn what_others_make_meanwhile_stays(place: &Place<'_>) {
    let Place { bench, .. } = place;
    place.plan(&place.address(), "", 60.0, "");
    let started = place.start();
    place.query("CREATE TABLE mine (id INT)");
    press_ctrl_c(&started);
    let ended = finish(started).with(130);
    assert_eq!(place.tables(), "mine");
    assert!(ended.stderr.contains("left in the database sbtest"), "{}", ended.stderr);
    place.query("DROP TABLE mine");
    place.plan(
        &place.address(),
        "",
        0.1,
        "before = 'touch here; while [ ! -e made ]; do sleep 0.05; done'\n",
    );
    let plan = fs::read_to_string(bench.path("plan.toml")).unwrap();
    let twice = plan.replace("rounds = 1", "rounds = 2\nload = 'every-round'");
    bench.write("plan.toml", &twice);
    let started = bench.start_until(&["run", "plan.toml"], 1);
    eventually("the first load is over", || bench.path("here").exists());
    place.query("CREATE TABLE mine (id INT)");
    bench.write("made", "");
    let ended = finish(started).with(1);
    assert_eq!(place.tables(), "mine");
    let failed = "SELECT message FROM trial WHERE outcome = 'failed' AND step_id = 'load'";
    let message: Option<String> = bench.value(failed);
    let words = "contains objects that were not there when the run began and that Dyno did not create: mine";
    assert!(message.as_ref().is_some_and(|message| message.contains(words)), "{message:?} {}", ended.stderr);
}
