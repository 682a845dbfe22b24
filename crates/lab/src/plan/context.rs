//! Looks up the names in a plan: names of files in the plan's folder, and names of engines in the catalogue.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use dyno_engine::Catalogue;

/// The folder and the catalogue in which names of a plan are looked up.
#[derive(Clone, Copy)]
pub(super) struct ParseContext<'a> {
    pub(super) folder: &'a Path,
    pub(super) catalogue: &'a Catalogue,
    pub(super) builds: Builds,
    /// Files that the plan names and that were read so far, without the plan's own file.
    pub(super) files: &'a RefCell<Vec<PathBuf>>,
}

impl ParseContext<'_> {
    /// Returns the path of a file that the plan names, and adds it to `files`.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        self.files.borrow_mut().push(path.clone());
        path
    }
}

/// Whether Dyno may run the server programs in the folders that a plan names, to learn their versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builds {
    /// Runs the builds' programs to learn their versions.
    Asked,
    /// Runs no program. Versions of builds stay unknown, so settings are not translated for them.
    Unasked,
}

/// Whether a name is the path of a file rather than the name of something built in.
pub(super) fn is_file(name: &str, extension: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|found| found == extension)
}
