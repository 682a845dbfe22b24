//! Authentication plugins and their replies.

use crate::client::Trust;
use crate::error::ProtocolError;
use crate::mysql::framing::reader::malformed;
use crate::mysql::logins::scramble;

/// An authentication method that this client supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mysql) enum Plugin {
    /// Uses SHA-1. It is the default up to MySQL 5.7, and in MariaDB.
    Native,
    /// Uses SHA-256 with a cache in the server. It is the default since MySQL 8.0.
    CachingSha2,
    /// Uses SHA-256 without a cache.
    Sha256,
    Ed25519,
    /// The password in clear text (PAM, LDAP).
    Clear,
}

/// How the connection is transported, which decides whether others can read the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mysql) enum Transport {
    /// Unencrypted TCP.
    Open,
    /// A unix socket.
    Local,
    Encrypted,
}

/// The values from which a reply is computed, and what may be sent to the server.
#[derive(Clone, Copy)]
pub(in crate::mysql) struct Secret<'a> {
    pub(in crate::mysql) password: &'a [u8],
    pub(in crate::mysql) nonce: &'a [u8],
    pub(in crate::mysql) transport: Transport,
    /// Whether the server has proven its identity.
    pub(in crate::mysql) is_known: bool,
    pub(in crate::mysql) trust: &'a Trust,
}

impl Secret<'_> {
    /// Whether the SHA-256 plugins, which hide the password from listeners, may send the password to the server.
    fn is_for_server(&self) -> bool {
        self.password.is_empty() || self.is_known || self.trust.takes_public_key
    }

    /// Whether [`Plugin::Clear`] may send the password to the server.
    fn is_clear_for_server(&self) -> bool {
        self.password.is_empty() || self.is_known || self.trust.sends_clear_text
    }

    /// Returns the SHA-256 plugins' answer when the server requires the password itself. If nobody can listen
    /// (`is_clear`), the answer is the password in clear text. Otherwise, it is the password encrypted with the
    /// server's key. If the client does not know the key, the answer is `request_key`, which asks the server for the
    /// key.
    fn whole(&self, is_clear: bool, request_key: u8) -> Result<Vec<u8>, ProtocolError> {
        match &self.trust.public_key {
            _ if self.password.is_empty() => Ok(clear(self.password)),
            Some(key) if !is_clear => scramble::encrypt(self.password, self.nonce, key.as_bytes()),
            _ if !self.is_for_server() => Err(ProtocolError::PasswordWanted),
            _ if is_clear => Ok(clear(self.password)),
            _ => Ok(vec![request_key]),
        }
    }
}

/// Asks `caching_sha2_password` for the server's public key.
const CACHING_SHA2_REQUEST_KEY: u8 = 2;
/// Asks `sha256_password` for the server's public key. The byte differs from that for `caching_sha2_password`.
const SHA256_REQUEST_KEY: u8 = 1;
/// `caching_sha2_password` found the password in its cache. An OK packet follows.
const FAST_AUTH_OK: u8 = 3;
/// `caching_sha2_password` requires the password itself.
const FULL_AUTH_NEEDED: u8 = 4;

impl Plugin {
    const ALL: [Self; 5] = [Self::Native, Self::CachingSha2, Self::Sha256, Self::Ed25519, Self::Clear];

    pub(in crate::mysql) fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|plugin| plugin.name().as_bytes() == name)
    }

    pub(in crate::mysql) fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Sha256 => "sha256_password",
            Self::Ed25519 => "client_ed25519",
            Self::Clear => "mysql_clear_password",
        }
    }

    /// The part of a nonce that the plugin uses. Servers may append a NUL, which is cut off.
    pub(in crate::mysql) fn trim(self, nonce: &[u8]) -> &[u8] {
        let length = if self == Self::Ed25519 { 32 } else { 20 };
        nonce.get(..length).unwrap_or(nonce)
    }

    /// The first reply, computed from the nonce.
    pub(in crate::mysql) fn reply(self, secret: Secret<'_>) -> Result<Vec<u8>, ProtocolError> {
        let Secret { password, nonce, transport, .. } = secret;
        match self {
            Self::Native => Ok(scramble::native(password, nonce)),
            Self::CachingSha2 => Ok(scramble::caching_sha2(password, nonce)),
            Self::Ed25519 => Ok(scramble::ed25519(password, nonce)),
            // Unlike `caching_sha2_password`, this plugin does not accept a clear password over a unix socket.
            Self::Sha256 => secret.whole(transport == Transport::Encrypted, SHA256_REQUEST_KEY),
            Self::Clear if secret.is_clear_for_server() => Ok(clear(password)),
            Self::Clear => {
                Err(ProtocolError::ClearPassword { verify: "VERIFY_CA", allow: "enable-cleartext-plugin" })
            }
        }
    }

    /// The reply to further data from the server; `None` if the server expects no reply.
    pub(in crate::mysql) fn reply_to_more(
        self,
        data: &[u8],
        secret: Secret<'_>,
    ) -> Result<Option<Vec<u8>>, ProtocolError> {
        match (self, data) {
            (Self::CachingSha2, [FAST_AUTH_OK]) => Ok(None),
            (Self::CachingSha2, [FULL_AUTH_NEEDED]) => {
                let is_clear = secret.transport != Transport::Open;
                secret.whole(is_clear, CACHING_SHA2_REQUEST_KEY).map(Some)
            }
            (Self::CachingSha2 | Self::Sha256, _) if !secret.is_for_server() => {
                Err(ProtocolError::PasswordWanted)
            }
            (Self::CachingSha2 | Self::Sha256, public_key) => {
                scramble::encrypt(secret.password, secret.nonce, public_key).map(Some)
            }
            (Self::Native | Self::Ed25519 | Self::Clear, _) => {
                Err(malformed("authentication", format!("unexpected data for {}", self.name())))
            }
        }
    }
}

fn clear(password: &[u8]) -> Vec<u8> {
    [password, &[0]].concat()
}
