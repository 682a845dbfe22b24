//! TLS options, and the configuration of rustls that follows from them.

mod channel;
mod ciphers;
mod contradiction;
mod verifier;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};

pub(crate) use self::channel::Channel;
pub use self::channel::Encryption;
use self::ciphers::CiphersError;
pub use self::contradiction::{TlsContradiction, TlsNames};
use self::verifier::verifier;

/// Whether and how connections are encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// Whether TLS is used, and what is verified.
    pub mode: TlsMode,
    /// Certificates of trusted authorities (PEM). A mode that verifies certificates requires them.
    pub ca: Option<PathBuf>,
    /// The client's own certificate (PEM). It requires `key`.
    pub cert: Option<PathBuf>,
    /// The client's private key (PEM).
    pub key: Option<PathBuf>,
    /// Ciphers to offer, by OpenSSL's names, separated by colons; `None` means all. If the list contains no cipher of a
    /// version of TLS, all ciphers of that version are offered, as in the client libraries of MySQL and MariaDB. For
    /// example, a list of TLS 1.2 ciphers does not change TLS 1.3. Unavailable ciphers are skipped. The job fails if
    /// the list has keywords (`HIGH`, `!aNULL`), or if no cipher remains.
    pub ciphers: Option<String>,
}

/// The required security of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlsMode {
    #[default]
    Disabled,
    /// The connection is encrypted if the server offers TLS. Certificates are not verified. If a server offers TLS and
    /// the handshake then fails (MySQL 5.6 supports at most TLS 1.0), this is an error. The client does not fall back
    /// to an unencrypted connection, because then nobody would know which kind of connection was measured.
    Preferred,
    /// The connection is encrypted. Certificates are not verified.
    Required,
    /// The connection is encrypted, and an authority in `ca` must have signed the server's certificate.
    VerifyCa,
    /// Like `VerifyCa`, and the certificate must also contain the host's name.
    VerifyIdentity,
}

impl TlsMode {
    /// Whether a server must prove its identity.
    pub fn verifies(self) -> bool {
        matches!(self, Self::VerifyCa | Self::VerifyIdentity)
    }

    /// Whether a connection may be unencrypted.
    pub fn may_be_open(self) -> bool {
        matches!(self, Self::Disabled | Self::Preferred)
    }
}

impl Tls {
    /// Reads the files that the options name, so that errors in the files are reported early.
    ///
    /// # Errors
    /// A file or the list of ciphers cannot be used, or the options contradict each other.
    pub fn check(&self) -> Result<(), TlsError> {
        config(self).map(drop)
    }
}

/// Files or ciphers for TLS that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    #[error("cannot use {} for TLS: {why}", path.display())]
    File { path: PathBuf, why: String },
    /// The message uses the names of the options in a job's JSON.
    #[error("TLS: {}", .0.words(&TlsNames::OF_JOBS, &TlsNames::OF_JOBS.written(*.1)))]
    Contradiction(TlsContradiction, TlsMode),
    #[error(transparent)]
    Ciphers(#[from] CiphersError),
    #[error("cannot set up TLS: {0}")]
    Setup(String),
}

/// The configuration from which channels are created; `None` if TLS is disabled.
pub(crate) fn config(tls: &Tls) -> Result<Option<Arc<ClientConfig>>, TlsError> {
    if let Some(contradiction) = tls.contradiction() {
        return Err(TlsError::Contradiction(contradiction, tls.mode));
    }
    if tls.mode == TlsMode::Disabled {
        return Ok(None);
    }
    let provider = Arc::new(provider(tls)?);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Setup(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier(tls, provider)?);
    let config = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => {
            let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| bad_file(key, &error))?;
            builder
                .with_client_auth_cert(certificates(cert)?, key_der)
                .map_err(|error| bad_file(cert, &error))?
        }
        _ => builder.with_no_client_auth(),
    };
    Ok(Some(Arc::new(config)))
}

/// The cryptography provider with the offered ciphers.
fn provider(tls: &Tls) -> Result<CryptoProvider, CiphersError> {
    let all = ring::default_provider();
    Ok(match &tls.ciphers {
        None => all,
        Some(list) => CryptoProvider { cipher_suites: ciphers::suites(list)?, ..all },
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = fs::read(path).map_err(|error| bad_file(path, &error))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if found.is_empty() => {
            Err(TlsError::File { path: path.to_owned(), why: "it holds no certificate (PEM)".to_owned() })
        }
        Ok(found) => Ok(found),
        Err(error) => Err(bad_file(path, &error)),
    }
}

/// Reads a file with a MySQL server's RSA key (PEM), such as `public_key.pem` in its data folder. Returns its text.
///
/// # Errors
/// The file cannot be read, or does not contain such a key.
pub fn read_public_key(path: &Path) -> Result<String, TlsError> {
    let pem = fs::read_to_string(path).map_err(|error| bad_file(path, &error))?;
    if !dyno_wire::mysql::is_public_key(&pem) {
        return Err(bad_file(path, &"it holds no RSA public key (PEM)"));
    }
    Ok(pem)
}

fn bad_file(path: &Path, why: &dyn std::fmt::Display) -> TlsError {
    TlsError::File { path: path.to_owned(), why: why.to_string() }
}
