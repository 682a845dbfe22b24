//! rustls as a filter between a socket's bytes and a protocol's bytes.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection, ProtocolVersion};

use super::ciphers;

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// Version of the protocol, such as `TLS 1.3`.
    pub version: &'static str,
    /// OpenSSL's name of the cipher, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: &'static str,
}

impl fmt::Display for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.version, self.cipher)
    }
}

/// One connection's TLS.
pub(crate) struct Channel(ClientConnection);

impl Channel {
    /// Begins TLS. `host` is the server's name; `localhost` for a unix socket.
    pub(crate) fn new(config: Arc<ClientConfig>, host: &str) -> io::Result<Self> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Self(ClientConnection::new(config, name).map_err(io::Error::other)?))
    }

    /// Returns the version and cipher that both sides have agreed on; `None` before they have agreed.
    pub(crate) fn encryption(&self) -> Option<Encryption> {
        let version = match self.0.protocol_version()? {
            ProtocolVersion::TLSv1_3 => "TLS 1.3",
            _ => "TLS 1.2",
        };
        Some(Encryption { version, cipher: ciphers::name(self.0.negotiated_cipher_suite()?)? })
    }

    /// Decrypts bytes from the socket and passes them to `plain`.
    pub(crate) fn receive(&mut self, mut bytes: &[u8], mut plain: impl FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        while !bytes.is_empty() {
            self.0.read_tls(&mut bytes)?;
            self.0.process_new_packets().map_err(explained)?;
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

/// Explains an error in words, because for some errors rustls prints only a name.
fn explained(error: rustls::Error) -> io::Error {
    let words = match &error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no trusted authority has signed the server's certificate (UnknownIssuer)"
        }
        _ => return io::Error::other(error),
    };
    io::Error::other(words)
}
