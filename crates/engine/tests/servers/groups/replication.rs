//! Replicas of real servers follow their primary, also after the primary restarts, and report why they have stopped.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyno_engine::testing::engines;
use dyno_engine::{
    Cache, Family, Found, GaleraObstacle, Installation, ReplicaGuard, Replication, ReplicationError,
    ReplicationMode, Role, Server, Snapshot, SnapshotParts, Snapshots, StartError, StartOptions, Topology,
    attach, start,
};
use dyno_testing::dyno_test;

use crate::leftovers::assert_nothing_left;
use crate::{ALL_VERSIONS, filtered};

const PATIENCE: Duration = Duration::from_secs(60);

fn has_replicas(system: &str) -> bool {
    system != "postgres@9.6.24"
}

fn has_galera(system: &str) -> bool {
    matches!(system, "mariadb@10.5" | "mariadb@10.11" | "mariadb@11.8")
}

/// The servers of a primary and its replicas, and the topology that connects them.
struct Set {
    primary: Server,
    replicas: Vec<Server>,
    topology: Topology,
}

fn started(
    folder: &std::path::Path,
    installation: &Installation,
    replication: Replication,
    data_from: Option<&Snapshot>,
) -> Set {
    started_with(folder, installation, replication, data_from, &BTreeMap::new())
}

fn started_with(
    folder: &std::path::Path,
    installation: &Installation,
    replication: Replication,
    data_from: Option<&Snapshot>,
    settings: &BTreeMap<String, String>,
) -> Set {
    let options = |role| StartOptions {
        role,
        data_from: data_from.cloned(),
        settings: settings.clone(),
        ..StartOptions::new(folder)
    };
    let primary =
        start(installation, options(Role::Primary(replication))).unwrap_or_else(|error| panic!("{error}"));
    let replica = |number| {
        let primary = Box::new(primary.access().clone());
        start(installation, options(Role::Replica { number, replication, primary }))
            .unwrap_or_else(|error| panic!("replica {number}: {error}"))
    };
    let replicas: Vec<Server> = (1..=replication.replicas).map(replica).collect();
    let topology = attach(&primary, &replicas, ReplicaGuard::ReadOnly)
        .unwrap_or_else(|error| panic!("{error}"))
        .unwrap();
    Set { primary, replicas, topology }
}

impl Set {
    fn catch_up(&self) {
        self.topology
            .catch_up(PATIENCE, &AtomicBool::new(false))
            .unwrap_or_else(|error| panic!("{error}\n{}", self.logs()));
    }

    fn logs(&self) -> String {
        self.replicas.iter().map(|replica| replica.log_tail(20).join("\n") + "\n---\n").collect()
    }

    fn words_of_replicas(&self) -> Vec<Vec<String>> {
        self.replicas.iter().map(words).collect()
    }
}

fn words(server: &Server) -> Vec<String> {
    let rows = server.query("SELECT word FROM followed ORDER BY id").unwrap().rows;
    rows.into_iter().flatten().flatten().collect()
}

fn create(server: &Server) {
    server.query("CREATE TABLE followed (id INT PRIMARY KEY, word VARCHAR(20))").unwrap();
    server.query("INSERT INTO followed VALUES (1, 'one'), (2, 'two')").unwrap();
}

