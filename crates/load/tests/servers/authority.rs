//! Certificates, made for one test.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
    pub(crate) cert: PathBuf,
}

/// A certificate and its key, as files.
pub(crate) struct Identity {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

impl Authority {
    /// An authority whose files are in a folder.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        let cert = folder.join(format!("{name}.pem"));
        write(&cert, &certificate.pem(), 0o644);
        Self { issuer: Issuer::new(params, key), folder: folder.to_owned(), cert }
    }

    /// A certificate for a host or a person of this name.
    pub(crate) fn identify(&self, name: &str) -> Identity {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let files = Identity {
            cert: self.folder.join(format!("{name}.pem")),
            key: self.folder.join(format!("{name}.key")),
        };
        write(&files.cert, &certificate.pem(), 0o644);
        // PostgreSQL takes no key that others can read.
        write(&files.key, &key.serialize_pem(), 0o600);
        files
    }
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a file of our own");
}
