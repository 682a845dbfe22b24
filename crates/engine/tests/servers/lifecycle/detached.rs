//! Servers that outlive the process that started them.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_engine::testing::named_engines;
use dyno_engine::{Cache, Installation, Running, RunningError, StartError};
use dyno_testing::dyno_test;

use crate::ENGINES;
use crate::killed::{actor, kill};
use crate::leftovers::assert_nothing_left;

#[dyno_test(named_engines(ENGINES))]
fn a_server_lives_on_by_itself_until_it_is_stopped(installation: &Installation, engine: &str) {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::new(&Cache::new(folder.path()));
    kill(actor("detach", engine, folder.path()));

    let name = installation.entry.engine.parse().unwrap();
    let server = running.find(&name, None).unwrap();
    let mut client = server.connect(Duration::from_secs(10)).unwrap();
    assert_eq!(client.query("SELECT 1").unwrap().rows[0][0].as_deref(), Some("1"));
    drop(client);
    assert!(server.access.version.starts_with(&installation.entry.version), "{server:?}");

    let again = running.start(&name, installation, None, BTreeMap::new());
    assert!(matches!(again, Err(StartError::Running { .. })), "{again:?}");

    assert_eq!(running.stop(&name, None).unwrap().access, server.access);
    assert_nothing_left(&folder.path().join("servers"));
    assert!(!server.access.socket.parent().unwrap().exists());
    assert!(matches!(running.stop(&name, None), Err(RunningError::NotRunning { .. })));
}