#[dyno_test(engines(filtered(ALL_VERSIONS, has_replicas)))]
fn replicas_follow_their_primary(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let mode = if has_semi_synchronous(installation) {
        ReplicationMode::SemiSynchronous
    } else {
        refuses_semi_synchronous(folder.path(), installation);
        ReplicationMode::Asynchronous
    };
    let replication = Replication { mode, replicas: 2, delay_seconds: 0 };
    let mut set = started(folder.path(), installation, replication, None);
    create(&set.primary);
    set.catch_up();
    assert_eq!(set.words_of_replicas(), [["one", "two"], ["one", "two"]]);
    let pids: std::collections::BTreeSet<u32> =
        set.replicas.iter().chain([&set.primary]).map(|server| server.access().pid).collect();
    assert_eq!(pids.len(), 3, "each is a process of its own");
    if refuses_writes(installation) {
        let refused =
            set.replicas[0].query("INSERT INTO followed VALUES (9, 'nine')").unwrap_err().to_string();
        assert!(refused.contains("read-only") || refused.contains("read only"), "{refused}");
    }
    // The replicas find the restarted primary again.
    set.primary.shut_down_cleanly(PATIENCE).unwrap();
    set.primary.restart_in_place().unwrap();
    set.primary.query("INSERT INTO followed VALUES (3, 'three')").unwrap();
    set.catch_up();
    assert_eq!(set.words_of_replicas()[1], ["one", "two", "three"]);
    for place in 0..2 {
        let mut client = set.topology.connect_replica(place, PATIENCE).unwrap();
        assert_eq!(set.topology.status(&mut client).unwrap().stopped, None);
    }
    drop(set);
    assert_nothing_left(folder.path());
}

const GALERA: Replication = Replication { mode: ReplicationMode::Galera, replicas: 2, delay_seconds: 0 };

#[dyno_test(engines(filtered(ALL_VERSIONS, has_galera)))]
fn a_galera_cluster_lasts_through_restarts_and_crashes(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let mut set = started(folder.path(), installation, GALERA, None);
    create(&set.primary);
    set.catch_up();
    assert_eq!(set.words_of_replicas(), [["one", "two"], ["one", "two"]]);
    set.replicas[0].query("INSERT INTO followed VALUES (3, 'three')").unwrap();
    set.replicas[1].query("UPDATE followed SET word = 'uno' WHERE id = 1").unwrap();
    set.catch_up();
    assert_eq!(words(&set.primary), ["uno", "two", "three"], "each node takes writes");
    // When a primary that was shut down starts again, the other nodes send it the transactions that it missed.
    set.primary.shut_down_cleanly(PATIENCE).unwrap();
    set.replicas[0].query("INSERT INTO followed VALUES (4, 'four')").unwrap();
    set.primary.restart_in_place().unwrap();
    assert_eq!(words(&set.primary), ["uno", "two", "three", "four"]);
    set.primary.query("INSERT INTO followed VALUES (5, 'five')").unwrap();
    set.primary.crash(&mut || ());
    // Galera needs some seconds to notice that a node is gone.
    set.replicas[1].query("INSERT INTO followed VALUES (6, 'six')").unwrap();
    set.primary.restart_in_place().unwrap();
    let all = ["uno", "two", "three", "four", "five", "six"];
    assert_eq!(words(&set.primary), all);
    set.catch_up();
    assert_eq!(set.words_of_replicas(), [all, all]);
    drop(set);
    assert_nothing_left(folder.path());
}

/// The nodes of a Galera cluster talk with each other on an address that clients do not use. Here another program
/// uses the node's port on that address, so the node must not start.
#[dyno_test(engines(filtered(ALL_VERSIONS, has_galera)))]
fn a_port_that_is_taken_in_a_galera_cluster_is_told(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.2:0").unwrap();
    let taken = listener.local_addr().unwrap().port();
    let options =
        StartOptions { port: Some(taken), role: Role::Primary(GALERA), ..StartOptions::new(folder.path()) };
    let error = start(installation, options).err().expect("the node must not start");
    assert!(matches!(error, StartError::PortTaken { port, .. } if port == taken), "{error}");
    assert_nothing_left(folder.path());
}

