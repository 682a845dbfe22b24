//! The folder that archives are unpacked into. Whatever they contain, nothing is written outside it.
//!
//! The folder stays open, and every path is resolved below it. The kernel does that (`openat2(2)`, `RESOLVE_BENEATH`),
//! or `cap-std` step by step on older kernels. A link that leads out is never followed.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::iter;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _};

use super::error::UnpackError;
use crate::machine::path_error::{At as _, PathError};

/// The rights that a file of an archive can have. Only the owner may write, and nothing is setuid, setgid or sticky.
const KEPT_RIGHTS: u32 = 0o755;
/// The rights that the owner always has, so that unpacked files can be read and removed.
const OWN_RIGHTS_OF_FILES: u32 = 0o600;
const OWN_RIGHTS_OF_FOLDERS: u32 = 0o700;

/// An open folder to unpack into.
pub(crate) struct Tree {
    root: Dir,
}

impl Tree {
    /// Opens a folder of this user. Makes it if it is missing.
    pub(crate) fn create(folder: &Path) -> Result<Self, PathError> {
        fs::create_dir_all(folder).at("create", folder)?;
        let root = Dir::open_ambient_dir(folder, ambient_authority()).at("open", folder)?;
        Ok(Self { root })
    }

    /// Makes a folder and its parents. If the folder exists, changes its rights.
    pub(super) fn folder(&self, path: &Path, mode: u32) -> Result<(), UnpackError> {
        let path = inside(path)?;
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let mode = Permissions::from_mode(mode & KEPT_RIGHTS | OWN_RIGHTS_OF_FOLDERS);
        let there = self.root.create_dir_all(&path).and_then(|()| self.root.set_permissions(&path, mode));
        there.map_err(|source| UnpackError::item(&path, source))
    }

    /// Writes a file. Replaces an existing one.
    pub(crate) fn file(&self, path: &Path, mode: u32, content: &mut dyn Read) -> Result<(), UnpackError> {
        let path = inside(path)?;
        let mut write = || {
            self.make_room(&path)?;
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(OWN_RIGHTS_OF_FILES);
            let mut file = self.root.open_with(&path, &options)?;
            io::copy(content, &mut file)?;
            file.set_permissions(Permissions::from_mode(mode & KEPT_RIGHTS | OWN_RIGHTS_OF_FILES))
        };
        write().map_err(|source| UnpackError::item(&path, source))
    }

    /// Makes a link. Replaces an existing item. An absolute target is relative to the tree's root, as packages mean it.
    pub(crate) fn link(&self, path: &Path, target: &Path) -> Result<(), UnpackError> {
        let path = inside(path)?;
        let make = || {
            self.make_room(&path)?;
            let target = if target.has_root() { self.relative(&path, target)? } else { target.to_owned() };
            self.root.symlink_contents(target, &path)
        };
        make().map_err(|source| UnpackError::item(&path, source))
    }

    /// Makes a hard link to a file of the tree.
    pub(super) fn hard_link(&self, path: &Path, existing: &Path) -> Result<(), UnpackError> {
        let (path, existing) = (inside(path)?, inside(existing)?);
        if path == existing {
            return Ok(());
        }
        let link = || {
            self.root.symlink_metadata(&existing)?;
            self.make_room(&path)?;
            self.root.hard_link(&existing, &self.root, &path)
        };
        link().map_err(|source| UnpackError::item(&path, source))
    }

    /// Removes the links that lead out of the tree, directly or through other links.
    pub(crate) fn cut_links(&self) -> io::Result<()> {
        self.cut_links_in(Path::new("."))
    }

