//! The first messages of a client (`StartupMessage`, `SSLRequest`, `GSSENCRequest` and `CancelRequest` in
//! PostgreSQL's manual, "Message Formats").

use crate::capture::bytes::Bytes;

/// Largest length of a first message that servers accept (`MAX_STARTUP_PACKET_LENGTH`).
pub(super) const STARTUP_BYTES_MAX: usize = 10_000;
/// Request codes. If the first message asks for a cancellation or for encryption, it has such a code at the position at
/// which a start-up message has the protocol's version.
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;

/// What a client's first message asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Startup {
    /// TLS or GSSAPI encryption, which the server accepts or refuses with one byte.
    Encryption,
    Cancel,
    Login {
        user: Vec<u8>,
        database: Vec<u8>,
    },
}

/// Whether a client's first bytes begin a session of PostgreSQL.
pub(crate) fn is_startup(bytes: &[u8]) -> bool {
    let mut head = Bytes(bytes);
    let (Some(length), Some(code)) = (head.u32_be(), head.u32_be()) else { return false };
    match code {
        CANCEL => (16..=STARTUP_BYTES_MAX as u32).contains(&length),
        TLS | GSS => length == 8,
        // A start-up message. The upper half of the code is the protocol's major version, 3.
        code => code >> 16 == 3 && (code & 0xFFFF) < 100 && (9..=STARTUP_BYTES_MAX as u32).contains(&length),
    }
}

/// Reads the body of a first message. `None` if the message is malformed, or belongs to another version of the
/// protocol.
pub(super) fn startup(body: &[u8]) -> Option<Startup> {
    let mut bytes = Bytes(body);
    match bytes.u32_be()? {
        CANCEL => Some(Startup::Cancel),
        TLS | GSS => Some(Startup::Encryption),
        code if code >> 16 == 3 => {
            let (mut user, mut database) = (Vec::new(), None);
            loop {
                let name = bytes.until_nul()?;
                if name.is_empty() {
                    break;
                }
                let value = bytes.until_nul()?;
                match name {
                    b"user" => user = value.to_vec(),
                    b"database" => database = Some(value.to_vec()),
                    _ => {}
                }
            }
            let database = database.filter(|name| !name.is_empty()).unwrap_or_else(|| user.clone());
            Some(Startup::Login { user, database })
        }
        _ => None,
    }
}
