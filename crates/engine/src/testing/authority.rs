//! Certificates that are made for one test, and servers with such certificates.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use dyno_host::Account;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use super::start_with;
use crate::cache::installation::Installation;
use crate::start::server::Server;

/// Signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
    pub cert: PathBuf,
}

/// A certificate and its key, as files.
pub struct Identity {
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    /// Makes an authority with its files in a folder.
    ///
    /// # Panics
    /// The files cannot be made.
    pub fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        let cert = folder.join(format!("{name}.pem"));
        write(&cert, &certificate.pem(), 0o644);
        Self { issuer: Issuer::new(params, key), folder: folder.to_owned(), cert }
    }

    /// Makes a certificate for a host or a user of this name.
    ///
    /// # Panics
    /// The certificate cannot be made.
    pub fn identify(&self, name: &str) -> Identity {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let files = Identity {
            cert: self.folder.join(format!("{name}.pem")),
            key: self.folder.join(format!("{name}.key")),
        };
        write(&files.cert, &certificate.pem(), 0o644);
        // PostgreSQL refuses a key file that others can read.
        write(&files.key, &key.serialize_pem(), 0o600);
        files
    }
}

impl Authority {
    /// Files that servers can read: the authority's certificate, a certificate for `localhost`, and its key.
    ///
    /// # Panics
    /// The files cannot be made.
    pub fn identify_server(&self) -> [PathBuf; 3] {
        let Identity { cert, key } = self.identify("localhost");
        if let Some(account) = Account::instead_of_root() {
            account.own(&key).expect("the server's account gets its key");
            let way = Permissions::from_mode(0o711);
            fs::set_permissions(&self.folder, way).expect("a folder of our own");
        }
        [self.cert.clone(), cert, key]
    }
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a file of our own");
}

/// Starts a server with data below a folder. It offers TLS with a certificate for `localhost`.
///
/// # Panics
/// The server does not start.
pub fn start_with_tls(
    installation: &Installation,
    folder: &Path,
    authority: &Authority,
    settings: &[(&str, &str)],
) -> Server {
    let files = authority.identify_server().map(|path| path.display().to_string());
    let [ca, cert, key] = files.each_ref().map(String::as_str);
    let tls = if installation.entry.engine == "postgres" {
        [("ssl", "on"), ("ssl_ca_file", ca), ("ssl_cert_file", cert), ("ssl_key_file", key)]
    } else {
        [("ssl", "on"), ("ssl_ca", ca), ("ssl_cert", cert), ("ssl_key", key)]
    };
    start_with(installation, folder, &[&tls, settings].concat())
}
