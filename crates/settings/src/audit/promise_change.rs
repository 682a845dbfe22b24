//! The effect of a change of settings on promises.

use std::collections::BTreeMap;

use super::durability::Durability;
use super::facts::SystemFacts;

impl SystemFacts {
    /// Describes the effect of a change of settings on the system's promises for a power cut. Returns `None` if there
    /// is no effect, or if the effect is not known. The effect is not known if a setting is changed to its default,
    /// because the value of the default is not known here.
    pub fn change_of_promise(&self, changes: &BTreeMap<String, Option<String>>) -> Option<String> {
        if changes.values().any(Option::is_none) {
            return None;
        }
        let after = self.with(changes);
        self.change_of_durability(&after).or_else(|| self.change_of_wholeness(&after))
    }

    fn change_of_durability(&self, changed: &Self) -> Option<String> {
        let (before, after) = (self.durability(), changed.durability());
        if [before, after].contains(&Durability::Unknown) || before == after {
            return None;
        }
        Some(if after > before {
            format!("weakens durability: a system with it {}", after.explain())
        } else {
            format!("strengthens durability: a system without it {}", before.explain())
        })
    }

    fn change_of_wholeness(&self, changed: &Self) -> Option<String> {
        match (self.survives_torn_pages()?, changed.survives_torn_pages()?) {
            (true, false) => {
                Some("weakens durability: a page torn by a power cut is not repaired with it".to_owned())
            }
            (false, true) => Some(
                "strengthens durability: a page torn by a power cut is not repaired without it".to_owned(),
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::testing::system;

    #[test]
    fn settings_that_lower_a_promise_are_named() {
        let variables = [("innodb_flush_log_at_trx_commit", "1"), ("innodb_doublewrite", "ON")];
        let durable = system("s", "mariadb 10.11", &variables);
        let change = |name: &str, value: &str| {
            durable.change_of_promise(&[(name.to_owned(), Some(value.to_owned()))].into())
        };
        assert_eq!(
            change("innodb_flush_log_at_trx_commit", "2").as_deref(),
            Some("weakens durability: a system with it may lose the last second at a power cut")
        );
        assert_eq!(
            change("innodb-doublewrite", "0").as_deref(),
            Some("weakens durability: a page torn by a power cut is not repaired with it")
        );
        assert_eq!(change("query_cache_type", "1"), None);
        assert_eq!(change("innodb_flush_log_at_trx_commit", "1"), None);
    }

    #[test]
    fn a_binlog_counts_by_the_name_of_its_file() {
        let variables = [
            ("innodb_flush_log_at_trx_commit", "1"),
            ("innodb_doublewrite", "ON"),
            ("log_bin", "OFF"),
            ("sync_binlog", "0"),
        ];
        let durable = system("s", "mysql 8.0.33", &variables);
        let change = durable.change_of_promise(&[("log_bin".to_owned(), Some("binlog".to_owned()))].into());
        assert!(change.as_ref().is_some_and(|it| it.starts_with("weakens durability")), "{change:?}");
        let logged = [("log_bin", "ON"), ("innodb_flush_log_at_trx_commit", "1"), ("sync_binlog", "0")];
        let logged = system("s", "mysql 8.0.33", &logged);
        let change = logged.change_of_promise(&[("skip-log-bin".to_owned(), Some("1".to_owned()))].into());
        assert!(change.as_ref().is_some_and(|it| it.starts_with("strengthens durability")), "{change:?}");
    }

    #[test]
    fn a_promise_that_the_base_does_not_give_is_raised() {
        let quick = system("s", "mysql 5.6.24", &[("innodb_flush_log_at_trx_commit", "2")]);
        let safe = [("innodb_flush_log_at_trx_commit".to_owned(), Some("1".to_owned()))].into();
        assert_eq!(
            quick.change_of_promise(&safe).as_deref(),
            Some("strengthens durability: a system without it may lose the last second at a power cut")
        );
        let unknown = [("innodb_flush_log_at_trx_commit".to_owned(), None)].into();
        assert_eq!(quick.change_of_promise(&unknown), None);
    }
}
