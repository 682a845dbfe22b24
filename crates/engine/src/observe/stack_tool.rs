//! Fetches the programs of elfutils that take stacks.

use std::fs;
use std::path::Path;

use dyno_host::StackTool;

use crate::cache::location::Cache;
use crate::machine::folder;
use crate::machine::path_error::At as _;
use crate::source::error::FetchError;
use crate::source::unpack_apt;
use crate::source::workspace::Workspace;

/// The packages of elfutils and its libraries: first their names in Debian up to 12, then their names from Debian 13
/// on.
const PACKAGES: [[&str; 4]; 2] =
    [["elfutils", "libdw1", "libelf1", "libasm1"], ["elfutils", "libdw1t64", "libelf1t64", "libasm1t64"]];

/// Estimated size of the download in bytes.
const DOWNLOAD_BYTES: u64 = 1_000_000;

/// Why stacks cannot be taken here.
#[derive(Debug, thiserror::Error)]
#[error("eu-stack is not installed and cannot be fetched ({0}); install the package elfutils")]
pub struct StackToolError(#[from] FetchError);

/// Finds `eu-stack` on the path or in the cache. If it is in neither, fetches it into the cache, without installing
/// it.
///
/// # Errors
/// There is no apt-get, the download fails, or the cache cannot be written.
pub fn stack_tool(cache: &Cache) -> Result<StackTool, StackToolError> {
    match StackTool::on_path() {
        Some(tool) => Ok(tool),
        None => Ok(fetched(cache)?),
    }
}

fn fetched(cache: &Cache) -> Result<StackTool, FetchError> {
    let place = cache.tool("elfutils");
    let _turn = folder::lock(&place.with_extension("lock"))?;
    if let Some(tool) = unpacked(&place) {
        return Ok(tool);
    }
    let partial = place.with_extension("partial");
    let unpacked_into = |packages: &[&'static str]| {
        folder::remove(&partial)?;
        let (tree, downloads) = (partial.join("tree"), partial.join("downloads"));
        folder::create(&tree)?;
        folder::create(&downloads)?;
        let progress = &mut |_| ();
        let (total_bytes, new_pins) = (DOWNLOAD_BYTES, Vec::new());
        let mut workspace = Workspace { cache, downloads, tree, total_bytes, new_pins, progress };
        unpack_apt(packages, &mut workspace)
    };
    let outcome = unpacked_into(&PACKAGES[0]).or_else(|error| unpacked_into(&PACKAGES[1]).map_err(|_| error));
    let outcome = outcome.and_then(|()| {
        folder::remove(&place)?;
        Ok(fs::rename(partial.join("tree"), &place).at("create", &place)?)
    });
    let cleared = folder::remove(&partial);
    outcome?;
    cleared?;
    unpacked(&place).ok_or_else(|| FetchError::NotDownloaded { package: PACKAGES[0][0].to_owned() })
}

/// The programs in an unpacked tree. Their libraries are in a folder with the architecture's name.
fn unpacked(tree: &Path) -> Option<StackTool> {
    let folders = fs::read_dir(tree.join("usr/lib")).ok()?;
    let mut libraries = folders.flatten().map(|folder| folder.path());
    let libraries = libraries.find(|folder| folder.join("libdw.so.1").exists())?;
    StackTool::in_folder(&tree.join("usr/bin"), Some(&libraries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_without_a_library_is_no_tool() {
        let tree = tempfile::tempdir().unwrap();
        assert_eq!(unpacked(tree.path()), None);
        for file in ["usr/bin/eu-stack", "usr/bin/eu-addr2line", "usr/lib/x86_64-linux-gnu/other"] {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(unpacked(tree.path()), None);
        fs::write(tree.path().join("usr/lib/x86_64-linux-gnu/libdw.so.1"), "").unwrap();
        assert!(unpacked(tree.path()).is_some());
    }
}
