//! The login, from the server's handshake packet to its OK packet.

use crate::client::{Event, Login, Metadata, TlsMode};
use crate::error::ProtocolError;
use crate::mysql::framing::compression::Compression;
use crate::mysql::framing::output::packet;
use crate::mysql::framing::packets::Packets;
use crate::mysql::framing::reader::{Reader, malformed, unasked};
use crate::mysql::logins::auth::{Plugin, Secret, Transport};
use crate::mysql::logins::capabilities;
use crate::mysql::logins::handshake::{Greeting, Introduction, tls_request};
use crate::mysql::response::{EOF, ERR, OK, read_error, read_ok, text};
use crate::outbox::Outbox;

/// First byte of a packet with more data for the authentication plugin.
const AUTH_MORE_DATA: u8 = 1;

/// State of a login.
pub(in crate::mysql) struct Dialog {
    login: Login,
    compression: Compression,
    stage: Stage,
    transport: Transport,
    plugin: Plugin,
    nonce: Vec<u8>,
    /// Capabilities that both sides support.
    pub(in crate::mysql) capabilities: u32,
    /// MariaDB's own capabilities that both sides support.
    pub(in crate::mysql) of_mariadb: u32,
    /// Version from the server's handshake packet.
    pub(in crate::mysql) server_version: String,
}

enum Stage {
    Greeting,
    /// Waits until the transport is encrypted. The value is the handshake response, which is sent after that.
    Tls(Vec<u8>),
    Authentication,
    Refused,
}

impl Dialog {
    /// A login that accepts the algorithms in `compression`.
    pub(in crate::mysql) fn new(login: Login, compression: Compression) -> Self {
        Self {
            compression,
            transport: if login.local { Transport::Local } else { Transport::Open },
            login,
            stage: Stage::Greeting,
            plugin: Plugin::Native,
            nonce: Vec::new(),
            capabilities: 0,
            of_mariadb: 0,
            server_version: String::new(),
        }
    }

    /// Parses the packets that have arrived, up to [`Event::Ready`].
    pub(in crate::mysql) fn advance(
        &mut self,
        packets: &mut Packets,
        output: &mut Outbox,
    ) -> Result<Event, ProtocolError> {
        while let Stage::Greeting | Stage::Authentication = self.stage {
            let Some(at) = packets.next()? else { break };
            let arrived = packets.head(at).to_vec();
            if arrived.first() == Some(&ERR) {
                self.stage = Stage::Refused;
                return read_error(&arrived).map(Event::Failed);
            }
            let event = match self.stage {
                Stage::Greeting => self.greeted(&arrived, packets, output)?,
                _ => self.answered(&arrived, packets, output)?,
            };
            if event != Event::NeedInput {
                return Ok(event);
            }
        }
        Ok(Event::NeedInput)
    }

    /// Sends the handshake response that waited for TLS.
    pub(in crate::mysql) fn tls_established(&mut self, packets: &mut Packets, output: &mut Outbox) {
        if let Stage::Tls(introduction) = &self.stage {
            reply(packets, output, introduction);
            self.stage = Stage::Authentication;
        }
    }

    fn greeted(
        &mut self,
        arrived: &[u8],
        packets: &mut Packets,
        output: &mut Outbox,
    ) -> Result<Event, ProtocolError> {
        let greeting = Greeting::parse(arrived)?;
        self.capabilities = agree(greeting.capabilities, self.compression, &self.login)?;
        self.of_mariadb = self.agree_on_metadata(&greeting)?;
        self.server_version = greeting.version;
        self.nonce = greeting.nonce;
        // An account may use another plugin than the server's default. If this client does not support the default
        // plugin and the account uses that plugin, the server requests the plugin by name, and the login then
        // fails.
        self.plugin = Plugin::from_name(&greeting.plugin).unwrap_or(Plugin::Native);
        let tls = self.capabilities & capabilities::SSL != 0;
        if tls {
            self.transport = Transport::Encrypted;
        }
        let introduction = self.introduction()?;
        if !tls {
            self.stage = Stage::Authentication;
            reply(packets, output, &introduction);
            return Ok(Event::NeedInput);
        }
        if packets.has_unscanned() {
            return Err(malformed("handshake", "more in clear after TLS was offered"));
        }
        let request = tls_request(self.capabilities, self.of_mariadb);
        reply(packets, output, &request);
        self.stage = Stage::Tls(introduction);
        Ok(Event::StartTls)
    }

