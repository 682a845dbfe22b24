//! Runs the client against a server whose bytes come from the fuzzer.
//!
//! The first byte of the input contains flags that say how the connection begins. The second byte is the size of
//! the pieces in which the rest arrives. The rest is what the server sends.

use dyno_wire::mysql::{self, Compressed, Compression};
use dyno_wire::{Client, Event, Login, Metadata, StatementId, TlsMode, Value, pgsql};

/// Flag: the client is logged in already.
pub(crate) const LOGGED_IN: u8 = 1;
/// Flag: the client requests TLS.
const TLS: u8 = 2;
/// Flag: the server ends columns and rows with EOF packets, as old servers do.
const EOF_PACKETS: u8 = 4;
/// Flag: frames are compressed with zstd. Without the flag, zlib is used.
pub(crate) const ZSTD: u8 = 8;
/// Flag: the client may compress its commands. Without the flag, each command is cut to a length at which the client
/// does not compress it. Compression would take longer than everything else in a case, and the commands do not depend
/// on what the server sends.
pub(crate) const PACKED: u8 = 4;
/// Flag: the rest of the input is packets, which this target puts into frames. Without the flag, the rest is
/// frames.
pub(crate) const FRAMED: u8 = 16;
/// Flag: the client trusts the server, so the server may learn the password.
const KNOWN: u8 = 32;
/// Flag: the server may leave out descriptions of columns, as MySQL does.
pub(crate) const SPARED: u8 = 64;
/// Flag: the server may leave out descriptions of columns, as MariaDB does.
pub(crate) const MARIADB: u8 = 128;

/// A MySQL server's greeting with every capability, and the OK packet that answers the client's login packet.
const MYSQL_WELCOME: &[u8] =
    b"\x36\0\0\0\x0A8\0\x01\0\0\0abcdefgh\0\xFF\xFF\x2D\x02\0\xFF\xFF\x15\0\0\0\0\0\0\0\0\0\0\
    ijklmnopqrst\0native\0\x07\0\0\x02\0\0\0\x02\0\0\0";
/// Index of the greeting's byte that shows whether the server ends columns and rows with EOF packets.
const CAPABILITIES_HIGH_BYTE: usize = 26;
/// Indexes of the greeting's byte that distinguishes MySQL from MariaDB, and of the byte with MariaDB's own
/// capabilities.
const CAPABILITIES_LOW_BYTE: usize = 20;
const CAPABILITIES_OF_MARIADB: usize = 34;
/// Length in bytes up to which the client does not compress the text of a command.
const UNPACKED_BYTES: usize = 40;
const PGSQL_WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

/// The client's requests, in order. `examples/capture.rs` sends the same requests to real servers.
pub const COMMANDS: [Asked; 8] = [
    Asked::Query("SELECT 1, NULL, 'a', 2.5"),
    Asked::Prepare("SELECT table_name, 1, 2.5, NULL FROM information_schema.tables WHERE 1 < ? LIMIT 5"),
    Asked::Execute(&[Value::Int(2)]),
    Asked::Query("SELECT nothing FROM nowhere"),
    Asked::Prepare("SELECT CURRENT_TIMESTAMP, CURRENT_DATE, CURRENT_TIME, 1e10, 'a text', NULL"),
    Asked::Execute(&[]),
    Asked::Query("SELECT 1; SELECT 2"),
    Asked::CloseAndQuery(""),
];

/// One request of a client.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    Query(&'static str),
    Prepare(&'static str),
    /// Executes the statement that was prepared last.
    Execute(&'static [Value<'static>]),
    /// Closes the statement that was prepared last, then executes a query.
    CloseAndQuery(&'static str),
}

impl Asked {
    /// Returns the same request, but with only the first `bytes` bytes of its text. The text is ASCII.
    fn cut(self, bytes: usize) -> Self {
        let cut = |sql: &'static str| -> &'static str { &sql[..sql.len().min(bytes)] };
        match self {
            Self::Query(sql) => Self::Query(cut(sql)),
            Self::Prepare(sql) => Self::Prepare(cut(sql)),
            Self::Execute(_) => self,
            Self::CloseAndQuery(sql) => Self::CloseAndQuery(cut(sql)),
        }
    }

    pub fn ask(self, client: &mut impl Client, statement: StatementId) {
        match self {
            Self::Query(sql) => client.query(sql.as_bytes()),
            Self::Prepare(sql) => client.prepare(sql.as_bytes()),
            Self::Execute(parameters) => client.execute(statement, parameters),
            Self::CloseAndQuery(sql) => {
                client.close_statement(statement);
                client.query(sql.as_bytes());
            }
        }
    }
}

