//! The files that are copied to a host, and their paths there. Each set of files gets a folder whose name is a hash
//! of their contents.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Component, Path, PathBuf};

use dyno_printable::quote;

/// The folder of the copies, in the user's home on the host.
const COPIES: &str = "\"$HOME/.cache/dyno-remote\"";

/// Files that are copied to a host. The copies have the same folder structure as the files on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copies {
    /// The local files. Each has the path of its copy on the host, quoted for the host's shell. The first file is the
    /// one for which the others are needed: the program, or the plan.
    pub(super) files: Vec<(PathBuf, String)>,
}

impl Copies {
    /// Returns a set that has only this file.
    pub(super) fn of_file(path: &Path) -> Result<Self, String> {
        Self::of(path, &[])
    }

    /// Returns a set with a plan's file and the files that the plan names. If a named file is a script, the set also
    /// has all other scripts in its folder, because a script may load them.
    pub(super) fn of_plan(plan: &Path, files: &[PathBuf]) -> Result<Self, String> {
        let mut all: BTreeSet<PathBuf> = files.iter().cloned().collect();
        for folder in files.iter().filter(|file| is_script(file)).filter_map(|file| file.parent()) {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            all.extend(entries.map(|entry| entry.path()).filter(|path| is_script(path)));
        }
        Self::of(plan, &all.into_iter().collect::<Vec<_>>())
    }

    fn of(first: &Path, others: &[PathBuf]) -> Result<Self, String> {
        let folder = first.parent().unwrap_or(Path::new(""));
        let mut hasher = DefaultHasher::new();
        let mut named = Vec::new();
        for path in std::iter::once(first).chain(others.iter().map(PathBuf::as_path)) {
            let name = name_in(folder, path).ok_or_else(|| {
                format!(
                    "{} is not below the plan's folder {}; put it there",
                    path.display(),
                    folder.display()
                )
            })?;
            let contents =
                fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
            (&name, contents).hash(&mut hasher);
            named.push((path.to_owned(), name));
        }
        let number = hasher.finish();
        let word =
            |(path, name): (PathBuf, String)| (path, format!("{COPIES}/{number:016x}/{}", quote(&name)));
        Ok(Self { files: named.into_iter().map(word).collect() })
    }

    /// Returns the path of the first file's copy, quoted for the host's shell.
    pub(super) fn first(&self) -> String {
        self.files.first().map(|(_, word)| word.clone()).unwrap_or_default()
    }
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lua")
}

/// Returns the path relative to `folder`, or `None` if the path is not below `folder`.
fn name_in(folder: &Path, path: &Path) -> Option<String> {
    let name = path.strip_prefix(folder).ok()?;
    let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
    is_below.then(|| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_its_files_around_it_and_its_scripts_theirs() {
        let here = tempfile::tempdir().unwrap();
        let path = |name: &str| here.path().join(name);
        fs::create_dir(path("lua")).unwrap();
        for name in
            ["my plan.toml", "suite.toml", "lua/mine.lua", "lua/common.lua", "lua/notes.txt", "other.toml"]
        {
            fs::write(path(name), name).unwrap();
        }
        let files = [path("suite.toml"), path("lua/mine.lua")];
        let names = |copies: &Copies| -> Vec<String> {
            let place =
                |word: &str| word.rsplit_once("remote\"/").unwrap().1.split_once('/').unwrap().1.to_owned();
            copies.files.iter().map(|(_, word)| place(word)).collect()
        };
        let before = Copies::of_plan(&path("my plan.toml"), &files).unwrap();
        assert_eq!(names(&before), ["'my plan.toml'", "lua/common.lua", "lua/mine.lua", "suite.toml"]);
        assert!(before.first().starts_with("\"$HOME/.cache/dyno-remote\"/"), "{}", before.first());
        // If any file changes, the set gets another folder.
        fs::write(path("lua/common.lua"), "changed").unwrap();
        assert_ne!(Copies::of_plan(&path("my plan.toml"), &files).unwrap().first(), before.first());
    }

    #[test]
    fn a_file_elsewhere_is_named() {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir(here.path().join("plans")).unwrap();
        let plan = here.path().join("plans/plan.toml");
        for path in [&plan, &here.path().join("mine.lua")] {
            fs::write(path, "").unwrap();
        }
        let error = Copies::of_plan(&plan, &[here.path().join("plans/../mine.lua")]).unwrap_err();
        assert!(error.contains("mine.lua is not below the plan's folder"), "{error}");
    }
}
