//! Unpacks tar archives: npm packages, Debian packages and archives of vendors.

use std::io::{self, Read};
use std::path::PathBuf;

use tar::{Archive, Entry, EntryType};

use super::error::UnpackError;
use super::tree::Tree;

/// Mode of an item without a mode.
const USUAL_RIGHTS: u32 = 0o644;

/// Unpacks files, folders and links. Devices and pipes are left out.
pub(super) fn unpack(reader: impl Read, tree: &Tree) -> Result<(), UnpackError> {
    for entry in Archive::new(reader).entries()? {
        unpack_entry(entry?, tree)?;
    }
    Ok(())
}

fn unpack_entry(mut entry: Entry<'_, impl Read>, tree: &Tree) -> Result<(), UnpackError> {
    let path = entry.path()?.into_owned();
    let mode = entry.header().mode().unwrap_or(USUAL_RIGHTS);
    match entry.header().entry_type() {
        EntryType::Directory => tree.folder(&path, mode),
        // In the oldest format, a folder is a regular item whose name ends with `/`.
        EntryType::Regular if entry.path_bytes().ends_with(b"/") => tree.folder(&path, mode),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            tree.file(&path, mode, &mut entry)
        }
        EntryType::Symlink => tree.link(&path, &target(&entry)?),
        EntryType::Link => tree.hard_link(&path, &target(&entry)?),
        _ => Ok(()),
    }
}

fn target(link: &Entry<'_, impl Read>) -> io::Result<PathBuf> {
    let target = link.link_name()?;
    Ok(target.ok_or_else(|| io::Error::other("a link in it leads nowhere"))?.into_owned())
}
