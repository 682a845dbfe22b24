//! Whether one system keeps all the promises of another system.

use std::collections::BTreeMap;

use super::durability::Durability;
use super::facts::SystemFacts;
use super::promise::{CrashKind, Loss};
use crate::facts::value::{is_on, normal};
use crate::files::knowledge::{Group, knowledge};
use crate::files::probes::plain_name;

/// Isolation levels by the names that facts use, the weakest first.
const ISOLATION: [&str; 4] = ["read uncommitted", "read committed", "repeatable read", "serializable"];

impl SystemFacts {
    /// The system with some settings changed. Settings have the server's names. A setting without a value gets its
    /// default, which is not known here.
    pub(super) fn with(&self, changes: &BTreeMap<String, Option<String>>) -> Self {
        let mut after = self.clone();
        for (name, value) in changes {
            let name = plain_name(name);
            let (name, value) = match (name.as_str(), value) {
                ("skip_log_bin", Some(_)) => ("log_bin".to_owned(), Some("OFF".to_owned())),
                // A plan gives the file's name, but a server reports only that there is a file.
                ("log_bin", Some(file)) if is_on(file).is_none() => (name, Some("ON".to_owned())),
                _ => (name, value.clone()),
            };
            match value {
                Some(value) => after.variables.insert(name, value),
                None => after.variables.remove(&name),
            };
        }
        after
    }

    /// Returns a promise that the system would no longer keep with some settings changed. The words continue a
    /// sentence that begins with "it". Returns `None` if the system keeps all promises. If the effect of the changed
    /// settings on a promise is unknown, the promise counts as not kept.
    pub fn promise_lost_with(&self, changes: &BTreeMap<String, Option<String>>) -> Option<String> {
        self.promise_lost_by(&self.with(changes))
    }

    /// Returns a promise that this system makes but another system of the same product does not make. The words
    /// continue a sentence that begins with "it". Returns `None` if the other system makes all promises. The promises
    /// concern what a commit survives, torn pages, checksums of pages, the isolation of transactions, and every check
    /// of integrity that is on.
    pub fn promise_lost_by(&self, other: &Self) -> Option<String> {
        let lost = [Self::commits_lost, Self::kill_lost, Self::repair_lost, Self::checksum_lost];
        lost.iter()
            .find_map(|lost| lost(self, other))
            .or_else(|| self.isolation_lost(other))
            .or_else(|| self.check_lost(other))
    }

    fn commits_lost(&self, other: &Self) -> Option<String> {
        let (before, after) = (self.durability(), other.durability());
        // Unknown is the greatest value, so an unknown durability never keeps a known promise.
        (before != Durability::Unknown && after > before).then(|| after.explain().to_owned())
    }

    fn kill_lost(&self, other: &Self) -> Option<String> {
        let loss = |system: &Self| system.promise(CrashKind::Process).loss;
        let (before, after) = (loss(self), loss(other));
        (before != Loss::Unknown && after > before)
            .then(|| "loses commits when the server is killed".to_owned())
    }

    fn repair_lost(&self, other: &Self) -> Option<String> {
        let is_lost = self.survives_torn_pages() == Some(true) && other.survives_torn_pages() != Some(true);
        is_lost.then(|| "does not repair a page torn by a power cut".to_owned())
    }

    fn checksum_lost(&self, other: &Self) -> Option<String> {
        let is_checked = |system: &Self| system.checksum().is_some_and(|kind| kind != "none");
        (is_checked(self) && !is_checked(other)).then(|| "does not notice damaged pages".to_owned())
    }

    fn isolation_lost(&self, other: &Self) -> Option<String> {
        let rank = |system: &Self| {
            let level = system.isolation()?;
            ISOLATION.iter().position(|known| *known == level)
        };
        let is_weaker = rank(self) > rank(other);
        let lets_conflicts_pass = self.is_on("innodb_snapshot_isolation") == Some(true)
            && other.is_on("innodb_snapshot_isolation") != Some(true);
        (is_weaker || lets_conflicts_pass).then(|| "isolates transactions less".to_owned())
    }

