mod durability;
mod host;
mod systems;

use std::collections::BTreeSet;

use super::testing::system;
use super::*;

#[test]
fn the_gravest_comes_first_and_everything_is_kept_as_json() {
    let a = system("a", "mysql 5.6.24", &[("innodb_flush_log_at_trx_commit", "1"), ("sql_mode", "")]);
    let b = system("b", "mysql 8.0.33", &[("innodb_flush_log_at_trx_commit", "2"), ("sql_mode", "ANSI")]);
    let audit = audit(&[a, b], &HostChecks::default());
    let severities: Vec<Severity> = audit.findings.iter().map(|finding| finding.severity).collect();
    assert!(severities.is_sorted());
    assert_eq!(audit.worst(), Some(Severity::Error));
    assert_eq!(audit.findings[0].systems, ["a", "b"]);

    let json = serde_json::to_string(&audit).unwrap();
    assert!(json.contains(r#"{"system":"b","class":"second"}"#), "{json}");
    assert!(json.contains(r#""severity":"error""#), "{json}");
    assert_eq!(serde_json::from_str::<Audit>(&json).unwrap(), audit);
}

#[test]
fn the_same_system_twice_is_comparable() {
    for name in ["mysql 5.6.24", "mysql 9.7.4", "mariadb 11.8/rocksdb", "postgres 18.4", "sqlite 3"] {
        let systems = [system("a", name, &[]), system("b", name, &[])];
        let findings = audit(&systems, &HostChecks::default()).findings;
        assert!(findings.iter().all(|finding| finding.rule == "commit-unknown"), "{findings:?}");
    }
}

#[test]
fn a_rule_has_one_id_and_says_what_to_do() {
    let ids: BTreeSet<&str> = rules().iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), rules().len());
    for rule in rules() {
        assert!(!rule.advice.is_empty() && !rule.about.ends_with('.'), "{}", rule.id);
    }
}

#[test]
fn advice_names_the_settings_of_the_systems_that_it_is_about() {
    let advice = |systems: &[SystemFacts]| {
        let mut findings = audit(systems, &HostChecks::default()).findings.into_iter();
        findings.find(|finding| finding.rule == "cache-differs").map(|finding| finding.advice)
    };
    let postgres = ["1GB", "2GB"].map(|size| system(size, "postgres 18.4", &[("shared_buffers", size)]));
    assert_eq!(advice(&postgres).as_deref(), Some("set shared_buffers alike"));
    let mysql = system("m", "mysql 5.6.24", &[("innodb_buffer_pool_size", "1G")]);
    let [_, other] = postgres;
    assert_eq!(advice(&[mysql, other]).as_deref(), Some("set innodb_buffer_pool_size, shared_buffers alike"));
    for name in ["postgres 18.4", "sqlite 3"] {
        let findings = audit(&contrary(name), &HostChecks::default()).findings;
        assert!(findings.len() > 2, "{findings:?}");
        assert!(findings.iter().all(|finding| !finding.advice.contains("innodb")), "{findings:?}");
    }
}

/// Two systems that differ in everything that the rules look for.
fn contrary(name: &str) -> [SystemFacts; 2] {
    let of = |id: &str, value: &str, bytes: &str, level: &str| {
        let variables = [
            ("shared_buffers", bytes),
            ("max_wal_size", bytes),
            ("full_page_writes", value),
            ("data_checksums", value),
            ("synchronous_commit", value),
            ("fsync", value),
            ("default_transaction_isolation", level),
            ("log_statement", if value == "on" { "all" } else { "none" }),
            ("journal_mode", if value == "on" { "wal" } else { "off" }),
            ("synchronous", if value == "on" { "2" } else { "0" }),
            ("cache_size", if value == "on" { "-2000" } else { "-4000" }),
            ("page_size", "4096"),
        ];
        system(id, name, &variables)
    };
    [of("a", "on", "1GB", "serializable"), of("b", "off", "2GB", "read committed")]
}

#[test]
fn every_rule_has_its_test() {
    let tests = [include_str!("durability.rs"), include_str!("systems.rs"), include_str!("host.rs")].concat();
    let untested: Vec<&str> =
        rules().into_iter().map(|rule| rule.id).filter(|id| !tests.contains(&format!("\"{id}\""))).collect();
    assert_eq!(untested, [""; 0]);
}
