//! The planted causes: `bench/causes/*/*.toml`, in a folder for each family of engines.

use std::collections::BTreeMap;

use anyhow::Context as _;
use include_dir::{Dir, File, include_dir};
use serde::Deserialize;
use toml::Table;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/causes");

/// A difference between two systems of one engine, `old` and `new`, whose cause is known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cause {
    /// The name of the cause's file, without the extension.
    #[serde(skip)]
    pub(super) name: String,
    /// What is planted, in one line.
    pub(super) about: String,
    pub(super) engine: String,
    /// The workload that loads the table and that is measured.
    pub(super) workload: String,
    #[serde(default = "one")]
    pub(super) clients: u32,
    /// Rows of the table; 0 for a workload that creates its own tables.
    #[serde(default = "ten_thousand")]
    pub(super) rows: u64,
    /// The workload's options.
    #[serde(default)]
    pub(super) options: Table,
    /// Settings of both systems.
    #[serde(default)]
    pub(super) both: Table,
    /// Settings of `new` that make no difference.
    pub(super) innocent: Table,
    /// Settings of `new` that make the difference.
    #[serde(default)]
    pub(super) culprit: Table,
    /// Limits on the host, by system id.
    #[serde(default)]
    pub(super) limits: BTreeMap<String, Table>,
    /// Steps before the measured step, in the syntax of a plan.
    #[serde(default)]
    pub(super) steps: String,
    /// Additional keys of the measured step, in the syntax of a plan.
    #[serde(default)]
    pub(super) step_keys: String,
    /// Path of the server's program in the engine's folder. `new` uses a slower build of this program. `None` if both
    /// systems use the same build.
    pub(super) slow_build: Option<String>,
    /// What a proof must find: sets of settings, limits (`confinement.memory`) and steps (`step.ID`). The members
    /// of a set make a difference only together.
    pub(super) planted: Vec<Vec<String>>,
    /// Words that the answer must contain if a proof cannot remove the cause; `None` if a proof can remove it.
    pub(super) remains: Option<String>,
}

fn one() -> u32 {
    1
}

fn ten_thousand() -> u64 {
    10_000
}

impl Cause {
    /// All causes, ordered by name.
    pub(super) fn all() -> anyhow::Result<Vec<Self>> {
        let mut causes = Vec::new();
        for file in files("toml") {
            let path = file.path();
            let text = file.contents_utf8().with_context(|| format!("{}: no text", path.display()))?;
            let cause: Self =
                toml::from_str(text).with_context(|| format!("bench/causes/{}", path.display()))?;
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            causes.push(Self { name, ..cause });
        }
        causes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(causes)
    }

    /// Returns the causes in `only`, or all causes if `only` is empty.
    pub(super) fn chosen(only: &[String]) -> anyhow::Result<Vec<Self>> {
        let all = Self::all()?;
        for name in only {
            anyhow::ensure!(
                all.iter().any(|cause| cause.name == *name),
                "there is no cause `{name}`; --list names them"
            );
        }
        Ok(all.into_iter().filter(|cause| only.is_empty() || only.contains(&cause.name)).collect())
    }

    /// Whether the cause is a single setting, limit or step, or one that a proof cannot remove.
    pub(super) fn is_single(&self) -> bool {
        self.remains.is_some() || matches!(self.planted.as_slice(), [only] if only.len() == 1)
    }

    /// Whether the cause makes a difference. Some causes plant nothing, and then no difference must be found.
    pub(super) fn is_there(&self) -> bool {
        self.remains.is_some() || !self.planted.is_empty()
    }

    /// Whether the setting, limit or step with this name is part of the planted cause.
    pub(super) fn has_planted(&self, name: &str) -> bool {
        self.planted.iter().flatten().any(|planted| planted == name)
    }
}

/// The names of the scripts in the folder of the causes, with their texts.
pub(super) fn scripts() -> impl Iterator<Item = (&'static str, &'static str)> {
    files("lua").filter_map(|file| Some((file.path().file_name()?.to_str()?, file.contents_utf8()?)))
}

/// The text of a file in the folder of the causes.
pub(super) fn file(name: &str) -> Option<&'static str> {
    FILES.get_file(name)?.contents_utf8()
}

/// Returns the files with the extension `wanted` in the folders of the causes.
fn files(wanted: &'static str) -> impl Iterator<Item = &'static File<'static>> {
    FILES.dirs().flat_map(Dir::files).filter(move |file| extension(file) == Some(wanted))
}

fn extension<'a>(file: &'a File<'_>) -> Option<&'a str> {
    file.path().extension()?.to_str()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_causes_of_each_kind() {
        let causes = Cause::all().unwrap();
        assert!(causes.iter().filter(|cause| cause.is_single()).count() >= 20);
        assert!(causes.iter().any(|cause| !cause.is_there()), "a pair without any cause");
        assert!(causes.iter().any(|cause| cause.planted.len() > 1), "causes that add up");
        assert!(causes.iter().any(|cause| cause.planted.iter().any(|set| set.len() > 1)), "that interact");
        let engines: BTreeSet<&str> = causes.iter().map(|cause| cause.engine.as_str()).collect();
        for engine in
            ["mysql@5.6", "mysql@8.0", "mysql@9.7", "mariadb@10.11/rocksdb", "postgres@18", "sqlite"]
        {
            assert!(engines.iter().any(|name| name.starts_with(engine)), "{engine}");
        }
    }

    #[test]
    fn a_cause_hides_among_innocent_settings() {
        for cause in Cause::all().unwrap() {
            let Cause { name, innocent, culprit, planted, .. } = &cause;
            assert!((4..=8).contains(&innocent.len()), "{name}: {} innocent settings", innocent.len());
            assert!(culprit.keys().all(|key| !innocent.contains_key(key)), "{name}");
            let settings = planted
                .iter()
                .flatten()
                .filter(|planted| !planted.starts_with("step.") && !planted.starts_with("confinement."));
            for setting in settings {
                assert!(culprit.contains_key(setting), "{name}: {setting} is no setting of new");
            }
        }
    }

    #[test]
    fn a_name_that_is_none_is_told() {
        let error = Cause::chosen(&["nope".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no cause `nope`; --list names them");
        assert_eq!(Cause::chosen(&["sqlite-none".to_owned()]).unwrap().len(), 1);
    }
}