/// The data of a single server becomes the data of a cluster. A second cluster starts on the data of the first.
#[dyno_test(engines(filtered(ALL_VERSIONS, has_galera)))]
fn a_galera_cluster_starts_on_data_of_a_server_without_one(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let parts = SnapshotParts::of_server(installation, None, &[].into()).with("data set", "clustered");
    let snapshots = Snapshots::of(&Cache::new(folder.path()));
    let mut alone = start(installation, StartOptions::new(folder.path().join("loading"))).unwrap();
    create(&alone);
    alone.shut_down_cleanly(PATIENCE).unwrap();
    snapshots.save(&parts, "clustered", &alone.access().datadir).unwrap();
    drop(alone);
    let find = || match snapshots.find(&parts.key()).unwrap() {
        Found::Snapshot(snapshot) => snapshot,
        _ => panic!("it is not found"),
    };
    let mut set = started(&folder.path().join("first"), installation, GALERA, Some(&find()));
    assert_eq!(words(&set.replicas[1]), ["one", "two"], "before anything is sent");
    set.primary.query("UPDATE followed SET word = 'uno' WHERE id = 1").unwrap();
    set.catch_up();
    set.primary.shut_down_cleanly(PATIENCE).unwrap();
    let parts = parts.with("step", "second");
    snapshots.save(&parts, "clustered again", &set.primary.access().datadir).unwrap();
    drop(set);
    let Found::Snapshot(again) = snapshots.find(&parts.key()).unwrap() else { panic!("it is not found") };
    let set = started(&folder.path().join("second"), installation, GALERA, Some(&again));
    assert_eq!(set.words_of_replicas(), [["uno", "two"], ["uno", "two"]]);
    set.primary.query("UPDATE followed SET word = 'dos' WHERE id = 2").unwrap();
    set.catch_up();
    assert_eq!(set.words_of_replicas(), [["uno", "dos"], ["uno", "dos"]]);
    drop(set);
    for part in ["first", "second"] {
        assert_nothing_left(&folder.path().join(part));
    }
}

/// A node was away so long that the other nodes can no longer send it all missed transactions. It must not start with
/// data that lacks them.
#[dyno_test(engines(&["mariadb@10.11"]))]
fn a_node_does_not_join_a_galera_cluster_that_it_has_left_too_long(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let options = "gcache.size=1M".to_owned();
    let settings = [("wsrep_provider_options".to_owned(), options)].into();
    let mut set = started_with(folder.path(), installation, GALERA, None, &settings);
    set.primary.query("CREATE TABLE many (id INT PRIMARY KEY, word LONGTEXT)").unwrap();
    set.catch_up();
    set.primary.shut_down_cleanly(PATIENCE).unwrap();
    let mut client = set.topology.connect_replica(0, PATIENCE).unwrap();
    for id in 0..4000 {
        client.query(&format!("INSERT INTO many VALUES ({id}, REPEAT('x', 1000))")).unwrap();
    }
    let error = set.primary.restart_in_place().unwrap_err();
    assert!(matches!(error, StartError::Ended { .. }), "{error}");
    drop(set);
    assert_nothing_left(folder.path());
}

#[dyno_test(engines(filtered(ALL_VERSIONS, |system| has_replicas(system) && !has_galera(system))))]
fn a_server_without_galera_cannot_be_a_galera_cluster(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let options = StartOptions { role: Role::Primary(GALERA), ..StartOptions::new(folder.path()) };
    let error = start(installation, options).err().expect("it must not start");
    assert!(matches!(error, StartError::NoGalera { obstacle: GaleraObstacle::Server, .. }), "{error}");
    assert_nothing_left(folder.path());
}

/// Whether the build has semi-synchronous replication. Old builds from archives of npm and Maven come without the
/// plug-ins.
fn has_semi_synchronous(installation: &Installation) -> bool {
    match installation.entry.family {
        Family::Mysql => version(installation) >= vec![9],
        Family::Mariadb => version(installation) >= vec![10, 3],
        Family::Postgres | Family::Sqlite => true,
    }
}