    /// A check of integrity that is on in this system and off in the other.
    fn check_lost(&self, other: &Self) -> Option<String> {
        let is_off = |value: &str| ["0", "none"].contains(&normal(value).as_str());
        let is_lost = |(name, value): &(&String, &String)| {
            let known = knowledge(self.product.family, name);
            known.is_some_and(|known| known.group == Group::Integrity)
                && !is_off(value)
                && other.variables.get(*name).is_none_or(|value| is_off(value))
        };
        let lost = self.variables.iter().find(is_lost)?;
        Some(format!("turns {} off", lost.0))
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::testing::system;

    fn lost(name: &str, before: &[(&str, &str)], changes: &[(&str, Option<&str>)]) -> Option<String> {
        let changes = changes.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
        system("s", name, before).promise_lost_with(&changes.collect())
    }

    #[test]
    fn a_lower_class_of_durability_is_a_lost_promise_and_so_is_an_unknown_one() {
        let durable = [("innodb_flush_log_at_trx_commit", "1"), ("innodb_doublewrite", "ON")];
        let of_innodb = |value| lost("mysql 5.6.24", &durable, &[("innodb_flush_log_at_trx_commit", value)]);
        assert_eq!(of_innodb(Some("2")).as_deref(), Some("may lose the last second at a power cut"));
        assert_eq!(of_innodb(None).as_deref(), Some("does not tell whether it waits for the disk"));
        assert_eq!(of_innodb(Some("1")), None);
        let quick = [("innodb_flush_log_at_trx_commit", "2")];
        let raised = lost("mysql 5.6.24", &quick, &[("innodb_flush_log_at_trx_commit", Some("1"))]);
        assert_eq!(raised, None);
        let killed = lost("mysql 5.6.24", &quick, &[("innodb_flush_log_at_trx_commit", Some("0"))]);
        assert_eq!(killed.as_deref(), Some("loses commits when the server is killed"));
    }

    #[test]
    fn settings_that_only_lower_a_promise_together_are_found() {
        let normal = [("journal_mode", "delete"), ("synchronous", "1")];
        assert!(
            lost("sqlite 3", &normal, &[("journal_mode", Some("WAL"))]).is_some(),
            "NORMAL syncs no commit of a WAL"
        );
        let full = [("journal_mode", "delete"), ("synchronous", "2")];
        assert_eq!(lost("sqlite 3", &full, &[("journal_mode", Some("WAL"))]), None);
    }

    #[test]
    fn repair_checksums_isolation_and_checks_are_promises() {
        for (name, before, change, words) in [
            (
                "mysql 8.0.33",
                ("innodb_doublewrite", "ON"),
                "OFF",
                "does not repair a page torn by a power cut",
            ),
            ("mysql 8.0.33", ("innodb_checksum_algorithm", "crc32"), "none", "does not notice damaged pages"),
            (
                "mysql 8.0.33",
                ("tx_isolation", "REPEATABLE-READ"),
                "READ-COMMITTED",
                "isolates transactions less",
            ),
            ("mariadb 11.8", ("innodb_snapshot_isolation", "ON"), "OFF", "isolates transactions less"),
            ("mysql 8.0.33", ("binlog_checksum", "CRC32"), "NONE", "turns binlog_checksum off"),
            (
                "postgres 18.4",
                ("full_page_writes", "on"),
                "off",
                "does not repair a page torn by a power cut",
            ),
            ("sqlite 3", ("foreign_keys", "1"), "OFF", "turns foreign_keys off"),
        ] {
            let variables = [("innodb_flush_log_at_trx_commit", "1"), before];
            assert_eq!(
                lost(name, &variables, &[(before.0, Some(change))]).as_deref(),
                Some(words),
                "{before:?}"
            );
            assert_eq!(lost(name, &variables, &[(before.0, Some(before.1))]), None, "{before:?}");
        }
    }
}
