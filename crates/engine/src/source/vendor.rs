//! Source `vendor`: an archive that its vendor publishes at one of several addresses. A known checksum, or a
//! checksum that the vendor publishes, verifies the archive. The first fetch pins the archive in `lock.toml`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::download::curl::{self, Https, Url};
use super::download::integrity::Integrity;
use super::download::progress::Phase;
use super::download::sums;
use super::download::word::Word;
use super::error::FetchError;
use super::lock::Lock;
use super::tarball::unpack_whole;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::source::workspace::{Package, Workspace};

/// Limit of the size of a list of checksums. Real lists are smaller.
const SUMS_BYTES_MAX: u64 = 8 << 20;

/// An archive that its vendor publishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vendor {
    /// The archive's name. Its extension shows the archive's kind.
    file: Word,
    /// Addresses of folders that may have the archive. The likeliest comes first.
    folders: Vec<Https>,
    /// Where the archive's checksum is published: addresses, or names of files beside the archive. In a name,
    /// `{file}` stands for the archive's name.
    #[serde(default)]
    sums: Vec<Sums>,
    /// The archive's checksum, if known: hexadecimal digits of MD5, SHA-256 or SHA-512.
    #[serde(default)]
    digest: Option<Digits>,
    /// The archive's size in bytes, if known.
    #[serde(default)]
    bytes: Option<u64>,
    /// Whether TLS alone is trusted if no checksum is found.
    #[serde(default)]
    trust_tls: bool,
}

/// Where checksums are published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
enum Sums {
    /// A file in the archive's folder.
    Beside(String),
    At(Https),
}

/// A checksum in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Digits(Integrity);

impl TryFrom<String> for Sums {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.contains("://") {
            return Https::try_from(text).map(Self::At);
        }
        Word::try_from(text.replace("{file}", "file"))?;
        Ok(Self::Beside(text))
    }
}

impl From<Sums> for String {
    fn from(sums: Sums) -> Self {
        match sums {
            Sums::Beside(name) => name,
            Sums::At(address) => address.into(),
        }
    }
}

impl TryFrom<String> for Digits {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let integrity = Integrity::from_digits(&text);
        integrity.map(Self).ok_or_else(|| {
            format!("'{text}' is not a checksum; write the digits that md5sum, sha256sum or sha512sum prints")
        })
    }
}

impl From<Digits> for String {
    fn from(digits: Digits) -> Self {
        digits.0.digits()
    }
}

impl Vendor {
    pub(super) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let folder = workspace.cache.tool("curl").join(&*self.file);
        let _turn = folder::lock(&workspace.cache.tool("curl").join(format!("{}.lock", self.file)))?;
        let archive = folder.join(&*self.file);
        let from = self.download(&archive, workspace)?;
        workspace.enter(Phase::Unpacking);
        let outcome = self.check(&archive, from, workspace).and_then(|()| unpack_whole(&archive, workspace));
        // The downloaded archive is removed after an error too. Otherwise a complete but wrong archive would stay, and
        // would never be downloaded again.
        folder::remove(&folder)?;
        outcome?;
        Ok(vec![Package { name: self.file.clone().into(), version: String::new() }])
    }

    /// The archive's name, by which it is pinned.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the address that a fetch tries first.
    pub(super) fn address(&self) -> String {
        self.folders.first().map_or_else(String::new, |folder| folder.join(&self.file).text().to_owned())
    }

    /// Returns how a fetch checks the archive, in words. Downloads nothing.
    pub(super) fn check_in_words(&self) -> String {
        match &self.digest {
            Some(digest) => in_words(Some(&digest.0), self.bytes),
            None if self.trust_tls => "published checksum if found, else TLS only".to_owned(),
            None => "published checksum".to_owned(),
        }
    }

    /// Downloads the archive from the first folder that has it. Returns that folder.
    fn download(&self, archive: &Path, workspace: &mut Workspace<'_>) -> Result<&Https, FetchError> {
        let (mut failures, mut offline, mut is_reached) = (Vec::new(), None, false);
        for folder in &self.folders {
            let url = folder.join(&self.file);
            let failure = match curl::download(&url, archive, workspace) {
                Ok(()) if is_page(archive)? => {
                    is_reached = true;
                    fs::remove_file(archive).at("remove", archive)?;
                    "it answers with a page in place of the archive".to_owned()
                }
                Ok(()) => return Ok(folder),
                Err(FetchError::ToolFailed { output, status, .. }) => {
                    is_reached = true;
                    output.last().cloned().unwrap_or(status)
                }
                Err(FetchError::Unreachable { tool, complaint }) => {
                    offline = Some(FetchError::Unreachable { tool, complaint: complaint.clone() });
                    complaint
                }
                Err(error) => return Err(error),
            };
            failures.push((url.text().to_owned(), failure));
        }
        match offline {
            Some(error) if !is_reached => Err(error),
            _ => Err(FetchError::NotThere { file: self.file.clone().into(), failures }),
        }
    }

    /// Compares the archive with the known size and checksums, then with its pin.
    fn check(&self, archive: &Path, from: &Https, workspace: &mut Workspace<'_>) -> Result<(), FetchError> {
        let found_bytes = fs::metadata(archive).at("read", archive)?.len();
        if let Some(bytes) = self.bytes.filter(|bytes| *bytes != found_bytes) {
            let [expected, found] = [bytes, found_bytes].map(|bytes| format!("{bytes} bytes"));
            return Err(FetchError::Checksum { package: self.file.clone().into(), expected, found });
        }
        let expected = match &self.digest {
            Some(digest) => Some(digest.0.clone()),
            None => self.published(archive, from, workspace),
        };
        let lock = Lock::of_user(workspace.cache.root());
        if expected.is_none() && !self.trust_tls && lock.pin_of(&self.file)?.is_none() {
            return Err(FetchError::NoChecksum { file: self.file.clone().into() });
        }
        if let Some(expected) = &expected {
            let found = expected.found_in(archive)?;
            if found != *expected {
                let [expected, found] =
                    [expected, &found].map(|sum| format!("{} {}", sum.algorithm(), sum.digits()));
                return Err(FetchError::Checksum { package: self.file.clone().into(), expected, found });
            }
        }
        let checked = in_words(expected.as_ref(), self.bytes);
        let new = lock.compare(archive, &self.file, from.join(&self.file).text(), &checked)?;
        workspace.new_pins.extend(new);
        Ok(())
    }

    /// The checksum that the vendor publishes, if there is one.
    fn published(&self, archive: &Path, from: &Https, workspace: &mut Workspace<'_>) -> Option<Integrity> {
        let file = archive.with_extension("sums");
        self.sums.iter().find_map(|sums| {
            let url: Url = match sums {
                Sums::Beside(name) => from.join(&name.replace("{file}", &self.file)),
                Sums::At(address) => address.url().clone(),
            };
            // Removes an earlier list. Otherwise curl would continue that list as if it were a part of this one.
            let _ = fs::remove_file(&file);
            curl::download(&url, &file, workspace).ok()?;
            sums::find(&read_start(&file).ok()?, &self.file)
        })
    }
}

