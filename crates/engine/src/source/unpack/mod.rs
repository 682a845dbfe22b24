//! Unpacks archives. Whatever an archive contains, nothing is written outside the given folder, and no link is followed
//! out of it.

mod error;
#[cfg(test)]
mod hostile;
mod tar;
mod tree;
mod zip;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use ::zip::ZipArchive;
use flate2::read::GzDecoder;
use lzma_rust2::XzReader;

pub use self::error::UnpackError;
pub(crate) use self::tree::Tree;
pub(super) use self::zip::Wanted;
use super::error::FetchError;
use crate::machine::path_error::{At as _, PathError};

/// Unpacks an archive by its extension: `.tar.gz`, `.tgz`, `.tar.xz`, `.txz`, `.zip` or `.jar`.
pub(super) fn by_name(archive: &Path, into: &Path) -> Result<(), FetchError> {
    let name = archive.to_string_lossy().to_ascii_lowercase();
    let ends = |endings: [&str; 2]| endings.iter().any(|ending| name.ends_with(ending));
    if ends([".tar.gz", ".tgz"]) {
        tar_gz(archive, into)
    } else if ends([".tar.xz", ".txz"]) {
        tar(XzReader::new(open(archive)?, true), archive, into)
    } else if ends([".zip", ".jar"]) {
        zip(archive, into, &Wanted::default())
    } else {
        Err(FetchError::UnknownArchive { path: archive.to_owned() })
    }
}

/// Unpacks a `.tar.gz`.
pub(super) fn tar_gz(archive: &Path, into: &Path) -> Result<(), FetchError> {
    tar(GzDecoder::new(open(archive)?), archive, into)
}

/// Unpacks a tar archive from `reader`. `archive` is for messages.
pub(super) fn tar(reader: impl Read, archive: &Path, into: &Path) -> Result<(), FetchError> {
    let tree = Tree::create(into)?;
    tar::unpack(reader, &tree).map_err(|error| FetchError::unpack(archive, error))
}

/// Unpacks a part of a zip archive.
pub(super) fn zip(archive: &Path, into: &Path, wanted: &Wanted<'_>) -> Result<(), FetchError> {
    let tree = Tree::create(into)?;
    zip::unpack(&mut open_zip(archive)?, &tree, wanted).map_err(|error| FetchError::unpack(archive, error))
}

/// Unpacks a `.tar.xz` inside a zip archive.
pub(super) fn tar_xz_in_zip(archive: &Path, name: &str, into: &Path) -> Result<(), FetchError> {
    let mut zip = open_zip(archive)?;
    let item = zip.by_name(name).map_err(io::Error::other).at("unpack", archive)?;
    tar(XzReader::new(item, true), archive, into)
}

fn open(archive: &Path) -> Result<BufReader<File>, PathError> {
    Ok(BufReader::new(File::open(archive).at("open", archive)?))
}

fn open_zip(archive: &Path) -> Result<ZipArchive<impl Read + Seek>, PathError> {
    ZipArchive::new(open(archive)?).map_err(io::Error::other).at("unpack", archive)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use ::zip::ZipWriter;
    use ::zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn a_zip_gives_the_wanted_files_with_their_modes() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.zip");
        let mut writer = ZipWriter::new(File::create(&archive).unwrap());
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
        let mut writer = ZipWriter::new(File::create(&archive).unwrap());
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