    /// Returns which of MariaDB's own capabilities to request. MySQL's capabilities are already agreed on.
    fn agree_on_metadata(&self, greeting: &Greeting) -> Result<u32, ProtocolError> {
        let has = |bit| self.capabilities & bit != 0;
        let of_mariadb = greeting.of_mariadb & capabilities::MARIADB_CACHE_METADATA;
        match self.login.metadata {
            Metadata::Full => Ok(0),
            // Results without descriptions of their columns can be read only if the server sends no EOF packets.
            // This holds for MySQL and for MariaDB.
            Metadata::Spared if !has(capabilities::DEPRECATE_EOF) => Err(ProtocolError::MetadataNotSpared),
            Metadata::Spared if has(capabilities::OPTIONAL_METADATA) => Ok(0),
            Metadata::Spared if of_mariadb == 0 => Err(ProtocolError::MetadataNotSpared),
            Metadata::Spared => Ok(of_mariadb),
        }
    }

    fn introduction(&self) -> Result<Vec<u8>, ProtocolError> {
        let introduction = Introduction {
            capabilities: self.capabilities,
            of_mariadb: self.of_mariadb,
            user: &self.login.user,
            database: &self.login.database,
            plugin: self.plugin.name(),
            reply: &self.plugin.reply(self.secret())?,
        };
        Ok(introduction.to_bytes())
    }

    fn answered(
        &mut self,
        arrived: &[u8],
        packets: &mut Packets,
        output: &mut Outbox,
    ) -> Result<Event, ProtocolError> {
        match arrived.split_first() {
            Some((&OK, _)) => return read_ok(arrived).map(|_| Event::Ready),
            Some((&AUTH_MORE_DATA, data)) => {
                if let Some(answer) = self.plugin.reply_to_more(data, self.secret())? {
                    reply(packets, output, &answer);
                }
            }
            Some((&EOF, request)) => {
                self.switch(request)?;
                reply(packets, output, &self.plugin.reply(self.secret())?);
            }
            _ => return Err(unasked("authentication", arrived)),
        }
        Ok(Event::NeedInput)
    }

    /// Handles a server's request to use another plugin. A server that knows no plugins sends the request without a
    /// name.
    fn switch(&mut self, request: &[u8]) -> Result<(), ProtocolError> {
        let mut reader = Reader::new(request);
        let name = if request.is_empty() { &b"mysql_old_password"[..] } else { reader.until_nul() };
        self.plugin =
            Plugin::from_name(name).ok_or_else(|| ProtocolError::UnknownAuthentication(text(name)))?;
        self.nonce = reader.rest().to_vec();
        Ok(())
    }

    fn secret(&self) -> Secret<'_> {
        Secret {
            password: self.login.password.as_bytes(),
            nonce: self.plugin.trim(&self.nonce),
            transport: self.transport,
            is_known: self.login.is_known(),
            trust: &self.login.trust,
        }
    }
}

/// Capabilities of the connection. TLS and compression are included if they will be used.
fn agree(server: u32, compression: Compression, login: &Login) -> Result<u32, ProtocolError> {
    if server & capabilities::PROTOCOL_41 == 0 {
        return Err(malformed("handshake", "the server is older than MySQL 4.1"));
    }
    let mut wanted = capabilities::WANTED | compression.agree(server)?;
    if !login.database.is_empty() {
        wanted |= capabilities::CONNECT_WITH_DB;
    }
    if login.metadata == Metadata::Spared {
        wanted |= capabilities::OPTIONAL_METADATA;
    }
    match login.tls {
        TlsMode::Disabled => {}
        TlsMode::Required if server & capabilities::SSL == 0 => return Err(ProtocolError::TlsUnavailable),
        TlsMode::Preferred | TlsMode::Required => wanted |= capabilities::SSL,
    }
    Ok(wanted & server)
}

/// Queues an answer to the last packet.
fn reply(packets: &mut Packets, output: &mut Outbox, payload: &[u8]) {
    let next = packet(output, packets.sequence(), |bytes| bytes.extend_from_slice(payload));
    packets.expect_sequence(next);
}
