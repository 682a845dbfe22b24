//! Which compression a login ends with.
//!
//! "Compression" in MySQL's source documentation: a capability for each algorithm, and of both it is zlib.

use super::capabilities::{COMPRESS, ZSTD_COMPRESSION};
use crate::error::ProtocolError;

/// How hard both sides try, from 1 to 22: what MySQL's own client asks for where nobody says otherwise
/// (`--zstd-compression-level`).
pub(super) const ZSTD_LEVEL: u8 = 3;

/// The ways in which packets may travel after the login, in MySQL's words (`--compression-algorithms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    pub zlib: bool,
    /// By Zstandard, level 3: MySQL since 8.0.18; MariaDB does not have it.
    pub zstd: bool,
    pub uncompressed: bool,
}

impl Compression {
    pub const NONE: Self = Self { zlib: false, zstd: false, uncompressed: true };

    /// The capability that is asked of a server which has these; 0 for packets as they are. Where both are offered it
    /// is zlib, which is what servers and MySQL's own client do then, whatever the order in which somebody listed
    /// them.
    ///
    /// # Errors
    /// [`ProtocolError::CompressionUnavailable`] if the server has none of the ways that there are.
    pub(super) fn agree(self, server: u32) -> Result<u32, ProtocolError> {
        if self.zlib && server & COMPRESS != 0 {
            Ok(COMPRESS)
        } else if self.zstd && server & ZSTD_COMPRESSION != 0 {
            Ok(ZSTD_COMPRESSION)
        } else if self.uncompressed {
            Ok(0)
        } else {
            let names = [(self.zlib, "zlib"), (self.zstd, "zstd")];
            let wanted: Vec<_> =
                names.into_iter().filter_map(|(is_wanted, name)| is_wanted.then_some(name)).collect();
            Err(ProtocolError::CompressionUnavailable(wanted.join(", ")))
        }
    }
}

/// How packets are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Zlib,
    Zstd,
}

impl Algorithm {
    /// The one that both sides are set on, if any.
    pub(super) fn of(capabilities: u32) -> Option<Self> {
        if capabilities & COMPRESS != 0 {
            Some(Self::Zlib)
        } else {
            (capabilities & ZSTD_COMPRESSION != 0).then_some(Self::Zstd)
        }
    }
}