pub(crate) fn mysql(input: &[u8]) {
    let Some((flags, pieces)) = pieces(input) else { return };
    let mut client = mysql::Connection::new(login(flags));
    if flags & LOGGED_IN != 0 {
        let mut welcome = MYSQL_WELCOME.to_vec();
        if flags & EOF_PACKETS != 0 {
            welcome[CAPABILITIES_HIGH_BYTE] = 0;
        } else if flags & MARIADB != 0 {
            // Sets all capabilities except the one by which MySQL may leave out descriptions of columns.
            welcome[CAPABILITIES_HIGH_BYTE] = 0xFD;
            welcome[CAPABILITIES_LOW_BYTE] = 0xFE;
            welcome[CAPABILITIES_OF_MARIADB] = 0xFF;
        }
        client.receive(&welcome);
    }
    drive(&mut client, pieces, usize::MAX);
}

pub(crate) fn mysql_compressed(input: &[u8]) {
    let Some((flags, pieces)) = pieces(input) else { return };
    let zstd = flags & ZSTD != 0;
    let mut client =
        Compressed::new(login(LOGGED_IN), Compression { zlib: !zstd, zstd, uncompressed: false });
    client.receive(MYSQL_WELCOME);
    // The client is logged in after the first call of `advance`, and reads frames only from then on. So the first piece
    // is empty.
    let pieces = std::iter::once(Vec::new()).chain(pieces.zip((0..=u8::MAX).cycle()).map(
        |(piece, number)| {
            if flags & FRAMED != 0 { frame(number, piece) } else { piece.to_vec() }
        },
    ));
    let text_bytes = if flags & PACKED != 0 { usize::MAX } else { UNPACKED_BYTES };
    drive(&mut client, pieces, text_bytes);
}

pub(crate) fn pgsql(input: &[u8]) {
    let Some((flags, pieces)) = pieces(input) else { return };
    let mut client = pgsql::Connection::new(login(flags));
    if flags & LOGGED_IN != 0 {
        client.receive(PGSQL_WELCOME);
    }
    drive(&mut client, pieces, usize::MAX);
}

fn login(flags: u8) -> Login {
    let wants_tls = flags & TLS != 0 && flags & LOGGED_IN == 0;
    let tls = if wants_tls { TlsMode::Preferred } else { TlsMode::Disabled };
    let known = flags & KNOWN != 0;
    let metadata = if flags & SPARED == 0 { Metadata::Full } else { Metadata::Spared };
    Login { user: "fuzz".into(), password: "fuzz".into(), tls, known, metadata, ..Login::default() }
}

/// Returns the flags of the input, and the server's bytes in pieces.
fn pieces(input: &[u8]) -> Option<(u8, impl Iterator<Item = &[u8]>)> {
    let [flags, piece_bytes, said @ ..] = input else { return None };
    let piece_bytes = if *piece_bytes == 0 { usize::MAX } else { usize::from(*piece_bytes) };
    Some((*flags, said.chunks(piece_bytes)))
}

/// Returns an uncompressed frame.
fn frame(number: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[number, 0, 0, 0], payload].concat()
}

/// Feeds a client piece by piece. At every event, does what a caller does next: reads all rows, and then goes on to
/// the next result or starts another command, whose text is cut to `text_bytes`. Ends when the client reports an
/// error.
fn drive(client: &mut impl Client, pieces: impl Iterator<Item = impl AsRef<[u8]>>, text_bytes: usize) {
    let mut commands = COMMANDS.iter().cycle();
    let mut statement = 0;
    for piece in pieces {
        client.receive(piece.as_ref());
        loop {
            client.consume_output(client.output().len());
            match client.advance() {
                Err(_) => return,
                Ok(Event::NeedInput) => break,
                Ok(Event::StartTls) => client.tls_established(),
                Ok(Event::Done(summary)) if summary.more => {
                    read(client);
                    client.next_result();
                }
                Ok(event) => {
                    if let Event::Prepared(id) = event {
                        statement = id;
                    }
                    read(client);
                    if let Some(command) = commands.next() {
                        command.cut(text_bytes).ask(client, statement);
                    }
                }
            }
        }
    }
}

fn read(client: &mut impl Client) {
    client.field_names();
    client.first_statement();
    client.server_version();
    let mut fields = Vec::new();
    while client.next_row(&mut fields) {}
}