    fn cut_links_in(&self, folder: &Path) -> io::Result<()> {
        for item in self.root.read_dir(folder)? {
            let item = item?;
            let path = folder.join(item.file_name());
            let kind = item.file_type()?;
            if kind.is_dir() {
                self.cut_links_in(&path)?;
            } else if kind.is_symlink() && self.leads_out(&path)? {
                self.root.remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Whether a link leads out of the tree, or would lead out if a missing folder on its path existed.
    fn leads_out(&self, link: &Path) -> io::Result<bool> {
        match self.root.metadata(link) {
            Ok(_) => Ok(false),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(true),
            Err(_) => Ok(climbs_behind_a_name(&self.root.read_link_contents(link)?)),
        }
    }

    /// Makes the parents of an item. If an item of that name exists, removes it, or fails if it is a folder.
    fn make_room(&self, path: &Path) -> io::Result<()> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.root.create_dir_all(parent)?;
        }
        match self.root.remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the relative path from a link to a target. The target is relative to the tree's root. The link's parent
    /// must exist.
    fn relative(&self, link: &Path, target: &Path) -> io::Result<PathBuf> {
        let parent = link.parent().unwrap_or(Path::new(""));
        let parent =
            if parent.as_os_str().is_empty() { PathBuf::new() } else { self.root.canonicalize(parent)? };
        let depth = parent.components().filter(|part| matches!(part, Component::Normal(_))).count();
        let up = iter::once(Component::CurDir).chain(iter::repeat_n(Component::ParentDir, depth));
        let down = target.components().filter(|part| *part != Component::RootDir);
        Ok(up.chain(down).collect())
    }

    /// Moves the tree's content into another tree. If all files are in one folder, moves that folder's content, because
    /// vendors put the version into the folder's name.
    pub(crate) fn move_up(&self, into: &Self) -> Result<(), UnpackError> {
        match &self.names()?[..] {
            [only] => {
                let kind = self.root.symlink_metadata(only)?.file_type();
                if kind.is_symlink() {
                    return Err(UnpackError::OnlyALink { link: only.into() });
                }
                if kind.is_dir() {
                    Self { root: self.root.open_dir(only)? }.move_to(into)
                } else {
                    self.move_to(into)
                }
            }
            _ => self.move_to(into),
        }
    }

    fn move_to(&self, into: &Self) -> Result<(), UnpackError> {
        for name in self.names()? {
            let moved = self.root.rename(&name, &into.root, &name);
            moved.map_err(|source| UnpackError::item(name.as_ref(), source))?;
        }
        Ok(())
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        self.root.entries()?.map(|item| Ok(item?.file_name())).collect()
    }

    /// Lets everyone execute a file of the tree. If the file is a link that leads out of the tree, nothing is
    /// changed.
    pub(crate) fn make_executable(&self, path: &Path) -> io::Result<()> {
        let metadata = match self.root.metadata(path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
            metadata => metadata?,
        };
        let mode = metadata.permissions().mode();
        if mode & 0o111 == 0o111 {
            return Ok(());
        }
        self.root.set_permissions(path, Permissions::from_mode(mode | 0o111))
    }
}

/// Whether a path has `..` after a name, like `a/..`.
fn climbs_behind_a_name(path: &Path) -> bool {
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    path.components().skip_while(|part| !is_name(part)).any(|part| part == Component::ParentDir)
}

/// A path of an archive, relative to the root of the archive: `/a` and `./a` are `a`.
fn inside(path: &Path) -> Result<PathBuf, UnpackError> {
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::CurDir | Component::RootDir => {}
            Component::ParentDir | Component::Prefix(_) => {
                return Err(UnpackError::LeadsOut { path: path.to_owned() });
            }
        }
    }
    Ok(inside)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf, Tree) {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("beside/bin")).unwrap();
        fs::write(top.path().join("beside/bin/mysqld"), "precious").unwrap();
        let folder = top.path().join("tree");
        let tree = Tree::create(&folder).unwrap();
        (top, folder, tree)
    }

    fn write(tree: &Tree, path: &str) -> Result<(), UnpackError> {
        tree.file(Path::new(path), 0o6777, &mut path.as_bytes())
    }

    #[test]
    fn links_of_packages_work_and_those_that_lead_out_are_cut() {
        let (top, folder, tree) = place();
        let link = |path: &str, target: &Path| tree.link(Path::new(path), target).unwrap();
        write(&tree, "./usr/lib/x.so.1").unwrap();
        link("usr/lib/x.so", Path::new("x.so.1"));
        link("lib", Path::new("/usr/lib"));
        write(&tree, "/lib/y.so").unwrap();
        link("lib/deep", Path::new("/usr"));
        link("out", Path::new("../beside"));
        link("usr/out", &top.path().join("tree/../beside"));
        link("usr/lib/top", Path::new("/../../../beside"));
        link("missing", Path::new("usr/share"));
        link("later", Path::new("usr/share/../../../beside"));
        for through in ["out/bin/mysqld", "usr/lib/top/new", "../new", "usr/../../new"] {
            write(&tree, through).unwrap_err();
        }
        tree.cut_links().unwrap();

        assert_eq!(fs::read_to_string(folder.join("usr/lib/x.so")).unwrap(), "./usr/lib/x.so.1");
        assert_eq!(fs::read_to_string(folder.join("usr/lib/y.so")).unwrap(), "/lib/y.so");
        assert_eq!(fs::read_link(folder.join("usr/lib/deep")).unwrap(), Path::new("./../../usr"));
        assert_eq!(fs::metadata(folder.join("lib/y.so")).unwrap().mode() & 0o7777, 0o755);
        assert_eq!(fs::read_link(folder.join("missing")).unwrap(), Path::new("usr/share"));
        for cut in ["out", "usr/lib/top", "later"] {
            assert!(fs::symlink_metadata(folder.join(cut)).is_err(), "{cut}");
        }
        assert_eq!(fs::read_to_string(top.path().join("beside/bin/mysqld")).unwrap(), "precious");
        assert!(!top.path().join("new").exists());
    }

    #[test]
    fn the_one_folder_of_an_archive_is_left_out_and_one_link_is_refused() {
        let (top, folder, tree) = place();
        let into = Tree::create(&top.path().join("into")).unwrap();
        write(&tree, "mysql-8.4.0/bin/mysqld").unwrap();
        tree.move_up(&into).unwrap();
        assert!(top.path().join("into/bin/mysqld").is_file());

        fs::remove_dir(folder.join("mysql-8.4.0")).unwrap();
        symlink(top.path().join("beside"), folder.join("mysql")).unwrap();
        let error = tree.move_up(&into).unwrap_err();
        assert!(error.to_string().starts_with("there is nothing in it but the link 'mysql'; "), "{error}");
        assert!(top.path().join("beside/bin/mysqld").is_file());
    }

    #[test]
    fn what_a_link_of_the_user_leads_to_is_not_made_executable() {
        let (top, folder, tree) = place();
        write(&tree, "bin/postgres").unwrap();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().mode() & 0o777;
        fs::set_permissions(folder.join("bin/postgres"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        tree.make_executable(Path::new("bin/postgres")).unwrap();
        assert_eq!(mode(folder.join("bin/postgres")), 0o711);

        let server = top.path().join("beside/bin/mysqld");
        let before = mode(server.clone());
        symlink(&server, folder.join("bin/mysqld")).unwrap();
        tree.make_executable(Path::new("bin/mysqld")).unwrap();
        assert_eq!(mode(server), before);
    }
}
