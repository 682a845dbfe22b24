//! A protocol with its encryption: turns commands into bytes for a socket, and bytes from the socket into
//! events.

use std::io;
use std::sync::Arc;

use dyno_wire::{Client as Protocol, Event, ProtocolError};
use rustls::ClientConfig;

use crate::account::Account;
use crate::address::ServerAddress;
use crate::tls::{Channel, Encryption};

/// One connection's protocol, encrypted if its account says so. It does not use the socket itself.
pub struct Endpoint {
    protocol: Box<dyn Protocol>,
    tls: Option<Arc<ClientConfig>>,
    host: String,
    channel: Option<Box<Channel>>,
    /// Encrypted bytes for the socket.
    encrypted: Vec<u8>,
    /// Whether the server has sent anything.
    heard: bool,
}

/// Why an endpoint failed.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The server broke the protocol, or requested something that this client does not support.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    /// The server's certificate is not trusted, or the two sides do not agree on an encryption.
    #[error("TLS failed: {0}")]
    Tls(#[from] io::Error),
}

impl Endpoint {
    /// The protocol of a new connection to the address with this index, before its login.
    pub fn new(account: &Account, address: &ServerAddress, number: usize) -> Self {
        Self {
            protocol: account.protocol(address, number),
            tls: account.tls().cloned(),
            host: address.host(number).to_owned(),
            channel: None,
            encrypted: Vec::new(),
            heard: false,
        }
    }

    /// The protocol, to start commands and read rows.
    #[inline]
    pub fn protocol(&mut self) -> &mut dyn Protocol {
        &mut *self.protocol
    }

    /// The state of the protocol, for hints that it is needed soon.
    pub fn state(&self) -> &dyn Protocol {
        &*self.protocol
    }

    /// Whether the server has sent anything yet.
    pub fn has_heard(&self) -> bool {
        self.heard
    }

    /// How the connection is encrypted, if it is.
    pub fn encryption(&self) -> Option<Encryption> {
        self.channel.as_deref().and_then(Channel::encryption)
    }

    /// Takes bytes received from the socket.
    ///
    /// # Errors
    /// TLS failed.
    #[inline]
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), EndpointError> {
        self.heard = true;
        match &mut self.channel {
            None => self.protocol.receive(bytes),
            Some(channel) => channel.receive(bytes, |plain| self.protocol.receive(plain))?,
        }
        Ok(())
    }

    /// The next protocol event of the received bytes; never [`Event::StartTls`].
    ///
    /// # Errors
    /// The server breaks the protocol, or TLS failed.
    #[inline]
    pub fn advance(&mut self) -> Result<Event, EndpointError> {
        loop {
            let event = self.protocol.advance()?;
            match (&event, &self.tls) {
                (Event::StartTls, Some(config)) => {
                    self.encrypted.extend_from_slice(self.protocol.output());
                    let plain_bytes = self.protocol.output().len();
                    self.protocol.consume_output(plain_bytes);
                    self.channel = Some(Box::new(Channel::new(Arc::clone(config), &self.host)?));
                    self.protocol.tls_established();
                }
                _ => return Ok(event),
            }
        }
    }

    /// Passes pending output to `send`, if any.
    ///
    /// # Errors
    /// TLS failed, or `send` did.
    #[inline]
    pub fn flush<E: From<EndpointError>>(
        &mut self,
        send: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let plain_bytes = self.protocol.output().len();
        if let Some(channel) = &mut self.channel {
            channel.send(self.protocol.output(), &mut self.encrypted).map_err(EndpointError::from)?;
            self.protocol.consume_output(plain_bytes);
            if self.encrypted.is_empty() {
                return Ok(());
            }
            let outcome = send(&self.encrypted);
            self.encrypted.clear();
            return outcome;
        }
        if plain_bytes == 0 {
            return Ok(());
        }
        send(self.protocol.output())?;
        self.protocol.consume_output(plain_bytes);
        Ok(())
    }
}
