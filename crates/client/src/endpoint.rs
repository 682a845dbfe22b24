//! A protocol with its encryption: turns commands into bytes for a socket, and bytes from the socket into
//! events.

use std::io;
use std::sync::Arc;

use dyno_wire::{Client as Protocol, Event, ProtocolError};
use rustls::ClientConfig;

use crate::account::Account;
use crate::address::ServerAddress;
use crate::tls::{Channel, Encryption};

/// The protocol of one connection, with encryption if the account asks for it. It does not use the socket itself.
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
    /// Creates the endpoint of a new connection, before the login. `number` is the index of the server's address in
    /// `address`.
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

    /// The protocol. The caller uses it to start commands and to read rows.
    #[inline]
    pub fn protocol(&mut self) -> &mut dyn Protocol {
        &mut *self.protocol
    }

    /// The protocol's state. An event loop uses this reference to prefetch the state into the processor's cache shortly
    /// before it handles the connection.
    pub fn state(&self) -> &dyn Protocol {
        &*self.protocol
    }

    /// Whether the server has sent anything yet.
    pub fn has_heard(&self) -> bool {
        self.heard
    }

    /// How the connection is encrypted; `None` if it is not.
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

    /// Parses the received bytes up to the next protocol event. The event is never [`Event::StartTls`], because
    /// this function starts TLS itself.
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

    /// Passes pending output, if any, to `send`.
    ///
    /// # Errors
    /// TLS failed, or `send` returned an error.
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
