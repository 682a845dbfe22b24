//! Unpacks zip archives: jars, wheels and archives of vendors.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::error::UnpackError;
use super::tree::Tree;

/// Mode of an item without a mode. Some systems make archives with such items.
const USUAL_RIGHTS: u32 = 0o644;
/// Limit of the length of a link's target. No path that the kernel takes is longer.
const LINK_BYTES_MAX: u64 = 4096;

/// The part of a zip archive to unpack.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// The folder to unpack. Empty for the whole archive.
    pub(crate) folder: &'a str,
    /// The folders and files below `folder` to unpack. Empty for all.
    pub(crate) only: &'a [String],
}

impl Wanted<'_> {
    /// Where an item of the archive is unpacked. `None` if the item is not wanted.
    fn place(&self, path: &Path) -> Option<PathBuf> {
        let path = path.strip_prefix(self.folder).ok()?;
        let is_wanted = self.only.is_empty() || self.only.iter().any(|wanted| path.starts_with(wanted));
        is_wanted.then(|| path.to_owned())
    }
}

/// Unpacks files and links, and makes the folders that they need. Empty folders are left out.
pub(super) fn unpack<R: io::Read + io::Seek>(
    archive: &mut ZipArchive<R>,
    tree: &Tree,
    wanted: &Wanted<'_>,
) -> Result<(), UnpackError> {
    for index in 0..archive.len() {
        let mut item = archive.by_index(index).map_err(io::Error::other)?;
        let name = item.name().map_err(io::Error::other)?.into_owned();
        if let Some(place) = wanted.place(Path::new(&name)).filter(|_| !item.is_dir()) {
            unpack_item(&mut item, &place, tree)?;
        }
    }
    Ok(())
}

fn unpack_item<R: Read>(item: &mut ZipFile<'_, R>, place: &Path, tree: &Tree) -> Result<(), UnpackError> {
    if item.is_symlink() {
        let mut target = String::new();
        item.take(LINK_BYTES_MAX).read_to_string(&mut target)?;
        return tree.link(place, Path::new(&target));
    }
    let mode = item.unix_mode().filter(|mode| mode & 0o777 != 0);
    tree.file(place, mode.unwrap_or(USUAL_RIGHTS), item)
}
