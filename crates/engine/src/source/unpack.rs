//! Opens archives.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;

use crate::fetch::FetchError;
use crate::path_error::At;

/// Unpacks a `.tar.gz`; nothing lands outside the folder, whatever the archive says.
pub(super) fn tar_gz(archive: &Path, into: &Path) -> Result<(), FetchError> {
    let file = BufReader::new(File::open(archive).at("open", archive)?);
    Ok(tar::Archive::new(GzDecoder::new(file)).unpack(into).at("unpack", archive)?)
}

/// Unpacks a zip archive: what is at or below the paths `only`, or all of it where there are none.
pub(super) fn zip(archive: &Path, into: &Path, only: &[String]) -> Result<(), FetchError> {
    let file = BufReader::new(File::open(archive).at("open", archive)?);
    let broken = |error: zip::result::ZipError| io::Error::other(error);
    let mut zip = zip::ZipArchive::new(file).map_err(broken).at("unpack", archive)?;
    for index in 0..zip.len() {
        let mut item = zip.by_index(index).map_err(broken).at("unpack", archive)?;
        let Some(path) = item.enclosed_name() else { continue };
        if item.is_dir() || !(only.is_empty() || only.iter().any(|wanted| path.starts_with(wanted))) {
            continue;
        }
        let target = into.join(path);
        write(&mut item, &target).at("write", &target)?;
    }
    Ok(())
}

fn write<R: io::Read>(item: &mut zip::read::ZipFile<'_, R>, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = File::create(target)?;
    if let Some(mode) = item.unix_mode() {
        file.set_permissions(std::fs::Permissions::from_mode(mode & 0o777))?;
    }
    io::copy(item, &mut file).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

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
        zip(&archive, &into, &["bin/server".to_owned()]).unwrap();

        assert_eq!(fs::read_to_string(into.join("bin/server")).unwrap(), "bin/server");
        assert_eq!(fs::metadata(into.join("bin/server")).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(!into.join("bin/server-debug").exists());
        assert!(!into.join("docs").exists());
        assert!(!folder.path().join("escaped").exists());
    }
}
