//! The packets that open a connection: the server's handshake packet, the request for TLS, and the client's
//! handshake response.
//!
//! MySQL's source documentation ("Connection Phase Packets") calls them `HandshakeV10`, `SSLRequest` and
//! `HandshakeResponse41`. MariaDB's packets carry its own capabilities in bytes that MySQL reserves ("Connection"
//! in MariaDB's documentation of the protocol).

use crate::error::ProtocolError;
use crate::mysql::framing::compression::ZSTD_LEVEL;
use crate::mysql::framing::output::write_lenenc;
use crate::mysql::framing::reader::{Reader, malformed, truncated};
use crate::mysql::logins::capabilities;
use crate::mysql::response::text;

/// The character set of the connection, `utf8mb4_general_ci`. MySQL has it since 5.5.3, and every MariaDB has it.
const CHARSET: u8 = 45;

/// Packet size limit that the client announces: 1 GiB, the largest that a server accepts.
const MAX_PACKET_BYTES: u32 = 1 << 30;

/// MariaDB puts `5.5.5-` before its version, so that old replicas accept it as a MySQL server.
const MARIADB_PREFIX: &str = "5.5.5-";

/// Bytes of the nonce that precede the capability flags.
const NONCE_HEAD_BYTES: usize = 8;

/// The server's handshake packet.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::mysql) struct Greeting {
    pub(in crate::mysql) version: String,
    pub(in crate::mysql) capabilities: u32,
    /// MariaDB's own capabilities; 0 for MySQL.
    pub(in crate::mysql) of_mariadb: u32,
    /// Random bytes from which scrambles are computed, followed by a NUL.
    pub(in crate::mysql) nonce: Vec<u8>,
    /// The plugin that the nonce is for; empty before MySQL 5.5.7.
    pub(in crate::mysql) plugin: Vec<u8>,
}

impl Greeting {
    pub(in crate::mysql) fn parse(packet: &[u8]) -> Result<Self, ProtocolError> {
        match packet.first() {
            Some(10) => read_v10(packet).ok_or_else(|| truncated("handshake")),
            Some(version) => Err(malformed("handshake", format!("protocol version {version}, expected 10"))),
            None => Err(truncated("handshake")),
        }
    }
}

fn read_v10(packet: &[u8]) -> Option<Greeting> {
    let mut reader = Reader::new(packet);
    reader.u8()?;
    let version = version(reader.until_nul());
    let _connection_id = reader.u32()?;
    let mut nonce = reader.bytes(NONCE_HEAD_BYTES)?.to_vec();
    reader.u8()?;
    let low = reader.u16()?;
    let _charset = reader.u8()?;
    let _status = reader.u16()?;
    let high = reader.u16()?;
    let nonce_bytes = usize::from(reader.u8()?);
    let _reserved = reader.bytes(6)?;
    let of_mariadb = reader.u32()?;
    let tail_bytes = nonce_bytes.saturating_sub(NONCE_HEAD_BYTES).max(13);
    nonce.extend_from_slice(reader.bytes(tail_bytes)?);
    let plugin = reader.until_nul().to_vec();
    let capabilities = u32::from(low) | u32::from(high) << 16;
    let of_mariadb = if capabilities & capabilities::NOT_MARIADB == 0 { of_mariadb } else { 0 };
    Some(Greeting { version, capabilities, of_mariadb, nonce, plugin })
}

fn version(bytes: &[u8]) -> String {
    let version = text(bytes);
    match version.strip_prefix(MARIADB_PREFIX) {
        Some(rest) if rest.contains("MariaDB") => rest.to_owned(),
        _ => version,
    }
}

/// The request for TLS. A handshake response begins with the same bytes.
pub(in crate::mysql) fn tls_request(capabilities: u32, of_mariadb: u32) -> Vec<u8> {
    let mut packet = Vec::new();
    packet.extend_from_slice(&capabilities.to_le_bytes());
    packet.extend_from_slice(&MAX_PACKET_BYTES.to_le_bytes());
    packet.push(CHARSET);
    packet.extend_from_slice(&[0; 19]);
    packet.extend_from_slice(&of_mariadb.to_le_bytes());
    packet
}

/// The client's handshake response.
pub(in crate::mysql) struct Introduction<'a> {
    pub(in crate::mysql) capabilities: u32,
    pub(in crate::mysql) of_mariadb: u32,
    pub(in crate::mysql) user: &'a str,
    pub(in crate::mysql) database: &'a str,
    /// Name of the plugin that computed `reply`.
    pub(in crate::mysql) plugin: &'a str,
    pub(in crate::mysql) reply: &'a [u8],
}

