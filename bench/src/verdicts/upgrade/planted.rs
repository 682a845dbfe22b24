//! The upgrades, and what is planted in each: the files `bench/upgrade/PRODUCT.toml`.

use std::collections::BTreeMap;

use anyhow::Context as _;
use clap::ValueEnum;
use dyno_traffic::sql::Dialect;
use include_dir::{Dir, include_dir};
use serde::Deserialize;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/upgrade");

/// The product that is upgraded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Product {
    /// 10.5 to 11.8, in place.
    Mariadb,
    /// 5.6 to 9.7. Both versions load the same dump, because no server upgrades from one to the other in a single
    /// step.
    Mysql,
    /// 14 to 18, by `pg_dumpall`.
    Postgres,
}

/// An upgrade.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Upgrade {
    /// The version before the upgrade, in the form that `dyno upgrade` accepts.
    pub(super) from: String,
    /// The version after the upgrade, in the same form as `from`.
    pub(super) to: String,
    /// Whether the new version loads the dump too.
    #[serde(default)]
    pub(super) reload: bool,
    /// Settings of the new version only.
    pub(super) settings: BTreeMap<String, String>,
    pub(super) planted: Vec<Planted>,
}

/// A planted regression.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Planted {
    /// What causes the regression, in one or two words.
    pub(super) kind: String,
    /// What the regression does to the statement.
    pub(super) finds: Harm,
    /// The statement, with placeholders for values (see `Values`).
    pub(super) statement: String,
}

/// What an upgrade may do to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Harm {
    Slower,
    Fails,
    Answers,
}

impl Harm {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Fails => "fails",
            Self::Answers => "answers otherwise",
        }
    }
}

impl Product {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
            Self::Postgres => "postgres",
        }
    }

    pub(super) fn dialect(self) -> Dialect {
        match self {
            Self::Mariadb | Self::Mysql => Dialect::Mysql,
            Self::Postgres => Dialect::Postgresql,
        }
    }

    pub(super) fn upgrade(self) -> anyhow::Result<Upgrade> {
        let name = format!("{}.toml", self.name());
        toml::from_str(file(&name)?).with_context(|| format!("bench/upgrade/{name}"))
    }

    /// Returns the data as a dump.
    pub(super) fn data(self) -> anyhow::Result<String> {
        Ok(format!("{}\n{}", file("tables.sql")?, file(&format!("{}.sql", self.name()))?))
    }

    /// Returns the statements that the new version executes on its data after the upgrade.
    pub(super) fn after(self) -> anyhow::Result<&'static str> {
        file(&format!("{}.after.sql", self.name()))
    }
}

impl Upgrade {
    /// Returns the new version with its settings, in the form that `dyno upgrade` accepts.
    pub(super) fn target(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!(" {name}={value}"));
        self.to.clone() + &settings.collect::<String>()
    }
}

/// Returns the text of a file of the benchmark.
pub(super) fn file(name: &str) -> anyhow::Result<&'static str> {
    let file = FILES.get_file(name).with_context(|| format!("bench/upgrade has no {name}"))?;
    file.contents_utf8().with_context(|| format!("bench/upgrade/{name} is no text"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn twenty_regressions_of_each_kind_are_planted_in_each_upgrade() {
        for product in Product::value_variants() {
            let upgrade = product.upgrade().unwrap();
            assert_eq!(upgrade.planted.len(), 20, "{product:?}");
            let kinds: BTreeSet<&str> = upgrade.planted.iter().map(|it| it.kind.as_str()).collect();
            for kind in ["dropped index", "changed statistic", "optimiser switch", "collation", "NULL order"]
            {
                assert!(kinds.contains(kind), "{product:?}: {kind}");
            }
            for harm in [Harm::Slower, Harm::Fails, Harm::Answers] {
                assert!(upgrade.planted.iter().filter(|it| it.finds == harm).count() >= 4, "{product:?}");
            }
            assert!(product.data().unwrap().contains("CREATE TABLE sale"));
            assert!(product.after().unwrap().contains("DROP INDEX sale_customer"));
        }
    }

    #[test]
    fn settings_follow_the_new_version() {
        let upgrade = Product::Postgres.upgrade().unwrap();
        assert!(upgrade.target().starts_with("postgres@18.4 "), "{}", upgrade.target());
        assert!(upgrade.target().contains(" join_collapse_limit=1"), "{}", upgrade.target());
    }
}
