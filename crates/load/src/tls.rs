//! TLS over any transport: rustls as a filter between what a socket carries and what a protocol says.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use serde::{Deserialize, Serialize};

use self::ciphers::CiphersError;

mod ciphers;

/// Whether and how connections are encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// The mode.
    pub mode: TlsMode,
    /// Certificates of trusted authorities (PEM); required if the certificate is verified.
    pub ca: Option<PathBuf>,
    /// The client's own certificate (PEM), with `key`.
    pub cert: Option<PathBuf>,
    /// The client's private key (PEM).
    pub key: Option<PathBuf>,
    /// Ciphers to offer, by OpenSSL's names with colons between them; none means all. A version of TLS of which the
    /// list names no cipher keeps all of its own, as with MySQL's and MariaDB's client libraries: a list of ciphers of
    /// TLS 1.2 leaves TLS 1.3 as it is. Names of ciphers that are not there are passed over; a list with keywords
    /// (`HIGH`, `!aNULL`), or of which no name is left, fails the job.
    pub ciphers: Option<String>,
}

/// What is asked of the server's side of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlsMode {
    #[default]
    Disabled,
    /// Encrypted if the server offers it, without verification. A server that offers it and then fails (MySQL
    /// 5.6 knows TLS 1.0 at most) is an error rather than unencrypted: otherwise it would be unknown what was measured.
    Preferred,
    /// Encrypted, without verification.
    Required,
    /// Encrypted, with a certificate that `ca` has signed.
    VerifyCa,
    /// The same, and the certificate has the host's name.
    VerifyIdentity,
}

/// Files or ciphers for TLS that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("cannot use {} for TLS: {why}", path.display())]
    File { path: PathBuf, why: String },
    #[error("TLS mode {0:?} needs a file of certificates to trust (ca)")]
    NoAuthority(TlsMode),
    #[error("TLS needs a client certificate and its key together (cert and key)")]
    HalfCertificate,
    #[error(transparent)]
    Ciphers(#[from] CiphersError),
    #[error("cannot set up TLS: {0}")]
    Setup(String),
}

/// Creates channels; none if TLS is disabled.
pub(crate) fn config(tls: &Tls) -> Result<Option<Arc<ClientConfig>>, TlsError> {
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
        (None, None) => builder.with_no_client_auth(),
        (Some(cert), Some(key)) => {
            let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| bad_file(key, &error))?;
            builder
                .with_client_auth_cert(certificates(cert)?, key_der)
                .map_err(|error| bad_file(cert, &error))?
        }
        _ => return Err(TlsError::HalfCertificate),
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

fn verifier(tls: &Tls, provider: Arc<CryptoProvider>) -> Result<Arc<Verifier>, TlsError> {
    let chain = match (tls.mode, &tls.ca) {
        (TlsMode::VerifyCa | TlsMode::VerifyIdentity, None) => return Err(TlsError::NoAuthority(tls.mode)),
        (TlsMode::VerifyCa | TlsMode::VerifyIdentity, Some(ca)) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(ca)? {
                roots.add(certificate).map_err(|error| bad_file(ca, &error))?;
            }
            let built =
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
            Some(built.map_err(|error| bad_file(ca, &error))?)
        }
        _ => None,
    };
    Ok(Arc::new(Verifier { chain, check_name: tls.mode == TlsMode::VerifyIdentity, provider }))
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

fn bad_file(path: &Path, why: &dyn std::fmt::Display) -> TlsError {
    TlsError::File { path: path.to_owned(), why: why.to_string() }
}

/// Verifies a server's certificate as far as the mode requires.
#[derive(Debug)]
struct Verifier {
    /// None: any certificate is accepted, as with MySQL's own `REQUIRED`.
    chain: Option<Arc<WebPkiServerVerifier>>,
    check_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The chain is checked before the name, so a wrong name means that the chain is right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.check_name => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

pub(crate) struct Channel(ClientConnection);

impl Channel {
    /// `host` is the server's name; `localhost` for a unix socket.
    pub(crate) fn new(config: Arc<ClientConfig>, host: &str) -> io::Result<Self> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Self(ClientConnection::new(config, name).map_err(io::Error::other)?))
    }

    /// Decrypts bytes from the socket and passes them to `plain`.
    pub(crate) fn receive(&mut self, mut bytes: &[u8], mut plain: impl FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        while !bytes.is_empty() {
            self.0.read_tls(&mut bytes)?;
            self.0.process_new_packets().map_err(io::Error::other)?;
            loop {
                match self.0.reader().read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(count) => plain(&buffer[..count]),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Encrypts `plain` and appends the bytes for the socket to `output`.
    pub(crate) fn send(&mut self, mut plain: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let taken = self.0.writer().write(plain)?;
            plain = &plain[taken..];
            while self.0.wants_write() {
                self.0.write_tls(output)?;
            }
            if plain.is_empty() || taken == 0 {
                return Ok(());
            }
        }
    }
}