impl Introduction<'_> {
    pub(in crate::mysql) fn to_bytes(&self) -> Vec<u8> {
        let mut packet = tls_request(self.capabilities, self.of_mariadb);
        write_with_nul(&mut packet, self.user);
        // Servers without `PLUGIN_AUTH_LENENC` expect a length of one byte. They support only plugins with short
        // replies, whose length-encoded length has one byte too.
        write_lenenc(&mut packet, self.reply.len() as u64);
        packet.extend_from_slice(self.reply);
        if self.capabilities & capabilities::CONNECT_WITH_DB != 0 {
            write_with_nul(&mut packet, self.database);
        }
        if self.capabilities & capabilities::PLUGIN_AUTH != 0 {
            write_with_nul(&mut packet, self.plugin);
        }
        if self.capabilities & capabilities::ZSTD_COMPRESSION != 0 {
            packet.push(ZSTD_LEVEL);
        }
        packet
    }
}

fn write_with_nul(packet: &mut Vec<u8>, string: &str) {
    packet.extend_from_slice(string.as_bytes());
    packet.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A handshake packet as MySQL 8.0 sends it.
    fn packet(version: &str) -> Vec<u8> {
        let mut packet = vec![10];
        packet.extend_from_slice(version.as_bytes());
        packet.extend_from_slice(b"\0\x09\0\0\0");
        packet.extend_from_slice(b"abcdefgh\0");
        packet.extend_from_slice(&[0xFF, 0xFF, 0xFF, 0x02, 0x00, 0xFF, 0xDF, 21]);
        packet.extend_from_slice(&[0; 10]);
        packet.extend_from_slice(b"ijklmnopqrst\0");
        packet.extend_from_slice(b"caching_sha2_password\0");
        packet
    }

    #[test]
    fn a_greeting_is_read() {
        let greeting = Greeting::parse(&packet("8.0.33")).unwrap();
        assert_eq!(greeting.version, "8.0.33");
        assert_eq!(greeting.capabilities, 0xDFFF_FFFF);
        assert_eq!(greeting.nonce, b"abcdefghijklmnopqrst\0");
        assert_eq!(greeting.plugin, b"caching_sha2_password");
    }

    #[test]
    fn only_a_mariadb_has_capabilities_of_its_own() {
        let mut packet = packet("5.5.5-10.11.19-MariaDB");
        let at = packet.len() - b"ijklmnopqrst\0caching_sha2_password\0".len() - 4;
        packet[at..at + 4].copy_from_slice(&[0x1d, 0, 0, 0]);
        assert_eq!(Greeting::parse(&packet).unwrap().of_mariadb, 0, "MySQL reserves these bytes");
        let lowest_capabilities = at - 6 - 8;
        packet[lowest_capabilities] = 0xFE;
        assert_eq!(Greeting::parse(&packet).unwrap().of_mariadb, 0x1d);
    }

    #[test]
    fn a_greeting_cut_short_is_an_error() {
        let whole = packet("8.0.33");
        let plugin_at = whole.len() - "caching_sha2_password\0".len();
        for length in 0..plugin_at {
            assert_eq!(Greeting::parse(&whole[..length]), Err(truncated("handshake")), "{length}");
        }
    }

    #[test]
    fn a_protocol_of_another_time_is_named() {
        let error = Greeting::parse(b"\x093.22.1\0").unwrap_err();
        assert!(error.to_string().ends_with("protocol version 9, expected 10"), "{error}");
    }

    #[test]
    fn only_mariadb_loses_the_prefix() {
        assert_eq!(Greeting::parse(&packet("5.5.5-10.11.19-MariaDB")).unwrap().version, "10.11.19-MariaDB");
        assert_eq!(Greeting::parse(&packet("5.5.5-m3-log")).unwrap().version, "5.5.5-m3-log");
    }

    #[test]
    fn the_introduction_names_only_what_was_agreed_on() {
        let write = |capabilities| {
            let reply = b"scramble";
            let (of_mariadb, user, database, plugin) = (0x0102_0304, "u", "db", "p");
            let introduction = Introduction { capabilities, of_mariadb, user, database, plugin, reply };
            let mut bytes = introduction.to_bytes();
            let named = bytes.split_off(32);
            assert!(bytes.ends_with(&[0, 4, 3, 2, 1]), "{bytes:?}");
            named
        };
        assert_eq!(write(0), b"u\0\x08scramble");
        let all = capabilities::CONNECT_WITH_DB | capabilities::PLUGIN_AUTH | capabilities::ZSTD_COMPRESSION;
        assert_eq!(write(all), b"u\0\x08scrambledb\0p\0\x03");
    }
}
