//! Servers that outlive the process that started them.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_engine::testing::{Trial, engine_test};
use dyno_engine::{Cache, Installation, Running, RunningError, StartError};

use crate::killed::{actor, kill};
use crate::leftovers::assert_nothing_left;

pub(crate) fn tests(engine: &'static str) -> Vec<Trial> {
    vec![engine_test("lives on by itself until it is stopped", engine, move |installation| {
        lives_until_stopped(installation, engine);
    })]
}

fn lives_until_stopped(installation: &Installation, engine: &str) {
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
