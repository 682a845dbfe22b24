//! Archives of Debian packages: names, versions, contents.

use std::fs;
use std::path::{Path, PathBuf};

use crate::machine::path_error::{At as _, PathError};
use crate::source::download::tool::Tool;
use crate::source::error::FetchError;
use crate::source::unpack;
use crate::source::workspace::{Package, Workspace};

/// Unpacks archives into the workspace if the main package has the wanted version. Returns the packages. The main
/// package comes first.
pub(in crate::source) fn unpack(
    archives: &[PathBuf],
    main: &str,
    wanted: &str,
    workspace: &mut Workspace<'_>,
) -> Result<Vec<Package>, FetchError> {
    let mut packages: Vec<Package> = archives.iter().filter_map(|path| package(path)).collect();
    packages.sort_by_key(|package| (package.name != main, package.name.clone()));
    check_version(&packages, main, wanted)?;
    for archive in archives {
        // `dpkg-deb --extract` would follow links that other packages have put into the tree. So `dpkg-deb` only prints
        // the content as a tar archive, and Dyno unpacks it.
        let content = Tool::new("dpkg-deb").args([Path::new("--fsys-tarfile"), archive]);
        let tree = workspace.tree.clone();
        content.stream(workspace, |content| unpack::tar(content, archive, &tree))?;
    }
    Ok(packages)
}

fn check_version(packages: &[Package], main: &str, wanted: &str) -> Result<(), FetchError> {
    let package = packages.first().filter(|package| package.name == main);
    let package = package.ok_or_else(|| FetchError::NotDownloaded { package: main.to_owned() })?;
    if upstream(&package.version).starts_with(wanted) {
        return Ok(());
    }
    let Package { name, version } = package.clone();
    Err(FetchError::WrongVersion { package: name, wanted: wanted.to_owned(), found: version })
}

/// The archives of a folder.
pub(in crate::source) fn archives(folder: &Path) -> Result<Vec<PathBuf>, PathError> {
    let mut archives = Vec::new();
    for item in fs::read_dir(folder).at("read", folder)? {
        archives.push(item.at("read", folder)?.path());
    }
    archives.retain(|path| package(path).is_some());
    Ok(archives)
}

/// Reads the name of an archive: `NAME_VERSION_ARCHITECTURE.deb`, with `%3a` for `:`.
fn package(archive: &Path) -> Option<Package> {
    let name = archive.file_name()?.to_string_lossy().into_owned();
    let mut parts = name.strip_suffix(".deb")?.split('_');
    Some(Package { name: parts.next()?.to_owned(), version: parts.next()?.replace("%3a", ":") })
}

/// A Debian version without its epoch: `1:10.11.14-0+deb12u2` is `10.11.14-0+deb12u2`.
fn upstream(version: &str) -> &str {
    version.split_once(':').map_or(version, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_tells_its_package_and_version() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["mariadb-server-core_1%3a10.11.14-0+deb12u2_amd64.deb", "libmariadb3_9_amd64.deb", "lock"]
        {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let archives = archives(folder.path()).unwrap();
        assert_eq!(archives.len(), 2);
        let mut packages: Vec<Package> = archives.iter().filter_map(|path| package(path)).collect();
        packages.sort_by_key(|package| package.name != "mariadb-server-core");
        assert_eq!(packages[0].version, "1:10.11.14-0+deb12u2");

        check_version(&packages, "mariadb-server-core", "10.11.").unwrap();
        let error = check_version(&packages, "mariadb-server-core", "11.8.").unwrap_err();
        assert!(matches!(error, FetchError::WrongVersion { .. }), "{error}");
        let error = check_version(&packages, "mariadb", "").unwrap_err();
        assert!(matches!(error, FetchError::NotDownloaded { .. }), "{error}");
    }
}
