//! Fetches that fail in different ways. Each test fetches into a cache of its own. A test is ignored if its engine
//! cannot be fetched on this machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use dyno_engine::testing::{engines, with_engine};
use dyno_engine::{Availability, Cache, Catalogue, FetchError, Installation, Phase, fetch};
use dyno_testing::{Completion, Failed, Trial, dyno_test};

use crate::killed::{actor, kill, without_network};
use crate::leftovers::{processes_of, wait_until};

/// Among the engines that consist of a single package, this one has the smallest package.
const ENGINE: &str = "postgres@18.4";

/// Makes a test for each of some engines, which use different package managers. The tests do not fetch the engines.
fn for_each_package_manager(name: &str, test: fn(&str) -> Result<Completion, Failed>) -> Vec<Trial> {
    let for_engine = |engine| Trial::ignorable_test(format!("{name} {engine}"), move || test(engine));
    ["mariadb@10.11", "mysql@9.7.4", "postgres@18.4", "postgres@9.6.24"].map(for_engine).into()
}

#[dyno_test(for_each_package_manager)]
fn a_fetch_without_a_network_says_that_it_lacks_one(engine: &str) -> Result<Completion, Failed> {
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
    let Availability::ToFetch { last_failure, .. } = entry.availability(&Cache::new(folder.path())) else {
        panic!("{entry} is not to be had after a failure");
    };
    assert!(said.starts_with(&last_failure.unwrap()), "{said}");
    Ok(Completion::Completed)
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

#[dyno_test(with_engine(ENGINE))]
fn an_engine_is_fetched_whole_after_a_killed_fetch_and_once_for_two_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    kill(actor("fetch", ENGINE, folder.path()));
    let partial = folder.path().join("engines").join(format!("{ENGINE}.partial"));
    assert!(partial.is_dir());
    wait_until("the package manager is gone", || processes_of(folder.path()).is_empty());

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

#[dyno_test(engines(&[ENGINE]))]
fn an_engine_is_fetched_again_where_an_installation_is_not_whole(whole: &Installation) {
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
