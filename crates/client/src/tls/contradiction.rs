//! TLS options that would have no effect, or that need another option.

use super::{Tls, TlsMode};

/// A part of [`Tls`] that contradicts the other parts, or has no effect with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsContradiction {
    /// A mode that verifies, but no file of trusted certificates.
    NoAuthority,
    /// A file of trusted certificates, but a mode that does not verify.
    UnusedAuthority,
    /// A certificate of the client without its key, or the key alone.
    HalfCertificate,
    /// A certificate of the client for connections that are not encrypted.
    UnusedCertificate,
    /// Ciphers for connections that are not encrypted.
    UnusedCiphers,
}

/// The names that a user interface (options or JSON keys) has for the fields of [`Tls`]. Error messages contain these
/// names.
#[derive(Debug)]
pub struct TlsNames {
    pub mode: &'static str,
    pub ca: &'static str,
    pub cert: &'static str,
    pub key: &'static str,
    pub ciphers: &'static str,
    /// The user's name of each mode, in the order of [`MODES`](Self::MODES).
    pub modes: [&'static str; 5],
}

impl TlsNames {
    /// All modes, in the order of their names in the field `modes`.
    pub const MODES: [TlsMode; 5] = [
        TlsMode::Disabled,
        TlsMode::Preferred,
        TlsMode::Required,
        TlsMode::VerifyCa,
        TlsMode::VerifyIdentity,
    ];

    /// The names of the options in a job's JSON.
    pub const OF_JOBS: Self = Self {
        mode: "mode",
        ca: "ca",
        cert: "cert",
        key: "key",
        ciphers: "ciphers",
        modes: ["disabled", "preferred", "required", "verify_ca", "verify_identity"],
    };

    /// A mode as the user writes it.
    pub fn written(&self, mode: TlsMode) -> String {
        let place = Self::MODES.iter().position(|known| *known == mode).unwrap_or_default();
        format!("{}={}", self.mode, self.modes[place])
    }
}

impl Tls {
    /// Returns the first contradiction between the parts; `None` if there is none.
    pub fn contradiction(&self) -> Option<TlsContradiction> {
        let verifies = self.mode.verifies();
        let is_open = self.mode == TlsMode::Disabled;
        if verifies && self.ca.is_none() {
            Some(TlsContradiction::NoAuthority)
        } else if !verifies && self.ca.is_some() {
            Some(TlsContradiction::UnusedAuthority)
        } else if self.cert.is_some() != self.key.is_some() {
            Some(TlsContradiction::HalfCertificate)
        } else if is_open && self.cert.is_some() {
            Some(TlsContradiction::UnusedCertificate)
        } else if is_open && self.ciphers.is_some() {
            Some(TlsContradiction::UnusedCiphers)
        } else {
            None
        }
    }
}

impl TlsContradiction {
    /// Returns a message that says what is wrong and what to do. `names` are the names that the user knows, and `given`
    /// is the mode as the user wrote it.
    pub fn words(self, names: &TlsNames, given: &str) -> String {
        let TlsNames { ca, cert, key, ciphers, .. } = names;
        let [required, verify_ca, verify_identity] =
            [TlsMode::Required, TlsMode::VerifyCa, TlsMode::VerifyIdentity].map(|mode| names.written(mode));
        match self {
            Self::NoAuthority => format!("{given} needs {ca}, the file of certificates to trust"),
            Self::UnusedAuthority => {
                format!("{ca} is used with {verify_ca} or {verify_identity}, not with {given}")
            }
            Self::HalfCertificate => format!("{cert} and {key} go together"),
            Self::UnusedCertificate => {
                format!(
                    "{cert} applies only to encrypted connections ({required}), but these are not encrypted ({given})"
                )
            }
            Self::UnusedCiphers => {
                format!(
                    "{ciphers} applies only to encrypted connections ({required}), but these are not encrypted ({given})"
                )
            }
        }
    }
}
