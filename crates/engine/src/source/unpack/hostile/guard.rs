//! A folder to unpack into, and the guard beside it. Both are so far below a temporary folder that `..` in names and
//! links never leads above it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Number of folders between the temporary folder and the guard. A name or a link climbs at most six folders, so only a
/// chain of more than ten climbing links would get above the temporary folder.
const DEPTH: usize = 64;

pub(super) struct Place {
    _top: TempDir,
    world: PathBuf,
}

/// The facts about a file: path, kind and mode, owner, group, number of hard links, times, content.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    path: PathBuf,
    mode: u32,
    owner: (u32, u32),
    names: u64,
    times: [(i64, i64); 2],
    content: Vec<u8>,
}

impl Place {
    pub(super) fn create() -> Self {
        let top = tempfile::tempdir().unwrap();
        let world = top.path().join("d/".repeat(DEPTH)).join("world");
        let place = Self { world, _top: top };
        fs::create_dir_all(place.guard().join("a/bin")).unwrap();
        fs::create_dir_all(place.guard().join("bin")).unwrap();
        for name in ["dyno-manifest.json", "a/bin/mysqld", "bin/mysqld", "b", "lib"] {
            fs::write(place.guard().join(name), name).unwrap();
        }
        fs::set_permissions(place.guard().join("bin/mysqld"), Permissions::from_mode(0o640)).unwrap();
        fs::set_permissions(place.guard().join("bin"), Permissions::from_mode(0o700)).unwrap();
        symlink("b", place.guard().join("link")).unwrap();
        fs::create_dir(place.archives()).unwrap();
        place
    }

    pub(super) fn guard(&self) -> PathBuf {
        self.world.join("guard")
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.world.join("tree")
    }

    /// Returns the folder of the archives.
    pub(super) fn archives(&self) -> PathBuf {
        self.world.join("archives")
    }

    /// Lists the guard folder with its content, and the folders above. Panics if there is anything else beside the
    /// guard.
    pub(super) fn survey(&self) -> Vec<Seen> {
        let mut seen = Vec::new();
        look(&self.guard(), &mut seen);
        for above in self.world.ancestors().skip(1).take(DEPTH) {
            seen.push(Seen::of(above));
        }
        let mut around: Vec<_> =
            fs::read_dir(&self.world).unwrap().map(|item| item.unwrap().path()).collect();
        around.retain(|path| *path != self.tree() && *path != self.archives());
        assert_eq!(around, [self.guard()]);
        seen
    }
}

impl Seen {
    fn of(path: &Path) -> Self {
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() };
        Self {
            path: path.to_owned(),
            mode: metadata.mode(),
            owner: (metadata.uid(), metadata.gid()),
            names: metadata.nlink(),
            times: [(metadata.mtime(), metadata.mtime_nsec()), (metadata.ctime(), metadata.ctime_nsec())],
            content,
        }
    }
}

fn look(path: &Path, seen: &mut Vec<Seen>) {
    seen.push(Seen::of(path));
    if path.symlink_metadata().unwrap().is_dir() {
        let mut items: Vec<_> = fs::read_dir(path).unwrap().map(|item| item.unwrap().path()).collect();
        items.sort();
        for item in items {
            look(&item, seen);
        }
    }
}
