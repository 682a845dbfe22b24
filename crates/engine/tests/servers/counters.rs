//! Tests that the counters of real servers grow by the expected numbers when the servers work, and that reading the
//! counters of a server that is gone is an error.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dyno_engine::testing::{Signal, pause, send, servers};
use dyno_engine::{CounterChange, CounterKind, CounterReading, Counters, Depth, Family, Server};
use dyno_testing::dyno_test;

use crate::leftovers::wait_until;
use crate::{ALL_VERSIONS, ENGINES};

const PATIENCE: Duration = Duration::from_secs(20);
const ROWS: i64 = 50;

/// A system in addition to the engines: a storage engine with counters of its own.
const MYROCKS: &str = "mariadb@10.11/rocksdb";

#[dyno_test(servers(ENGINES))]
#[dyno_test(servers(&[MYROCKS]))]
fn reading_a_killed_server_fails_and_does_not_hang(server: &mut Server) {
    let mut counters = connect(server, PATIENCE);
    counters.read(Depth::Light).unwrap();
    send(server.access().pid, Signal::KILL);
    wait_until("the server is dead", || !server.is_alive());
    counters.read(Depth::Light).unwrap_err();
}

#[dyno_test(servers(ENGINES))]
#[dyno_test(servers(&[MYROCKS]))]
fn reading_a_stopped_server_fails_and_does_not_hang(server: &mut Server) {
    let mut counters = connect(server, Duration::from_millis(300));
    pause(server.access().pid);
    let began = Instant::now();
    let error = counters.read(Depth::Light).unwrap_err();
    assert!(began.elapsed() < PATIENCE, "{error}");
}

#[dyno_test(servers(&["mariadb@10.11/innodb"]))]
fn mariadb_counts_what_was_done(server: &mut Server) {
    let change = of_work_of_mysql(server);
    assert_eq!(change["innodb_metrics.log_waits"], 0);
    assert!(change["innodb_metrics.buffer_pool_read_requests"] > 0);
}

#[dyno_test(servers(&["mysql@5.6.24"]))]
fn mysql_counts_what_was_done(server: &mut Server) {
    let change = of_work_of_mysql(server);
    assert_eq!(change["innodb_metrics.dml_inserts"], ROWS);
    let log = "file_summary_by_event_name.wait/io/file/innodb/innodb_log_file COUNT_WRITE";
    // There may be fewer writes of the log than commits, because a background thread may write the log for several
    // commits at once.
    assert!(change[log] >= ROWS / 2, "{}", change[log]);
}

#[dyno_test(servers(&[MYROCKS]))]
fn myrocks_counts_what_was_done(server: &mut Server) {
    let change = of_work_of_mysql(server);
    assert_eq!(change["global_status.Rocksdb_rows_inserted"], ROWS);
    assert!(change["rocksdb_cfstats.default/NUM_ENTRIES_ACTIVE_MEM_TABLE"] >= ROWS);
    assert_eq!(change["rocksdb_compaction_stats.default/Sum/KeyDrop"], 0);
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn postgres_counts_what_was_done(server: &mut Server) {
    let change = of_work(server);
    // The server updates this view at least once a second.
    assert!(change["pg_stat_database.tup_inserted"] >= ROWS, "{change:?}");
    assert!(change["pg_stat_database.xact_commit"] >= ROWS);
    assert!(change["pg_stat_wal.wal_records"] >= ROWS);
    assert_eq!(change["pg_stat_user_tables.public.counted n_tup_ins"], ROWS);
    assert_eq!(change["pg_stat_user_tables.public.counted n_live_tup"], ROWS);
    assert!(change["pg_stat_io.client backend/relation/normal hits"] > 0);
    assert!(change.keys().all(|name| !name.ends_with("relid")), "{change:?}");
}

/// The change of each counter by work on MySQL or MariaDB. Asserts the changes that both have.
fn of_work_of_mysql(server: &Server) -> BTreeMap<String, i64> {
    let change = of_work(server);
    // The server also counts the queries by which the test reads counters.
    let own = change["global_status.Com_select"] - ROWS;
    assert!((0..=10).contains(&own), "{own}");
    assert_eq!(change["global_status.Com_insert"], ROWS);
    assert!(change["global_status.Handler_read_key"] >= ROWS, "{change:?}");
    assert!(change["global_status.Threads_connected"] > 0);
    change
}

fn connect(server: &Server, patience: Duration) -> Counters {
    let family = match server.access().engine.as_str() {
        "postgres" => Family::Postgres,
        "mysql" => Family::Mysql,
        _ => Family::Mariadb,
    };
    Counters::connect(family, server.access(), patience).unwrap()
}

/// Inserts and selects rows one by one, and returns the change of each counter.
fn of_work(server: &Server) -> BTreeMap<String, i64> {
    server.query("CREATE TABLE counted (id INT PRIMARY KEY, v INT)").unwrap();
    let mut counters = connect(server, PATIENCE);
    let before = counters.read(Depth::Full).unwrap();
    work(server);
    let after = counters.read(Depth::Full).unwrap();
    let change = counters.change(&before, &after);
    let whole =
        |change: &CounterChange| (counters.names()[change.id.index()].to_string(), change.value as i64);
    change.iter().map(whole).collect()
}

fn work(server: &Server) {
    let mut client = server.connect(PATIENCE).unwrap();
    for id in 0..ROWS {
        client.query(&format!("INSERT INTO counted VALUES ({id}, 0)")).unwrap();
        client.query(&format!("SELECT v FROM counted WHERE id = {id}")).unwrap();
    }
    // PostgreSQL's process for a connection reports its counts at most once a second, but always when it ends. So the
    // test ends the connection.
    drop(client);
    if server.access().engine == "postgres" {
        // Two connections remain: that of the counters' reader, and that of this query.
        let connected = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
        let alone = || server.query(connected).unwrap().rows[0][0].as_deref() == Some("2");
        wait_until("the connection is gone", alone);
    }
}

#[dyno_test(servers(ALL_VERSIONS))]
#[dyno_test(servers(&[MYROCKS]))]
fn no_counter_falls_while_the_server_works(server: &mut Server) {
    server.query("CREATE TABLE counted (id INT PRIMARY KEY, v INT)").unwrap();
    let mut counters = connect(server, PATIENCE);
    let mut earlier = counters.read(Depth::Full).unwrap();
    assert!(counters.names().len() > 20, "{:?}", counters.names());
    for _ in 0..3 {
        work(server);
        server.query("UPDATE counted SET v = v + 1").unwrap();
        server.query("DELETE FROM counted").unwrap();
        let later = counters.read(Depth::Full).unwrap();
        assert_eq!(fallen(&counters, &earlier, &later), [""; 0]);
        earlier = later;
    }
    let mut names: Vec<_> = counters.names().iter().map(ToString::to_string).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), counters.names().len(), "two counters have one name");
}

fn fallen(counters: &Counters, earlier: &CounterReading, later: &CounterReading) -> Vec<String> {
    let is_fallen = |(id, value): (dyno_engine::CounterId, f64)| {
        let name = &counters.names()[id.index()];
        let before = earlier.get(id)?;
        (name.kind == CounterKind::Counter && value < before).then(|| format!("{name}: {before} {value}"))
    };
    later.values().filter_map(is_fallen).collect()
}
