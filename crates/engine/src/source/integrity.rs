//! Pinned checksums, written as the web writes them: `sha512-BASE64` (W3C Subresource Integrity).

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha512};

use crate::fetch::FetchError;
use crate::path_error::At;

const PREFIX: &str = "sha512-";

/// The SHA-512 that an archive must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Integrity(Vec<u8>);

impl Integrity {
    #[cfg(test)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha512::digest(bytes).to_vec())
    }

    /// Reads an archive and compares.
    pub(super) fn check(&self, package: &str, archive: &Path) -> Result<(), FetchError> {
        let mut hasher = Hasher(Sha512::new());
        let mut file = BufReader::with_capacity(1 << 20, File::open(archive).at("open", archive)?);
        io::copy(&mut file, &mut hasher).at("read", archive)?;
        let found = Self(hasher.0.finalize().to_vec());
        if found == *self {
            return Ok(());
        }
        Err(FetchError::Checksum {
            package: package.to_owned(),
            expected: self.clone().into(),
            found: found.into(),
        })
    }
}

struct Hasher(Sha512);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TryFrom<String> for Integrity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.strip_prefix(PREFIX)
            .and_then(|digest| BASE64_STANDARD.decode(digest).ok())
            .filter(|digest| digest.len() == <Sha512 as Digest>::output_size())
            .map(Self)
            .ok_or_else(|| format!("'{text}' is no checksum; write {PREFIX} and 64 bytes in base64"))
    }
}

impl From<Integrity> for String {
    fn from(integrity: Integrity) -> Self {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(integrity.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_archive_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        std::fs::write(&archive, "as released").unwrap();
        let pinned = Integrity::of(b"as released");
        pinned.check("server", &archive).unwrap();
        std::fs::write(&archive, "as altered").unwrap();
        let error = pinned.check("server", &archive).unwrap_err();
        assert!(matches!(error, FetchError::Checksum { .. }), "{error}");
    }

    #[test]
    fn a_checksum_is_read_and_written_back() {
        let text = String::from(Integrity::of(b"x"));
        assert_eq!(Integrity::try_from(text), Ok(Integrity::of(b"x")));
        for wrong in ["", "sha512-", "sha512-AAAA", "sha1-AAAA", "sha512-%"] {
            assert!(Integrity::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