fn in_words(integrity: Option<&Integrity>, bytes: Option<u64>) -> String {
    match integrity {
        None => "TLS only".to_owned(),
        Some(integrity) if integrity.is_strong() => integrity.algorithm().to_owned(),
        Some(integrity) if bytes.is_some() => format!("{} and size only", integrity.algorithm()),
        Some(integrity) => format!("{} only", integrity.algorithm()),
    }
}

fn read_start(file: &Path) -> Result<String, PathError> {
    let mut bytes = Vec::new();
    let file_open = File::open(file).at("open", file)?;
    file_open.take(SUMS_BYTES_MAX).read_to_end(&mut bytes).at("read", file)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a file begins like a web page.
pub(super) fn is_page(file: &Path) -> Result<bool, PathError> {
    let mut start = Vec::new();
    File::open(file).at("open", file)?.take(256).read_to_end(&mut start).at("read", file)?;
    Ok(start.trim_ascii_start().starts_with(b"<"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(more: &str) -> Result<Vendor, toml::de::Error> {
        toml::from_str(&format!("file = 'a-1.tar.gz'\nfolders = ['https://x.test/a/']\n{more}"))
    }

    #[test]
    fn an_archive_is_checked_as_well_as_can_be() {
        let of = |more: &str| parse(more).unwrap().check_in_words();
        assert_eq!(of("sums = ['sha256sums.txt', '{file}.md5']"), "published checksum");
        assert_eq!(of("trust_tls = true"), "published checksum if found, else TLS only");
        assert_eq!(of(&format!("digest = '{}'", "ab".repeat(64))), "SHA-512");
        assert_eq!(of(&format!("digest = '{}'", "ab".repeat(16))), "MD5 only");
        assert_eq!(of(&format!("digest = '{}'\nbytes = 7", "ab".repeat(16))), "MD5 and size only");
        assert_eq!(parse("").unwrap().address(), "https://x.test/a/a-1.tar.gz");
    }

    #[test]
    fn what_a_manifest_keeps_is_what_an_entry_says() {
        let vendor =
            parse(&format!("sums = ['{{file}}.sha256', 'https://x.test/b']\ndigest = '{}'", "ab".repeat(32)))
                .unwrap();
        let kept = serde_json::to_string(&vendor).unwrap();
        assert_eq!(serde_json::from_str::<Vendor>(&kept).unwrap(), vendor);
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for wrong in [
            "sums = ['../sums']",
            "sums = ['http://x.test/sums']",
            "sums = ['-o']",
            "digest = 'abc'",
            "x = 1",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let plain = "file = 'a.tar.gz'\nfolders = ['http://x.test']";
        assert!(toml::from_str::<Vendor>(plain).unwrap_err().to_string().contains("not encrypted"));
    }
}
