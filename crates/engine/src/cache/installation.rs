//! An engine in the cache, unpacked and ready to start.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use dyno_host::{Fence, FenceError};
use serde::{Deserialize, Serialize};

use crate::cache::location::Cache;
use crate::catalogue::entry::Entry;
use crate::container::Image;
use crate::machine::environment;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::source::error::FetchError;
use crate::source::workspace::Package;
use crate::source::{Source, Tree};

const MANIFEST: &str = "dyno-manifest.json";

/// An engine that can be started.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The engine's entry in the catalogue.
    pub entry: Entry,
    /// The folder into which the engine's packages are unpacked.
    pub root: PathBuf,
    /// The exact version of the main package, as the package manager writes it.
    pub exact_version: String,
    /// The folder of templates, from which data folders of servers are copied.
    pub(crate) templates: PathBuf,
    /// The image that contains the engine. `root` and the paths in `entry` are then paths in this image. `None` if the
    /// engine is in a folder of the host.
    pub(crate) image: Option<Image>,
}

/// The manifest of an installation. It is written last, so a folder without a manifest is not a complete installation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    sources: Vec<Source>,
    packages: Vec<Package>,
}

impl Manifest {
    pub(crate) fn new(entry: &Entry, packages: Vec<Package>) -> Self {
        Self { sources: entry.sources.clone(), packages }
    }

    pub(crate) fn write(&self, root: &Path, tree: &Tree) -> Result<(), FetchError> {
        let text = serde_json::to_vec_pretty(self).map_err(Into::into).at("write", &root.join(MANIFEST))?;
        let written = tree.file(Path::new(MANIFEST), 0o644, &mut text.as_slice());
        written.map_err(|error| FetchError::unpack(root, error))
    }

    fn read(root: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(root.join(MANIFEST)).ok()?).ok()
    }
}

impl Installation {
    /// Finds the installation of an entry in the cache. Ignores an installation that was made when the entry had other
    /// sources.
    pub fn find(entry: &Entry, cache: &Cache) -> Option<Self> {
        let mut entry = entry.clone();
        let templates = cache.templates();
        if !entry.family.has_server() {
            let (root, exact_version) = (cache.root().to_owned(), entry.version.clone());
            return Some(Self { entry, root, exact_version, templates, image: None });
        }
        let root = Self::place(&entry, cache);
        let manifest = Manifest::read(&root).filter(|manifest| manifest.sources == entry.sources)?;
        entry.layout = entry.layout.or_detected(&root)?;
        // The manifest gives no version for a user's own archive, so the entry's version is taken.
        let of_package = manifest.packages.first()?.version.clone();
        let exact_version = if of_package.is_empty() { entry.version.clone() } else { of_package };
        Some(Self { entry, root, exact_version, templates, image: None })
    }

    pub(crate) fn place(entry: &Entry, cache: &Cache) -> PathBuf {
        cache.engines().join(entry.to_string())
    }

    /// Returns the fence for programs of the installation: inside it, they have no capabilities, and run as an
    /// unprivileged account instead of root. `own` lists folders that they must reach besides the installation's
    /// folders.
    pub(crate) fn fence(&self, own: &[&Path]) -> Result<Fence, FenceError> {
        let linked = self.linked_folders();
        let linked = linked.iter().map(PathBuf::as_path);
        let needed: Vec<&Path> = own.iter().copied().chain([self.root.as_path()]).chain(linked).collect();
        Fence::around(&needed)
    }

    /// The folders that contain the targets of symbolic links in `root`. An installation contains such links if its
    /// source is a user's folder.
    fn linked_folders(&self) -> BTreeSet<PathBuf> {
        let items = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let links = items.map(|item| item.path()).filter(|path| path.is_symlink());
        let targets = links.filter_map(|link| link.canonicalize().ok());
        targets.filter_map(|target| target.parent().map(Path::to_owned)).collect()
    }

    /// The image that contains the server, by name and digest. `None` for a server in a folder.
    pub fn image(&self) -> Option<String> {
        self.image.as_ref().map(Image::reference)
    }

    /// Returns the content of the first of `paths` that exists, or `None` if none exists.
    pub(crate) fn read_first(&self, paths: &[PathBuf]) -> Result<Option<String>, PathError> {
        let Some(first) = paths.first() else { return Ok(None) };
        if let Some(image) = &self.image {
            let paths: Vec<&OsStr> = paths.iter().map(|path| path.as_os_str()).collect();
            return image.read_first(&paths).map_err(io::Error::other).at("read", first);
        }
        let found = paths.iter().find(|path| path.exists());
        found.map(|path| fs::read_to_string(path).at("read", path)).transpose()
    }

    /// A command for a program of the installation, with the installation's libraries and loader, and the
    /// environment of servers.
    pub(crate) fn program(&self, path: &Path) -> Command {
        let layout = &self.entry.layout;
        let libraries = layout.libraries.iter().map(|folder| self.path(folder));
        let libraries = env::join_paths(libraries).unwrap_or_default();
        let mut command = if self.image.is_some() {
            // The library path is not set here. The image's environment sets it if needed.
            let mut command = Command::new(path);
            command.env("LC_ALL", "C");
            command
        } else if let Some(loader) = &layout.loader {
            let mut command = Command::new(self.path(loader));
            environment::restrict(&mut command);
            command.arg("--library-path").arg(libraries).arg(path);
            command
        } else {
            let mut command = Command::new(path);
            environment::restrict(&mut command);
            command.env("LD_LIBRARY_PATH", libraries);
            command
        };
        command.envs(&self.entry.environment);
        command
    }

    /// The folders that contain the installation's programs: the server's folder, and the `bin` folder beside it.
    pub(crate) fn program_folders(&self) -> Vec<PathBuf> {
        let server = self.path(&self.entry.layout.server);
        let Some(folder) = server.parent() else { return Vec::new() };
        let beside = folder.parent().map(|parent| parent.join("bin")).filter(|beside| beside != folder);
        std::iter::once(folder.to_owned()).chain(beside).collect()
    }

    /// Finds a program that came with the server. Returns the program's path and the command that runs it. `None`
    /// if there is no such program, or if the server is in an image.
    pub fn tool(&self, name: &str) -> Option<(PathBuf, Command)> {
        if self.image.is_some() {
            return None;
        }
        let path =
            self.program_folders().into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())?;
        let command = self.program(&path);
        Some((path, command))
    }

    /// Records a use, for `dyno engine cache`.
    pub(crate) fn note_use(&self) {
        folder::touch(&self.root.join(MANIFEST));
    }

    /// When the installation in a folder was last used or created. `None` if the folder has no installation.
    pub(crate) fn used_at(root: &Path) -> Option<SystemTime> {
        fs::metadata(root.join(MANIFEST)).and_then(|metadata| metadata.modified()).ok()
    }

    /// Resolves a path inside the installation.
    pub(crate) fn path(&self, inside: &Path) -> PathBuf {
        self.root.join(inside)
    }
}
