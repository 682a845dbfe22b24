//! Starts every server with every profile, and checks that the server has the profile's settings.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_engine::testing::{engine_test, is_left_out};
use dyno_engine::{Catalogue, Entry, Installation, Server, StartOptions, SystemName, start};
use dyno_settings::{HostChecks, Product, Profile, SystemFacts, audit, builtin_profiles, is_on, normal};
use dyno_testing::{Trial, dyno_test};

/// Makes a test for each server and each profile.
fn with_each_profile(name: &str, test: fn(&Installation, &str, &Profile)) -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in Catalogue::builtin().entries().iter().filter(|entry| is_tested(entry)) {
        for system in systems(entry) {
            // Leaked because tests live as long as the process.
            let system: &'static str = system.leak();
            for profile in builtin_profiles() {
                tests.push(engine_test(&format!("{name} {}", profile.name), system, move |installation| {
                    test(installation, system, &profile);
                    Ok(())
                }));
            }
        }
    }
    tests
}

/// Returns whether a catalogue entry's server is tested.
pub(crate) fn is_tested(entry: &Entry) -> bool {
    entry.family.has_server() && !is_left_out(entry)
}

/// Returns the names of an entry's systems, one for each storage engine that has a section in profiles.
fn systems(entry: &Entry) -> Vec<String> {
    let with_section =
        entry.storage_engines.iter().filter(|name| ["innodb", "rocksdb"].contains(&name.as_str()));
    let systems: Vec<String> = with_section.map(|name| format!("{entry}/{name}")).collect();
    if systems.is_empty() { vec![entry.to_string()] } else { systems }
}

/// Starts a system's server with settings. Its data is below `folder`.
pub(crate) fn start_with(
    folder: &Path,
    installation: &Installation,
    system: &str,
    settings: BTreeMap<String, String>,
) -> Server {
    let name: SystemName = system.parse().unwrap();
    let options = StartOptions { storage_engine: name.storage_engine, settings, ..StartOptions::new(folder) };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn product(installation: &Installation, system: &str) -> Product {
    let name: SystemName = system.parse().unwrap();
    Product::of(&installation.entry, name.storage_engine.as_deref()).unwrap()
}

#[dyno_test(with_each_profile)]
fn a_server_runs_as_its_profile_says(installation: &Installation, system: &str, profile: &Profile) {
    let product = product(installation, system);
    let settings = profile.settings_for(&product).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let server = start_with(folder.path(), installation, system, settings.clone());
    let variables: BTreeMap<_, _> = server.variables().unwrap().into_iter().collect();

    let differing: Vec<String> = settings
        .iter()
        .filter_map(|(name, value)| {
            let is = effective(name, &variables);
            let is_so = is.as_ref().is_some_and(|is| is_same(name, value, is));
            (!is_so).then(|| format!("{name} is {is:?}, not {value}"))
        })
        .collect();
    assert_eq!(differing, [""; 0], "{system} as {}", profile.name);

    let facts = SystemFacts { id: system.to_owned(), product, variables, asked: settings, limits: None };
    assert_eq!(facts.not_in_force(), [], "{system} as {}", profile.name);
    assert_promises(&facts, &profile.name);
    server.stop().unwrap();
}

/// The server's value of an option, in the form in which the option is written.
fn effective(option: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let value = |name: &str| variables.get(name).cloned();
    match option {
        "skip_log_bin" => is_on(&value("log_bin")?).map(|on| (!on).to_string()),
        "log_bin" => is_on(&value("log_bin")?).map(|on| if on { "binlog" } else { "OFF" }.to_owned()),
        "transaction_isolation" => value(option).or_else(|| value("tx_isolation")),
        _ => value(option),
    }
}

/// Returns whether a server has the given value, or the same value written differently.
fn is_same(name: &str, given: &str, is: &str) -> bool {
    // Servers of version 8.0 print numbers for some values that have names.
    let is_synonym = name == "innodb_doublewrite" && is_on(given) == is_on(is);
    normal(given) == normal(is) || is_synonym
}

/// Checks that the audit of a server's variables finds the durability that the profile promises.
fn assert_promises(facts: &SystemFacts, profile: &str) {
    let audit = audit(std::slice::from_ref(facts), &HostChecks::default());
    let rules: Vec<&str> = audit.findings.iter().map(|finding| finding.rule.as_str()).collect();
    let class = facts.durability().to_string();
    match profile {
        "safe" | "like-56" => {
            assert_eq!(class, "durable");
            assert_eq!(rules, [""; 0]);
        }
        "fast" => {
            assert_eq!(class, "second");
            assert!(rules.contains(&"commit-not-durable"), "{rules:?}");
            assert_eq!(
                rules.contains(&"torn-pages"),
                facts.product.storage_engine.as_deref() != Some("rocksdb")
            );
        }
        _ => assert_eq!(class, "durable", "every server is shipped so"),
    }
}
