//! Fetches an engine: downloads, verifies and unpacks it, then moves it into the cache by a rename.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::installation::{Installation, Manifest};
use crate::cache::location::Cache;
use crate::catalogue::entry::Entry;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::source::error::FetchError;
use crate::source::lock::Lock;
use crate::source::workspace::{Package, Workspace};
use crate::source::{Phase, Progress, Tree};

/// Fetches an engine unless the cache has it.
///
/// If two processes fetch the same engine, one waits for the other. Packages are unpacked next to the installation and
/// synced. Then the folder is renamed, so an installation is always complete. The next fetch removes the files of a
/// killed fetch.
///
/// # Errors
/// A tool is missing, a download fails or has a wrong checksum, or the cache cannot be written.
pub fn fetch(
    entry: &Entry,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installation, FetchError> {
    if let Some(installation) = Installation::find(entry, cache) {
        return Ok(installation);
    }
    if let Some(reason) = entry.obstacle() {
        return Err(FetchError::Obstacle { entry: entry.to_string(), reason });
    }
    let _turn = take_turn(entry, cache, progress)?;
    if let Some(installation) = Installation::find(entry, cache) {
        return Ok(installation);
    }
    let partial = cache.engines().join(format!("{entry}.partial"));
    folder::remove(&partial)?;
    let outcome =
        fetch_into(&partial, entry, cache, progress).and_then(|()| put_in_place(&partial, entry, cache));
    let cleared = folder::remove(&partial);
    remember(&outcome, entry, cache)?;
    let installation = outcome?;
    cleared?;
    Ok(installation)
}

/// Why the last fetch of an entry failed, in one line. `None` if it succeeded.
pub(crate) fn last_failure(entry: &Entry, cache: &Cache) -> Option<String> {
    let failure = fs::read_to_string(failure_file(entry, cache)).ok()?;
    failure.lines().next().map(ToOwned::to_owned)
}

fn failure_file(entry: &Entry, cache: &Cache) -> PathBuf {
    cache.engines().join(format!("{entry}.failure"))
}

fn remember(
    outcome: &Result<Installation, FetchError>,
    entry: &Entry,
    cache: &Cache,
) -> Result<(), PathError> {
    let file = failure_file(entry, cache);
    match outcome {
        Err(error) => fs::write(&file, error.to_string()).at("write", &file),
        Ok(_) if file.exists() => fs::remove_file(&file).at("remove", &file),
        Ok(_) => Ok(()),
    }
}

/// Waits for the lock of an entry's folder in the cache, and reports the wait.
fn take_turn(
    entry: &Entry,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<fs::File, PathError> {
    let path = cache.engines().join(format!("{entry}.lock"));
    let file = folder::open_lock(&path)?;
    if file.try_lock().is_err() {
        progress(Progress { phase: Phase::Waiting, done_bytes: 0, total_bytes: None });
        file.lock().at("lock", &path)?;
    }
    Ok(file)
}

fn fetch_into(
    partial: &Path,
    entry: &Entry,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), FetchError> {
    let tree = partial.join("tree");
    let downloads = partial.join("downloads");
    folder::create(&tree)?;
    folder::create(&downloads)?;
    let total_bytes = entry.download_bytes;
    let mut workspace = Workspace { cache, downloads, tree, total_bytes, new_pins: Vec::new(), progress };
    let packages = fetch_sources(entry, &mut workspace)?;
    complete(entry, &workspace.tree, packages, cache)?;
    Lock::of_user(cache.root()).add(workspace.new_pins)
}

/// The version that an unpacked server prints. It must be the version of the entry.
fn said_by(entry: &Entry, tree: &Path, cache: &Cache) -> Result<String, FetchError> {
    let asked = Installation::said_in(entry, tree, cache);
    let said = asked
        .map_err(|source| FetchError::Silent { entry: entry.to_string(), source: Box::new(source) })?
        .exact;
    if is_version(&said, &entry.version) {
        return Ok(said);
    }
    Err(FetchError::OtherVersion { entry: entry.to_string(), said })
}

/// Whether the version that a server prints (`said`) fits the version of its entry (`wanted`). `10.11.14-MariaDB` fits
/// 10.11.14. `8.4.3` fits `8.4.3-patched`, because users add suffixes to the versions of their own entries.
fn is_version(said: &str, wanted: &str) -> bool {
    let begins = |text: &str, start: &str| {
        let rest = text.strip_prefix(start);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.'))
    };
    begins(said, wanted) || begins(wanted, said)
}

/// Turns a folder of unpacked packages into an installation.
pub(crate) fn complete(
    entry: &Entry,
    folder: &Path,
    mut packages: Vec<Package>,
    cache: &Cache,
) -> Result<(), FetchError> {
    lay_out(entry, folder)?;
    if entry.is_published() {
        let said = said_by(entry, folder, cache)?;
        if let Some(main) = packages.first_mut() {
            main.version = said;
        }
    }
    Manifest::new(entry, packages).write(folder, &Tree::create(folder)?)
}

/// Makes the symbolic links that the layout requires and the packages lack, and makes the server executable.
fn lay_out(entry: &Entry, folder: &Path) -> Result<(), FetchError> {
    let tree = Tree::create(folder)?;
    for (link, target) in &entry.layout.links {
        tree.link(link, target).map_err(|error| FetchError::unpack(folder, error))?;
    }
    let server = entry.layout.or_detected(folder).map(|layout| layout.server).unwrap_or_default();
    let incomplete = || FetchError::Incomplete {
        entry: entry.to_string(),
        path: if server.as_os_str().is_empty() {
            "mysqld, mariadbd or postgres".to_owned()
        } else {
            server.display().to_string()
        },
    };
    if !folder.join(&server).is_file() {
        return Err(incomplete());
    }
    // Some archives do not preserve modes, so the server may not be executable.
    tree.make_executable(&server).map_err(|_| incomplete())
}

/// Fetches all sources: first archives, then users' folders. Between the two, removes the links that came from archives
/// and lead out of the tree. Links to users' folders lead out of the tree and must stay. The returned packages are in
/// the order of the sources.
fn fetch_sources(entry: &Entry, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
    let mut packages = vec![Vec::new(); entry.sources.len()];
    for (source, packages) in
        entry.sources.iter().zip(&mut packages).filter(|(source, _)| !source.is_folder())
    {
        *packages = source.fetch(workspace)?;
    }
    Tree::create(&workspace.tree)?.cut_links().at("read", &workspace.tree)?;
    for (source, packages) in entry.sources.iter().zip(&mut packages).filter(|(source, _)| source.is_folder())
    {
        *packages = source.fetch(workspace)?;
    }
    Ok(packages.concat())
}

fn put_in_place(partial: &Path, entry: &Entry, cache: &Cache) -> Result<Installation, FetchError> {
    let tree = partial.join("tree");
    // A rename may reach the disk before the data. Without a sync, the files could be empty after a power cut.
    let folder = fs::File::open(&tree).at("open", &tree)?;
    rustix::fs::syncfs(&folder).map_err(std::io::Error::from).at("sync", &tree)?;
    let place = Installation::place(entry, cache);
    folder::remove(&place)?;
    fs::rename(&tree, &place).at("create", &place)?;
    Installation::find(entry, cache)
        .ok_or_else(|| FetchError::Incomplete { entry: entry.to_string(), path: "manifest".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_the_version_that_was_wanted_or_another() {
        for (said, wanted) in [
            ("8.0.22", "8.0.22"),
            ("10.11.14-MariaDB", "10.11.14"),
            ("8.0.43-34", "8.0.43-34"),
            ("8.4.3", "8.4.3-patched"),
        ] {
            assert!(is_version(said, wanted), "{said} {wanted}");
        }
        for (said, wanted) in
            [("8.0.21", "8.0.22"), ("8.0.220", "8.0.22"), ("17", "17.6"), ("8.0.43-33", "8.0.43-34")]
        {
            assert!(!is_version(said, wanted), "{said} {wanted}");
        }
    }
}
