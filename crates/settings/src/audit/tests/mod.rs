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
fn every_rule_has_its_test() {
    let tests = [include_str!("durability.rs"), include_str!("systems.rs"), include_str!("host.rs")].concat();
    let untested: Vec<&str> =
        rules().into_iter().map(|rule| rule.id).filter(|id| !tests.contains(&format!("\"{id}\""))).collect();
    assert_eq!(untested, [""; 0]);
}
