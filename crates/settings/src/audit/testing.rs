//! Systems and rules, for tests.

use std::collections::BTreeMap;

use dyno_engine::Family;

use super::{HostChecks, SystemFacts, audit};
use crate::facts::product::Product;

/// A system whose name is like `mysql 8.0.33` or `mariadb 10.11/rocksdb`, with some variables.
pub(super) fn system(id: &str, name: &str, variables: &[(&str, &str)]) -> SystemFacts {
    let (name, storage_engine) =
        name.split_once('/').map_or((name, None), |(name, engine)| (name, Some(engine.to_owned())));
    let (family, version) = name.split_once(' ').unwrap();
    let family = match family {
        "mysql" => Family::Mysql,
        "mariadb" => Family::Mariadb,
        "postgres" => Family::Postgres,
        "sqlite" => Family::Sqlite,
        other => panic!("{other}"),
    };
    SystemFacts {
        id: id.to_owned(),
        product: Product { family, version: version.parse().unwrap(), storage_engine },
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        asked: BTreeMap::new(),
        limits: None,
    }
}

/// The explanations of all findings of a rule.
pub(super) fn said(rule: &str, systems: &[SystemFacts], host: &HostChecks) -> Vec<String> {
    let findings = audit(systems, host).findings.into_iter();
    findings.filter(|finding| finding.rule == rule).map(|finding| finding.explanation).collect()
}
