//! Servers that are started with settings of a test's own.

use std::path::Path;

use dyno_engine::{Installation, Server, StartOptions, start};

use crate::authority::{Authority, Identity};

pub(crate) type Settings<'a> = [(&'a str, &'a str)];

/// A server with its data below a folder.
pub(crate) fn start_with(installation: &Installation, folder: &Path, settings: &Settings<'_>) -> Server {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = StartOptions { settings, ..StartOptions::new(folder) };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

/// A server that offers TLS with a certificate about `localhost`.
pub(crate) fn start_with_tls(
    installation: &Installation,
    folder: &Path,
    authority: &Authority,
    settings: &Settings<'_>,
) -> Server {
    let Identity { cert, key } = authority.identify("localhost");
    let files = [&authority.cert, &cert, &key].map(|path| path.display().to_string());
    let [ca, cert, key] = files.each_ref().map(String::as_str);
    let tls = if installation.entry.engine == "postgres" {
        [("ssl", "on"), ("ssl_ca_file", ca), ("ssl_cert_file", cert), ("ssl_key_file", key)]
    } else {
        [("ssl", "on"), ("ssl_ca", ca), ("ssl_cert", cert), ("ssl_key", key)]
    };
    start_with(installation, folder, &[&tls, settings].concat())
}
