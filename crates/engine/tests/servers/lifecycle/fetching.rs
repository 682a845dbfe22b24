//! Fetches that fail in different ways.

use std::fs;
use std::path::Path;
use std::process::Command;

use dyno_engine::testing::{Trial, engine_test};
use dyno_engine::{Availability, Cache, Catalogue, FetchError, Installation, Phase, fetch};

use libtest_mimic::Completion;

use crate::killed::{actor, kill, without_network};
use crate::leftovers::processes_of;

/// Among the engines that consist of a single package, this one has the smallest package.
const ENGINE: &str = "postgres@18.4";

pub(crate) fn tests() -> Vec<Trial> {
    // Each test fetches into a cache of its own. A test is ignored if its engine cannot be fetched on this machine.
    vec![
        engine_test(
            "is fetched whole after a fetch was killed, once for two at the same time",
            ENGINE,
            |_| {
                after_a_kill_and_at_once();
            },
        ),
        engine_test("is fetched again where an installation is not whole", ENGINE, half_fetch),
        // Each engine here uses a different package manager.
        no_network("mariadb@10.11"),
        no_network("mysql@9.7.4"),
        no_network("postgres@18.4"),
        no_network("postgres@9.6.24"),
    ]
}

fn no_network(engine: &'static str) -> Trial {
    Trial::ignorable_test(format!("{engine} is missed for want of a network, and that is said"), move || {
        let folder = tempfile::tempdir()?;
        let probe = Command::new("unshare").args(["--net", "true"]).status();
        if !probe.is_ok_and(|status| status.success()) {
            return Ok(Completion::ignored_with("no right to make a place without a network"));
        }
        let output = without_network("fail", engine, folder.path()).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.starts_with("cannot reach where ") && said.contains("no network?"), "{said}");
        let catalogue = Catalogue::builtin();
        let entry = catalogue.find(&engine.parse().unwrap()).unwrap();
        let Availability::ToFetch { last_failure, .. } = entry.availability(&Cache::new(folder.path()))
        else {
            panic!("{entry} is not to be had after a failure");
        };
        assert!(said.starts_with(&last_failure.unwrap()), "{said}");
        Ok(Completion::Completed)
    })
}

fn fetch_into(folder: &Path) -> (Result<Installation, FetchError>, Vec<Phase>) {
    let mut phases = Vec::new();
    let catalogue = Catalogue::builtin();
    let entry = catalogue.find(&ENGINE.parse().unwrap()).unwrap();
    let outcome = fetch(&entry, &Cache::new(folder), &mut |progress| {
        if phases.last() != Some(&progress.phase) {
            phases.push(progress.phase);
        }
    });
    (outcome, phases)
}

fn after_a_kill_and_at_once() {
    let folder = tempfile::tempdir().unwrap();
    kill(actor("fetch", ENGINE, folder.path()));
    let partial = folder.path().join("engines").join(format!("{ENGINE}.partial"));
    assert!(partial.is_dir());
    crate::leftovers::wait_until("the package manager is gone", || processes_of(folder.path()).is_empty());

    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| fetch_into(folder.path()));
        let other = scope.spawn(|| fetch_into(folder.path()));
        (one.join().unwrap(), other.join().unwrap())
    });

    assert_eq!(one.0.unwrap().root, other.0.unwrap().root);
    let downloads = [one.1, other.1].iter().filter(|phases| phases.contains(&Phase::Downloading)).count();
    assert_eq!(downloads, 1, "the engine was to be downloaded once");
    assert!(!partial.exists());
}

fn half_fetch(whole: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("engines").join(ENGINE);
    fs::create_dir_all(root.join("package/native/bin")).unwrap();
    fs::write(root.join("package/native/bin/postgres"), "half of a program").unwrap();

    let installation = fetch_into(folder.path()).0.unwrap();

    assert_eq!(installation.root, root);
    assert_eq!(installation.exact_version, whole.exact_version);
    assert!(fs::metadata(root.join("package/native/bin/postgres")).unwrap().len() > 1_000_000);
    let (_, phases) = fetch_into(folder.path());
    assert!(phases.is_empty(), "a whole installation was fetched again: {phases:?}");
}
