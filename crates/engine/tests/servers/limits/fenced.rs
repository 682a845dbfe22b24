//! Tests the restrictions of a fenced server. Such a server runs without capabilities. If Dyno runs as root, the
//! server has an account of its own.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use dyno_engine::testing::{engines, servers, start_in};
use dyno_engine::{Family, Installation, Server};
use dyno_testing::dyno_test;
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities};

use crate::ENGINES;
use crate::leftovers::assert_nothing_left;

/// Environment variables that servers set themselves.
const OF_SERVERS: [&str; 2] = ["PGDATA", "PGSYSCONFDIR"];

#[dyno_test(servers(ENGINES))]
fn has_no_rights(server: &mut Server) {
    let status = fs::read_to_string(format!("/proc/{}/status", server.access().pid)).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_start_matches(':').split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(field("NoNewPrivs"), ["1"]);
    if geteuid().is_root() {
        let ids: Vec<_> = field("Uid").into_iter().chain(field("Gid")).chain(field("Groups")).collect();
        assert!(ids.iter().all(|id| id != "0"), "{ids:?}");
    }
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(field(set), ["0000000000000000"], "{set}");
    }
    // Dyno can empty the bounding set only if Dyno has the capability SETPCAP.
    if capabilities(None).unwrap().effective.contains(CapabilitySet::SETPCAP) {
        assert_eq!(field("CapBnd"), ["0000000000000000"]);
    }
}

/// A server gets only the variables in the list below, although cargo and a user's shell have many others.
#[dyno_test(servers(ENGINES))]
fn gets_a_list_of_variables(server: &mut Server) {
    let text = fs::read(format!("/proc/{}/environ", server.access().pid)).unwrap();
    let text = String::from_utf8_lossy(&text);
    let names: BTreeSet<_> =
        text.split_terminator('\0').filter_map(|variable| Some(variable.split_once('=')?.0)).collect();
    let known = ["HOME", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ"];
    assert!(std::env::vars().count() > known.len());
    assert!(names.contains("HOME") && names.contains("LC_ALL"), "{names:?}");
    let unknown: Vec<_> =
        names.iter().filter(|name| !known.contains(name) && !OF_SERVERS.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(
        text.contains(&format!("HOME={}", server.access().datadir.parent().unwrap().display())),
        "{text}"
    );
}

#[dyno_test(engines(ENGINES))]
fn starts_below_a_folder_that_is_closed_to_its_account(installation: &Installation) {
    let parent = tempfile::tempdir().unwrap();
    fs::set_permissions(parent.path(), Permissions::from_mode(0o700)).unwrap();
    let folder = parent.path().join("a/closed/one");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(folder.parent().unwrap(), Permissions::from_mode(0o700)).unwrap();
    let mut server = start_in(&folder, installation, "");
    server.query("CREATE TABLE kept (id INT)").unwrap();
    has_no_rights(&mut server);
    server.restart_cleanly(Duration::from_secs(60)).unwrap();
    server.query("SELECT id FROM kept").unwrap();
    server.stop().unwrap();
    assert_nothing_left(&folder);
}

/// Returns a statement that makes the server write a file.
fn write_to(family: Family, file: &Path) -> String {
    match family {
        Family::Postgres => format!("COPY (SELECT 1) TO '{}'", file.display()),
        _ => format!("SELECT 1 INTO OUTFILE '{}'", file.display()),
    }
}

#[dyno_test(engines(ENGINES))]
fn writes_nowhere_but_into_its_own_folders(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_in(folder.path(), installation, "");
    let family = installation.entry.family;
    let own = server.access().datadir.join("written");
    server.query(&write_to(family, &own)).unwrap();
    assert!(own.is_file());
    if !geteuid().is_root() {
        return;
    }
    // Everyone can enter this folder and its parents, but only root can write to it.
    let of_root = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(of_root.path(), Permissions::from_mode(0o755)).unwrap();
    for folder in [of_root.path(), folder.path(), server.access().datadir.parent().unwrap()] {
        let file = folder.join("written");
        let refusal = server.query(&write_to(family, &file)).expect_err("it wrote where it must not");
        assert!(
            refusal.to_string().contains("denied") || refusal.to_string().contains("rrcode: 13"),
            "{refusal}"
        );
        assert!(!file.exists());
    }
}

#[dyno_test(servers(ENGINES))]
fn cannot_read_what_is_closed_to_others(server: &mut Server) {
    if !geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "precious").unwrap();
    let by_mysql = format!("SELECT LOAD_FILE('{}')", secret.display());
    let by_postgres = format!("SELECT pg_read_file('{}')", secret.display());
    for query in [by_mysql, by_postgres] {
        if let Ok(read) = server.query(&query) {
            assert_eq!(read.rows, [[None]], "it read what it must not");
        }
    }
}
