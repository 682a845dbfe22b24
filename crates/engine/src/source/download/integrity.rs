//! Checksums. They are written as `sha512-BASE64` (W3C Subresource Integrity), or in hexadecimal as `sha256sum`
//! prints them.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use md5::Md5;
use serde::{Deserialize, Serialize};
use sha2::digest::DynDigest;
use sha2::{Digest, Sha256, Sha512};

use crate::machine::hexadecimal::hexadecimal;
use crate::machine::path_error::{At, PathError};
use crate::source::error::FetchError;

/// The expected checksum of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(in crate::source) struct Integrity {
    algorithm: Algorithm,
    digest: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    /// MD5 detects damage, but not a deliberate change, because collisions of MD5 can be made.
    Md5,
    Sha256,
    Sha512,
}

impl Algorithm {
    const ALL: [Self; 3] = [Self::Sha512, Self::Sha256, Self::Md5];
    /// The algorithms that an entry may rely on.
    const STRONG: [Self; 2] = [Self::Sha256, Self::Sha512];

    fn prefix(self) -> &'static str {
        match self {
            Self::Md5 => "md5-",
            Self::Sha256 => "sha256-",
            Self::Sha512 => "sha512-",
        }
    }

    fn hasher(self) -> Box<dyn DynDigest> {
        match self {
            Self::Md5 => Box::new(Md5::new()),
            Self::Sha256 => Box::new(Sha256::new()),
            Self::Sha512 => Box::new(Sha512::new()),
        }
    }
}

impl Integrity {
    #[cfg(test)]
    pub(in crate::source) fn of(bytes: &[u8]) -> Self {
        Self { algorithm: Algorithm::Sha512, digest: Sha512::digest(bytes).to_vec() }
    }

    /// Parses 64 hexadecimal digits.
    pub(in crate::source) fn from_sha256_digits(digits: &str) -> Option<Self> {
        Self::from_digits(digits).filter(|integrity| integrity.algorithm == Algorithm::Sha256)
    }

    /// Parses hexadecimal digits of MD5, SHA-256 or SHA-512. The number of digits gives the algorithm.
    pub(in crate::source) fn from_digits(digits: &str) -> Option<Self> {
        if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
            return None;
        }
        let has_length = |algorithm: &Algorithm| algorithm.hasher().output_size() * 2 == digits.len();
        let algorithm = Algorithm::ALL.into_iter().find(has_length)?;
        // This check is needed because `from_str_radix` would accept a sign.
        let is_digit = |pair: &str| pair.bytes().all(|byte| byte.is_ascii_hexdigit());
        let byte = |at: usize| {
            let pair = Some(&digits[at..at + 2]).filter(|pair| is_digit(pair))?;
            u8::from_str_radix(pair, 16).ok()
        };
        let digest = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
        Some(Self { algorithm, digest })
    }

    /// The SHA-256 of an archive.
    pub(in crate::source) fn sha256_of(archive: &Path) -> Result<Self, PathError> {
        Self::computed(Algorithm::Sha256, archive)
    }

    /// The checksum of an archive, computed by the algorithm of this checksum.
    pub(in crate::source) fn found_in(&self, archive: &Path) -> Result<Self, PathError> {
        Self::computed(self.algorithm, archive)
    }

    /// The checksum's hexadecimal digits, as `sha256sum` and similar tools print them.
    pub(in crate::source) fn digits(&self) -> String {
        hexadecimal(&self.digest)
    }

    /// Whether nobody can make another archive with this checksum.
    pub(in crate::source) fn is_strong(&self) -> bool {
        Algorithm::STRONG.contains(&self.algorithm)
    }

    /// The usual name of the checksum's algorithm.
    pub(in crate::source) fn algorithm(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Md5 => "MD5",
            Algorithm::Sha256 => "SHA-256",
            Algorithm::Sha512 => "SHA-512",
        }
    }

    fn computed(algorithm: Algorithm, archive: &Path) -> Result<Self, PathError> {
        let mut hasher = Hasher(algorithm.hasher());
        let mut file = BufReader::with_capacity(1 << 20, File::open(archive).at("open", archive)?);
        io::copy(&mut file, &mut hasher).at("read", archive)?;
        Ok(Self { algorithm, digest: hasher.0.finalize().into_vec() })
    }

    /// Verifies an archive.
    pub(in crate::source) fn check(&self, package: &str, archive: &Path) -> Result<(), FetchError> {
        let found = self.found_in(archive)?;
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

struct Hasher(Box<dyn DynDigest>);

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
        let read = |algorithm: Algorithm| {
            let digest = BASE64_STANDARD.decode(text.strip_prefix(algorithm.prefix())?).ok()?;
            (digest.len() == algorithm.hasher().output_size()).then_some(Self { algorithm, digest })
        };
        Algorithm::STRONG
            .into_iter()
            .find_map(read)
            .ok_or_else(|| format!("'{text}' is not a checksum; write sha512- and 64 bytes in base64"))
    }
}

impl From<Integrity> for String {
    fn from(integrity: Integrity) -> Self {
        format!("{}{}", integrity.algorithm.prefix(), BASE64_STANDARD.encode(integrity.digest))
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
        let digits = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        let by_digits = Integrity::from_sha256_digits(digits).unwrap();
        let text = String::from(by_digits.clone());
        assert_eq!(text, "sha256-LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=");
        assert_eq!(Integrity::try_from(text), Ok(by_digits));
        assert_eq!(Integrity::from_sha256_digits(&digits.replace('2', "g")), None);
        assert_eq!(Integrity::from_sha256_digits(&digits[1..]), None);
        let md5 = Integrity::from_digits("d41d8cd98f00b204e9800998ecf8427e").unwrap();
        assert!(!md5.is_strong() && md5.algorithm() == "MD5");
        assert_eq!(md5.digits(), "d41d8cd98f00b204e9800998ecf8427e");
        for wrong in ["", "ab", "+1".repeat(32).as_str(), "é"] {
            assert_eq!(Integrity::from_digits(wrong), None, "{wrong}");
        }
        for wrong in ["", "md5-1B2M2Y8AsgTpgAmY7PhCfg==", "sha512-", "sha512-AAAA", "sha1-AAAA", "sha512-%"] {
            assert!(Integrity::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
