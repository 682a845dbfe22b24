//! The short packets OK, ERR and EOF.

use super::framing::reader::{Reader, truncated};
use crate::client::ServerError;
use crate::error::ProtocolError;
use crate::limits::error_text;

/// First byte of an OK packet.
pub(super) const OK: u8 = 0x00;
/// First byte of an EOF packet. With `DEPRECATE_EOF`, it is the first byte of the OK packet that replaces the EOF
/// packet.
pub(super) const EOF: u8 = 0xFE;
/// First byte of an ERR packet.
pub(super) const ERR: u8 = 0xFF;

/// Status flag: another result of the same command follows.
const MORE_RESULTS_EXISTS: u16 = 1 << 3;

/// Content of the packet that ends a statement or a result set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) affected_rows: u64,
    pub(super) warnings: u16,
    pub(super) more_results: bool,
}

/// Reads an OK packet, which begins with [`OK`] or with [`EOF`].
pub(super) fn read_ok(packet: &[u8]) -> Result<End, ProtocolError> {
    let mut reader = Reader::new(packet);
    let mut read = || {
        reader.u8()?;
        let affected_rows = reader.lenenc()?;
        let _last_insert_id = reader.lenenc()?;
        let more_results = reader.u16()? & MORE_RESULTS_EXISTS != 0;
        Some(End { affected_rows, warnings: reader.u16()?, more_results })
    };
    read().ok_or_else(|| truncated("OK packet"))
}

/// Reads an EOF packet of the old form, which `DEPRECATE_EOF` replaced.
pub(super) fn read_eof(packet: &[u8]) -> Result<End, ProtocolError> {
    let mut reader = Reader::new(packet);
    let mut read = || {
        reader.u8()?;
        let warnings = reader.u16()?;
        Some(End { affected_rows: 0, warnings, more_results: reader.u16()? & MORE_RESULTS_EXISTS != 0 })
    };
    read().ok_or_else(|| truncated("EOF packet"))
}

/// Reads an ERR packet. An ERR packet that replaces the handshake (too many connections) has no SQLSTATE.
pub(super) fn read_error(packet: &[u8]) -> Result<ServerError, ProtocolError> {
    let mut reader = Reader::new(packet);
    let code = reader.u8().and_then(|_| reader.u16()).ok_or_else(|| truncated("ERR packet"))?;
    let (state, message) = match reader.rest().split_at_checked(6) {
        Some(([b'#', state @ ..], message)) => (state, message),
        _ => (&b"HY000"[..], reader.rest()),
    };
    Ok(ServerError { code, state: text(state), message: error_text(message) })
}

/// Text from a server. Before the connection has a character set, the text may be in any character set, so bytes
/// that are not UTF-8 are replaced.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ok_packet_with_wide_counts() {
        let packet = [OK, 0xFC, 0x10, 0x27, 0xFD, 1, 0, 1, 0x0A, 0x00, 3, 0];
        assert_eq!(read_ok(&packet), Ok(End { affected_rows: 10_000, warnings: 3, more_results: true }));
    }

    #[test]
    fn an_eof_packet() {
        assert_eq!(
            read_eof(&[EOF, 2, 0, 0x22, 0]),
            Ok(End { affected_rows: 0, warnings: 2, more_results: false })
        );
    }

    #[test]
    fn errors_with_and_without_a_state() {
        let duplicate = read_error(b"\xFF\x26\x04#23000Duplicate entry").unwrap();
        assert_eq!((duplicate.code, duplicate.state.as_str()), (1062, "23000"));
        assert_eq!(duplicate.message, "Duplicate entry");
        let refused = read_error(b"\xFF\x10\x04Too many connections").unwrap();
        assert_eq!((refused.code, refused.state.as_str()), (1040, "HY000"));
        assert_eq!(refused.message, "Too many connections");
        let endless = read_error(&[b"\xFF\x10\x04".as_slice(), &b"x".repeat(1 << 20)].concat()).unwrap();
        assert_eq!(endless.message.len(), 8192);
    }

    #[test]
    fn packets_that_end_too_early_are_errors() {
        for bytes in [&[][..], &[0], &[0, 0, 0, 2, 0, 0]] {
            assert_eq!(read_ok(bytes), Err(truncated("OK packet")));
        }
        assert_eq!(read_eof(&[EOF, 0, 0, 0]), Err(truncated("EOF packet")));
        assert_eq!(read_error(&[ERR, 0]), Err(truncated("ERR packet")));
    }
}
