//! Makes a catalogue entry for a user's archive. Runs the server in the archive to learn the entry's engine and
//! version.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use thiserror::Error;
use toml::{Table, Value};

use super::download::curl::{self, Url};
use super::download::integrity::Integrity;
use super::error::{BasedirError, FetchError};
use super::tarball::{Location, unpack_whole};
use super::vendor::is_page;
use super::{Phase, Progress};
use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::catalogue::entry::Entry;
use crate::catalogue::error::CatalogueError;
use crate::catalogue::name::SystemName;
use crate::catalogue::{own, places};
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::source::workspace::Workspace;

/// An entry that was made from an archive, and facts about the archive.
#[derive(Debug)]
pub struct Added {
    pub entry: Entry,
    /// The file that the entry is in.
    pub file: PathBuf,
    /// The version that the server reports.
    pub exact_version: String,
    /// The archive's checksum, as `sha256sum` prints it.
    pub sha256: String,
}

/// Why an archive cannot become an entry.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AddError {
    /// The archive cannot be downloaded or unpacked.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The archive is given by an address from which Dyno does not fetch.
    #[error("{0}")]
    Place(String),
    /// The archive has no server, or its server does not run here.
    #[error("the archive cannot be used: {0}")]
    Server(#[from] BasedirError),
    /// There is already an entry of that name.
    #[error("{} exists already; remove it, or give another --name", file.display())]
    Exists { file: PathBuf },
    /// There is no home folder, so this user has no folder of entries.
    #[error("there is no home folder for the entry; set XDG_CONFIG_HOME")]
    NoHome,
    /// The entry would not be valid, for example because the name does not name an engine.
    #[error(transparent)]
    Entry(#[from] CatalogueError),
}

impl From<PathError> for AddError {
    fn from(error: PathError) -> Self {
        Self::Fetch(error.into())
    }
}

/// Makes an entry for an archive, given as a file or an address. Runs the server in the archive to learn its product
/// and version. `name` gives the entry another name or version. `sha256` is the checksum that the archive must have.
///
/// # Errors
/// The archive cannot be downloaded, has another checksum, or has no server that runs here, or there is already an
/// entry of that name.
pub fn add(
    place: &str,
    name: Option<&SystemName>,
    sha256: Option<&str>,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<Added, AddError> {
    let location = locate(place)?;
    let entries = places::settings().ok_or(AddError::NoHome)?;
    let parent = cache.tool("add");
    let _turn = folder::lock(&parent.with_extension("lock"))?;
    folder::remove(&parent)?;
    let [downloads, tree] = ["downloads", "tree"].map(|name| parent.join(name));
    folder::create(&downloads)?;
    folder::create(&tree)?;
    let new_pins = Vec::new();
    let workspace = &mut Workspace { cache, downloads, tree, total_bytes: 0, new_pins, progress };
    let outcome = make(&location, name, sha256, &entries, workspace);
    folder::remove(&parent)?;
    outcome
}

fn locate(place: &str) -> Result<Location, AddError> {
    if place.contains("://") {
        return Url::try_from(place.to_owned()).map(Location::Url).map_err(AddError::Place);
    }
    let path = Path::new(place);
    Ok(Location::Path(path.canonicalize().at("find", path)?))
}

fn make(
    location: &Location,
    name: Option<&SystemName>,
    sha256: Option<&str>,
    entries: &Path,
    workspace: &mut Workspace<'_>,
) -> Result<Added, AddError> {
    let archive = match location {
        Location::Path(path) => path.clone(),
        Location::Url(url) => {
            let archive = workspace.downloads.join(url.file_name());
            curl::download(url, &archive, workspace)?;
            archive
        }
    };
    if is_page(&archive)? {
        let failures = vec![(archive_of(location), "it is a page, not an archive".to_owned())];
        return Err(FetchError::NotThere { file: location.name(), failures }.into());
    }
    let digits = Integrity::sha256_of(&archive)?.digits();
    if let Some(expected) = sha256.filter(|expected| !expected.eq_ignore_ascii_case(&digits)) {
        let (package, expected) = (location.name(), expected.to_owned());
        return Err(FetchError::Checksum { package, expected, found: digits }.into());
    }
    workspace.enter(Phase::Unpacking);
    unpack_whole(&archive, workspace)?;
    let found = Installation::from_basedir(&workspace.tree)?;
    let (entry, file) = write(&found, location, name, &digits, entries)?;
    if let Location::Url(_) = location {
        keep(&archive, &digits, workspace.cache)?;
    }
    Ok(Added { entry, file, exact_version: found.exact_version, sha256: digits })
}

/// Keeps a downloaded archive, so that the fetch of its entry does not download it again.
fn keep(archive: &Path, digits: &str, cache: &Cache) -> Result<(), PathError> {
    let folder = cache.tool("curl").join(digits);
    folder::create(&folder)?;
    let kept = folder.join(archive.file_name().unwrap_or_default());
    fs::rename(archive, &kept).at("create", &kept)
}

fn archive_of(location: &Location) -> String {
    match location {
        Location::Path(path) => path.display().to_string(),
        Location::Url(url) => url.text().to_owned(),
    }
}

/// Writes the entry of a server. Fails if there is already an entry of that name.
fn write(
    found: &Installation,
    location: &Location,
    name: Option<&SystemName>,
    sha256: &str,
    entries: &Path,
) -> Result<(Entry, PathBuf), AddError> {
    let engine = name.map_or(&found.entry.engine, |name| &name.engine);
    let version = name.and_then(|name| name.version.as_ref()).unwrap_or(&found.entry.version);
    let file = entries.join(format!("{engine}-{version}.toml"));
    let text = text(&found.entry, (engine.as_str(), version.as_str()), location, sha256)
        .map_err(std::io::Error::other)
        .at("write", &file)?;
    let entry = own::parse(&text, &file)?;
    fs::create_dir_all(entries).at("create", entries)?;
    let mut new = match File::create_new(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(AddError::Exists { file });
        }
        new => new.at("create", &file)?,
    };
    std::io::Write::write_all(&mut new, text.as_bytes()).at("write", &file)?;
    Ok((entry, file))
}

fn text(
    found: &Entry,
    (engine, version): (&str, &str),
    location: &Location,
    sha256: &str,
) -> Result<String, toml::ser::Error> {
    let source = match location {
        Location::Path(path) => ("path", path.display().to_string()),
        Location::Url(url) => ("url", url.text().to_owned()),
    };
    let source = [("kind", "tarball"), (source.0, source.1.as_str()), ("sha256", sha256)];
    let source: Table = source.map(|(key, text)| (key.to_owned(), Value::from(text))).into_iter().collect();
    let mut table = Table::new();
    for (key, text) in [
        ("engine", engine),
        ("version", version),
        ("family", found.family.engine()),
        ("architecture", env::consts::ARCH),
    ] {
        table.insert(key.to_owned(), Value::from(text));
    }
    table.insert("storage_engines".to_owned(), Value::try_from(&found.storage_engines)?);
    table.insert("options".to_owned(), Value::try_from(&found.options)?);
    table.insert("storage_engine_options".to_owned(), Value::try_from(&found.storage_engine_options)?);
    table.insert("source".to_owned(), Value::Array(vec![Value::Table(source)]));
    table.retain(|_, value| value.as_table().is_none_or(|table| !table.is_empty()));
    toml::to_string(&table)
}
