//! Unpacks archives. Nothing is written outside the given folder, whatever an archive contains.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use lzma_rust2::XzReader;
use zip::ZipArchive;
use zip::read::ZipFile;

use super::error::FetchError;
use crate::path_error::{At, PathError};

/// The part of a zip archive to unpack.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted<'a> {
    /// The folder to unpack; empty for the whole archive.
    pub(super) folder: &'a str,
    /// Folders and files below it; empty for all.
    pub(super) only: &'a [String],
}

impl Wanted<'_> {
    /// The target of a path in the archive; none if it is not wanted.
    fn place(&self, path: &Path) -> Option<PathBuf> {
        let path = path.strip_prefix(self.folder).ok()?;
        let is_wanted = self.only.is_empty() || self.only.iter().any(|wanted| path.starts_with(wanted));
        is_wanted.then(|| path.to_owned())
    }
}

/// Unpacks an archive by its extension: `.tar.gz`, `.tgz`, `.tar.xz`, `.txz` or `.zip`.
pub(super) fn by_name(archive: &Path, into: &Path) -> Result<(), FetchError> {
    let name = archive.to_string_lossy().to_ascii_lowercase();
    let ends = |endings: [&str; 2]| endings.iter().any(|ending| name.ends_with(ending));
    if ends([".tar.gz", ".tgz"]) {
        tar_gz(archive, into)
    } else if ends([".tar.xz", ".txz"]) {
        Ok(tar(XzReader::new(open(archive)?, true), into).at("unpack", archive)?)
    } else if ends([".zip", ".jar"]) {
        zip(archive, into, &Wanted::default())
    } else {
        Err(FetchError::UnknownArchive { path: archive.to_owned() })
    }
}

/// Unpacks a `.tar.gz`.
pub(super) fn tar_gz(archive: &Path, into: &Path) -> Result<(), FetchError> {
    Ok(tar(GzDecoder::new(open(archive)?), into).at("unpack", archive)?)
}

fn tar(reader: impl Read, into: &Path) -> io::Result<()> {
    tar::Archive::new(reader).unpack(into)
}

/// Unpacks a part of a zip archive.
pub(super) fn zip(archive: &Path, into: &Path, wanted: &Wanted<'_>) -> Result<(), FetchError> {
    let mut zip = open_zip(archive)?;
    for index in 0..zip.len() {
        let mut item = zip.by_index(index).map_err(broken).at("unpack", archive)?;
        let Some(place) = item.enclosed_name().and_then(|path| wanted.place(&path)) else { continue };
        if !item.is_dir() {
            let target = into.join(place);
            write(&mut item, &target).at("write", &target)?;
        }
    }
    Ok(())
}

/// Unpacks a `.tar.xz` inside a zip archive.
pub(super) fn tar_xz_in_zip(archive: &Path, name: &str, into: &Path) -> Result<(), FetchError> {
    let mut zip = open_zip(archive)?;
    let item = zip.by_name(name).map_err(broken).at("unpack", archive)?;
    Ok(tar(XzReader::new(item, true), into).at("unpack", archive)?)
}

fn open(archive: &Path) -> Result<BufReader<File>, PathError> {
    Ok(BufReader::new(File::open(archive).at("open", archive)?))
}

fn open_zip(archive: &Path) -> Result<ZipArchive<impl Read + Seek>, PathError> {
    ZipArchive::new(open(archive)?).map_err(broken).at("unpack", archive)
}

fn broken(error: zip::result::ZipError) -> io::Error {
    io::Error::other(error)
}

fn write<R: Read>(item: &mut ZipFile<'_, R>, target: &Path) -> io::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::create(target)?;
    // Archives made on systems without file modes have none.
    if let Some(mode) = item.unix_mode().filter(|mode| mode & 0o777 != 0) {
        file.set_permissions(fs::Permissions::from_mode(mode & 0o777))?;
    }
    io::copy(item, &mut file).map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn a_zip_gives_the_wanted_files_with_their_modes() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.zip");
        let mut writer = zip::ZipWriter::new(File::create(&archive).unwrap());
        for name in ["bin/server", "bin/server-debug", "../escaped", "docs/README"] {
            writer.start_file(name, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
            writer.write_all(name.as_bytes()).unwrap();
        }
        writer.finish().unwrap();

        let into = folder.path().join("tree");
        zip(&archive, &into, &Wanted { folder: "", only: &["bin/server".to_owned()] }).unwrap();

        assert_eq!(fs::read_to_string(into.join("bin/server")).unwrap(), "bin/server");
        assert_eq!(fs::metadata(into.join("bin/server")).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(!into.join("bin/server-debug").exists());
        assert!(!into.join("docs").exists());
        assert!(!folder.path().join("escaped").exists());
    }

    #[test]
    fn a_folder_of_a_zip_is_the_root_of_what_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.jar");
        let mut writer = zip::ZipWriter::new(File::create(&archive).unwrap());
        for name in ["org/server/bin/mysqld", "META-INF/MANIFEST.MF"] {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
        }
        writer.finish().unwrap();
        let into = folder.path().join("tree");
        zip(&archive, &into, &Wanted { folder: "org/server", only: &[] }).unwrap();
        assert!(into.join("bin/mysqld").is_file());
        assert!(!into.join("META-INF").exists());
    }

    #[test]
    fn an_archive_of_an_unknown_kind_is_named() {
        let error = by_name(Path::new("/tmp/server.rar"), Path::new("/nowhere")).unwrap_err();
        assert!(error.to_string().contains("/tmp/server.rar"), "{error}");
    }
}
