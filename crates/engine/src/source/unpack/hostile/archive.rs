//! Makes archives that no tool would make, and unpacks them as sources do.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ::tar::{EntryType, Header};
use ::zip::ZipWriter;
use ::zip::write::SimpleFileOptions;
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use sha2::{Digest as _, Sha256};

use super::guard::Place;
use crate::cache::location::Cache;
use crate::source::Source;
use crate::source::error::FetchError;
use crate::source::packages::deb;
use crate::source::unpack::{Wanted, tar_gz, tar_xz_in_zip, zip};
use crate::source::workspace::Workspace;

/// How an archive is packed, and the source that unpacks it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    TarballGz,
    TarballXz,
    TarballZip,
    Npm,
    Wheel,
    Jar,
    /// A `.tar.xz` in a jar.
    TarInJar,
    Deb,
}

pub(super) struct Item {
    pub(super) path: PathBuf,
    pub(super) mode: u32,
    pub(super) content: Content,
}

pub(super) enum Content {
    Folder,
    File,
    Pipe,
    Link(PathBuf),
    HardLink(PathBuf),
}

pub(super) struct Archive {
    pub(super) kind: Kind,
    pub(super) items: Vec<Item>,
}

const CONTENT: &[u8] = b"hostile";
const TAR_IN_JAR: &str = "server.txz";

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::TarballGz,
        Self::TarballXz,
        Self::TarballZip,
        Self::Npm,
        Self::Wheel,
        Self::Jar,
        Self::TarInJar,
        Self::Deb,
    ];

    fn file_name(self) -> &'static str {
        match self {
            Self::TarballGz => "a.tar.gz",
            Self::TarballXz => "a.tar.xz",
            Self::TarballZip => "a.zip",
            Self::Npm => "a.tgz",
            Self::Wheel => "a.whl",
            Self::Jar | Self::TarInJar => "a.jar",
            Self::Deb => "a_1_all.deb",
        }
    }
}

impl Archive {
    /// Packs the archive, and unpacks it into the folder [`Place::tree`].
    pub(super) fn unpack(&self, place: &Place) -> Result<(), FetchError> {
        let archive = place.archives().join(self.kind.file_name());
        fs::write(&archive, self.bytes()).unwrap();
        let downloads = place.archives().join("downloads");
        fs::create_dir_all(&downloads).unwrap();
        let tree = place.tree();
        let outcome = match self.kind {
            Kind::TarballGz | Kind::TarballXz | Kind::TarballZip => {
                in_workspace(&downloads, &tree, |workspace| fetch_tarball(&archive, workspace))
            }
            Kind::Npm => tar_gz(&archive, &tree),
            Kind::Wheel => zip(&archive, &tree, &Wanted::default()),
            Kind::Jar => {
                zip(&archive, &tree, &Wanted { folder: "a", only: &["bin".to_owned(), "b".to_owned()] })
            }
            Kind::TarInJar => tar_xz_in_zip(&archive, TAR_IN_JAR, &tree),
            Kind::Deb => in_workspace(&downloads, &tree, |workspace| {
                deb::unpack(&[archive], "a", "", workspace).map(drop)
            }),
        };
        fs::remove_dir_all(&downloads).unwrap();
        outcome
    }

    fn bytes(&self) -> Vec<u8> {
        match self.kind {
            Kind::TarballGz | Kind::Npm => gz(&self.tar()),
            Kind::TarballXz => xz(&self.tar()),
            Kind::TarballZip | Kind::Wheel | Kind::Jar => self.zip(),
            Kind::TarInJar => zip_of(TAR_IN_JAR, &xz(&self.tar())),
            Kind::Deb => deb_of(&gz(&self.tar())),
        }
    }

    /// Writes every name as a GNU long name, because the `tar` crate refuses hostile names only in headers.
    fn tar(&self) -> Vec<u8> {
        let mut tar = Vec::new();
        for Item { path, mode, content } in &self.items {
            push(&mut tar, EntryType::GNULongName, 0, path.as_os_str().as_bytes());
            if let Content::Link(target) | Content::HardLink(target) = content {
                push(&mut tar, EntryType::GNULongLink, 0, target.as_os_str().as_bytes());
            }
            let (kind, bytes) = match content {
                Content::Folder => (EntryType::Directory, &[][..]),
                Content::File => (EntryType::Regular, CONTENT),
                Content::Pipe => (EntryType::Fifo, &[][..]),
                Content::Link(_) => (EntryType::Symlink, &[][..]),
                Content::HardLink(_) => (EntryType::Link, &[][..]),
            };
            push(&mut tar, kind, *mode, bytes);
        }
        tar.resize(tar.len() + 1024, 0);
        tar
    }

    /// Leaves out items that zip archives cannot have, and repeated names, which the `zip` crate does not write.
    fn zip(&self) -> Vec<u8> {
        let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for Item { path, mode, content } in &self.items {
            let options = SimpleFileOptions::default().unix_permissions(*mode);
            let name = path.to_string_lossy().into_owned();
            let _ = match content {
                Content::Folder => zip.add_directory(name, options),
                Content::File => {
                    zip.start_file(name, options).and_then(|()| zip.write_all(CONTENT).map_err(Into::into))
                }
                Content::Link(target) => zip.add_symlink(name, target.to_string_lossy(), options),
                Content::Pipe | Content::HardLink(_) => Ok(()),
            };
        }
        zip.finish().unwrap().into_inner()
    }
}

/// Appends a header and its content.
fn push(tar: &mut Vec<u8>, kind: EntryType, mode: u32, content: &[u8]) {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(content.len() as u64);
    header.set_cksum();
    tar.extend(header.as_bytes());
    tar.extend(content);
    tar.resize(tar.len().next_multiple_of(512), 0);
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn zip_of(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(bytes).unwrap();
    zip.finish().unwrap().into_inner()
}

/// A Debian package (deb(5)), which is an ar(5) archive.
fn deb_of(data: &[u8]) -> Vec<u8> {
    let mut deb = b"!<arch>\n".to_vec();
    for (name, content) in
        [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", &gz(&[0; 1024])), ("data.tar.gz", data)]
    {
        deb.extend(
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len()).bytes(),
        );
        deb.extend(content);
        deb.resize(deb.len().next_multiple_of(2), b'\n');
    }
    deb
}

fn fetch_tarball(archive: &Path, workspace: &mut Workspace<'_>) -> Result<(), FetchError> {
    let digits = sha256_digits(archive);
    let text = format!("kind = 'tarball'\npath = '{}'\nsha256 = '{digits}'", archive.display());
    toml::from_str::<Source>(&text).unwrap().fetch(workspace).map(drop)
}

fn sha256_digits(file: &Path) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(fs::read(file).unwrap()) {
        write!(digits, "{byte:02x}").unwrap();
    }
    digits
}

fn in_workspace<T>(downloads: &Path, tree: &Path, action: impl FnOnce(&mut Workspace<'_>) -> T) -> T {
    action(&mut Workspace {
        cache: &Cache::new(downloads),
        downloads: downloads.to_owned(),
        tree: tree.to_owned(),
        total_bytes: 0,
        new_pins: Vec::new(),
        progress: &mut |_| (),
    })
}
