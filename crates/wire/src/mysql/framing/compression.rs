//! Negotiation of the compression at login.
//!
//! Each algorithm has a capability flag ("Compression" in MySQL's source documentation). If both flags are set,
//! zlib is used.

use crate::error::ProtocolError;
use crate::mysql::logins::capabilities::{COMPRESS, ZSTD_COMPRESSION};

/// Compression level of Zstandard, from 1 to 22. It is the default of MySQL's own client
/// (`--zstd-compression-level`).
pub(in crate::mysql) const ZSTD_LEVEL: u8 = 3;

/// Compression algorithms that the client accepts, in MySQL's terms (`--compression-algorithms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    pub zlib: bool,
    /// Zstandard, level 3. MySQL has it since 8.0.18; MariaDB does not have it.
    pub zstd: bool,
    pub uncompressed: bool,
}

impl Compression {
    pub const NONE: Self = Self { zlib: false, zstd: false, uncompressed: true };

    /// Returns the capability flag of the compression to request; 0 for no compression. `server` has the server's
    /// capabilities. If both algorithms are possible, zlib is requested. Servers and MySQL's own client choose zlib
    /// too, whatever the order of the list is.
    ///
    /// # Errors
    /// [`ProtocolError::CompressionUnavailable`] if the server supports none of the algorithms.
    pub(in crate::mysql) fn agree(self, server: u32) -> Result<u32, ProtocolError> {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mysql) enum Algorithm {
    Zlib,
    Zstd,
}

impl Algorithm {
    /// The algorithm that both sides agreed on, if any.
    pub(in crate::mysql) fn of(capabilities: u32) -> Option<Self> {
        if capabilities & COMPRESS != 0 {
            Some(Self::Zlib)
        } else {
            (capabilities & ZSTD_COMPRESSION != 0).then_some(Self::Zstd)
        }
    }
}