#[dyno_test(engines(filtered(ALL_VERSIONS, |system| !has_replicas(system))))]
fn an_old_postgres_can_have_no_replicas(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let replication = Replication { mode: ReplicationMode::Asynchronous, replicas: 1, delay_seconds: 0 };
    let options = StartOptions { role: Role::Primary(replication), ..StartOptions::new(folder.path()) };
    let error = start(installation, options).err().expect("it must not start").to_string();
    assert!(error.contains("PostgreSQL can from version 10 on"), "{error}");
    assert_nothing_left(folder.path());
}

fn refuses_semi_synchronous(folder: &std::path::Path, installation: &Installation) {
    let replication = Replication { mode: ReplicationMode::SemiSynchronous, replicas: 1, delay_seconds: 0 };
    let options = StartOptions { role: Role::Primary(replication), ..StartOptions::new(folder) };
    let error = start(installation, options).err().expect("it must not start").to_string();
    assert!(error.contains("has no plug-in semisync_"), "{error}");
}

fn version(installation: &Installation) -> Vec<u32> {
    installation.entry.version.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// Whether a replica refuses writes even from the superuser, as whom the tests log in.
fn refuses_writes(installation: &Installation) -> bool {
    match installation.entry.family {
        Family::Mysql => version(installation) >= vec![5, 7],
        Family::Mariadb => version(installation) >= vec![10, 11],
        Family::Postgres | Family::Sqlite => true,
    }
}

/// Primary and replica both start on a snapshot. The snapshot is of a server that had a replica, so its data contains
/// a binary log.
#[dyno_test(engines(filtered(ALL_VERSIONS, has_replicas)))]
fn replicas_of_loaded_data_follow_their_primary(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let replication = Replication { mode: ReplicationMode::Asynchronous, replicas: 1, delay_seconds: 0 };
    let parts = SnapshotParts::of_server(installation, None, &[].into()).with("data set", "followed");
    let snapshots = Snapshots::of(&Cache::new(folder.path()));
    let mut set = started(&folder.path().join("loading"), installation, replication, None);
    create(&set.primary);
    set.catch_up();
    set.primary.shut_down_cleanly(PATIENCE).unwrap();
    snapshots.save(&parts, "followed", &set.primary.access().datadir).unwrap();
    drop(set);
    let Found::Snapshot(snapshot) = snapshots.find(&parts.key()).unwrap() else { panic!("it is not found") };
    let set = started(&folder.path().join("measuring"), installation, replication, Some(&snapshot));
    assert_eq!(words(&set.replicas[0]), ["one", "two"], "before anything is sent");
    set.primary.query("UPDATE followed SET word = 'uno' WHERE id = 1").unwrap();
    set.catch_up();
    assert_eq!(words(&set.replicas[0]), ["uno", "two"]);
    drop(set);
    assert_nothing_left(&folder.path().join("measuring"));
}

/// The replica stops because its data differs from the primary's.
#[dyno_test(engines(&["mariadb@10.11"]))]
fn a_replica_that_has_stopped_says_why(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let replication = Replication { mode: ReplicationMode::Asynchronous, replicas: 2, delay_seconds: 0 };
    let set = started(folder.path(), installation, replication, None);
    create(&set.primary);
    set.catch_up();
    // The client creates this table without writing the statement to the binary log, so the replicas lack the table.
    let mut client = set.primary.connect(PATIENCE).unwrap();
    for statement in [
        "SET SESSION sql_log_bin = 0",
        "CREATE TABLE unknown (id INT PRIMARY KEY)",
        "SET SESSION sql_log_bin = 1",
        "INSERT INTO unknown VALUES (1)",
    ] {
        client.query(statement).unwrap();
    }
    match set.topology.catch_up(PATIENCE, &AtomicBool::new(false)).unwrap_err() {
        ReplicationError::Stopped { number, said } => {
            assert_eq!(number, 1);
            assert!(said.contains("unknown' doesn't exist"), "{said}");
        }
        other => panic!("{other}"),
    }
}
