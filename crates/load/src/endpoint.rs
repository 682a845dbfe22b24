//! A protocol with its encryption: turns commands of scripts into bytes of a socket, and back.

use std::io;
use std::sync::Arc;

use dyno_script::{Param, StatementId};
use dyno_wire::{Client, Event, Login, ProtocolError, TlsMode as WireTls, Value, mysql, pgsql};
use rustls::ClientConfig;

use crate::dial::{Dialer, ServerAddress};
use crate::emulation::Emulation;
use crate::job::{Compression, Protocol, Target};
use crate::tls::{Channel, TlsMode};

/// Parameters that fit without an allocation.
const PARAMS_INLINE: usize = 16;

/// MySQL's error of a statement that cannot be prepared, `ER_UNSUPPORTED_PS`.
const UNSUPPORTED_PS: u16 = 1295;

/// One connection's protocol, encrypted if the target says so.
pub(crate) struct Endpoint {
    client: Box<dyn Client>,
    tls: Option<Arc<ClientConfig>>,
    host: String,
    channel: Option<Channel>,
    emulation: Emulation,
    /// Whether statements are prepared on the server.
    prepares: bool,
    /// Whether backslashes escape in strings.
    backslashes: bool,
    /// The statement that the server is preparing.
    preparing: Vec<u8>,
    /// Encrypted bytes for the socket.
    encrypted: Vec<u8>,
    /// Whether the server has sent anything.
    heard: bool,
}

/// Why an endpoint failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    #[error("TLS failed: {0}")]
    Tls(#[from] io::Error),
}

impl Endpoint {
    pub(crate) fn new(target: &Target, dialer: &Dialer, place: &ServerAddress) -> Self {
        let login = Login {
            user: target.user.clone(),
            password: target.password.clone(),
            database: target.database.clone(),
            tls: wire_mode(target.tls.mode),
            local: place.is_local(),
        };
        let client: Box<dyn Client> = match target.driver {
            Protocol::Pgsql => Box::new(pgsql::Connection::new(login)),
            Protocol::Mysql if target.compression != Compression::default() => {
                Box::new(mysql::Compressed::new(login, wire_compression(target.compression)))
            }
            Protocol::Mysql | Protocol::Sqlite => Box::new(mysql::Connection::new(login)),
        };
        let (tls, host) = (dialer.tls().cloned(), place.host().to_owned());
        Self {
            client,
            tls,
            host,
            channel: None,
            emulation: Emulation::default(),
            prepares: target.prepared_statements,
            backslashes: target.driver == Protocol::Mysql,
            preparing: Vec::new(),
            encrypted: Vec::new(),
            heard: false,
        }
    }

    /// The protocol, to start commands and read rows.
    pub(crate) fn client(&mut self) -> &mut dyn Client {
        &mut *self.client
    }

    /// Starts to prepare a statement. Returns its number if it is emulated.
    pub(crate) fn prepare(&mut self, sql: &[u8]) -> Option<StatementId> {
        if !self.prepares {
            return Some(self.emulation.prepare(sql));
        }
        self.preparing.clear();
        self.preparing.extend_from_slice(sql);
        self.client.prepare(sql);
        None
    }

    /// Starts executing a statement with a script's parameters.
    pub(crate) fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) {
        if let Some(text) = self.emulation.text(statement, params, self.backslashes) {
            self.client.query(text);
        } else {
            execute(&mut *self.client, statement, params);
        }
    }

    pub(crate) fn close_statement(&mut self, statement: StatementId) {
        if !self.emulation.close(statement) {
            self.client.close_statement(statement);
        }
    }

    /// Whether the server has sent anything yet.
    pub(crate) fn has_heard(&self) -> bool {
        self.heard
    }

    /// Takes bytes received from the socket.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), EndpointError> {
        self.heard = true;
        match &mut self.channel {
            None => self.client.receive(bytes),
            Some(channel) => channel.receive(bytes, |plain| self.client.receive(plain))?,
        }
        Ok(())
    }

    /// The next protocol event of the received bytes; never [`Event::StartTls`].
    pub(crate) fn advance(&mut self) -> Result<Event, EndpointError> {
        loop {
            let event = self.client.advance()?;
            match (&event, &self.tls) {
                (Event::StartTls, Some(config)) => {
                    self.encrypted.extend_from_slice(self.client.output());
                    let plain_bytes = self.client.output().len();
                    self.client.consume_output(plain_bytes);
                    self.channel = Some(Channel::new(Arc::clone(config), &self.host)?);
                    self.client.tls_established();
                }
                _ => return Ok(self.emulated(event)),
            }
        }
    }

    /// A statement that the server cannot prepare is emulated.
    fn emulated(&mut self, event: Event) -> Event {
        match event {
            Event::Failed(error) if error.code == UNSUPPORTED_PS && !self.preparing.is_empty() => {
                Event::Prepared(self.emulation.prepare(&std::mem::take(&mut self.preparing)))
            }
            Event::Prepared(_) => {
                self.preparing = Vec::new();
                event
            }
            _ => event,
        }
    }

    /// Passes pending output to `send`, if any.
    pub(crate) fn flush<E: From<EndpointError>>(
        &mut self,
        send: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let plain_bytes = self.client.output().len();
        if let Some(channel) = &mut self.channel {
            channel.send(self.client.output(), &mut self.encrypted).map_err(EndpointError::from)?;
            self.client.consume_output(plain_bytes);
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
        send(self.client.output())?;
        self.client.consume_output(plain_bytes);
        Ok(())
    }
}

fn wire_mode(mode: TlsMode) -> WireTls {
    match mode {
        TlsMode::Disabled => WireTls::Disabled,
        TlsMode::Preferred => WireTls::Preferred,
        TlsMode::Required | TlsMode::VerifyCa | TlsMode::VerifyIdentity => WireTls::Required,
    }
}

fn wire_compression(Compression { zlib, zstd, uncompressed }: Compression) -> mysql::Compression {
    mysql::Compression { zlib, zstd, uncompressed }
}

fn execute(client: &mut dyn Client, statement: StatementId, params: &[Param<'_>]) {
    if params.len() <= PARAMS_INLINE {
        let mut values = [Value::Null; PARAMS_INLINE];
        for (value, param) in values.iter_mut().zip(params) {
            *value = value_of(param);
        }
        client.execute(statement, &values[..params.len()]);
    } else {
        let values: Vec<Value<'_>> = params.iter().map(value_of).collect();
        client.execute(statement, &values);
    }
}

fn value_of<'a>(param: &Param<'a>) -> Value<'a> {
    match *param {
        Param::Null => Value::Null,
        Param::Int(number) => Value::Int(number),
        Param::Float(number) => Value::Float(number),
        Param::Text(text) => Value::Bytes(text),
    }
}
