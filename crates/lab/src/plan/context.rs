//! Where names in a plan are looked up: its folder, and the catalogue of engines.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use dyno_engine::Catalogue;

/// Where names in a plan are looked up.
#[derive(Clone, Copy)]
pub(super) struct ParseContext<'a> {
    pub(super) folder: &'a Path,
    pub(super) catalogue: &'a Catalogue,
    pub(super) builds: Builds,
    /// Files that were read so far, beside the plan's own.
    pub(super) files: &'a RefCell<Vec<PathBuf>>,
}

impl ParseContext<'_> {
    /// The path of a file that the plan names. The file is recorded as one of the plan's.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        self.files.borrow_mut().push(path.clone());
        path
    }
}

/// How builds in folders are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builds {
    /// Their programs are run to learn their versions.
    Asked,
    /// Their versions stay unknown, so their settings are not translated to the names of a version.
    Unasked,
}

/// Whether a name is the path of a file rather than the name of something built in.
pub(super) fn is_file(name: &str, extension: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|found| found == extension)
}
