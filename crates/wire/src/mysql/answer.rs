//! A server's answer to a command, packet by packet.

use super::framing::output::packet;
use super::framing::packets::{FULL_FRAME_BYTES, Packets};
use super::framing::reader::{Reader, malformed, truncated, unasked};
use super::response::{EOF, ERR, End, OK, read_eof, read_error, read_ok};
use super::result::ResultSet;
use super::statement::Statements;
use crate::client::{Event, ServerError, StatementId, Summary};
use crate::error::ProtocolError;
use crate::outbox::Outbox;

/// First byte of a request for a local file (`LOAD DATA LOCAL INFILE`).
const LOCAL_INFILE: u8 = 0xFB;

/// Bytes of the client's file that are sent in one packet. Servers refuse packets above `max_allowed_packet`, which
/// is at least 1 MB.
const FILE_PACKET_BYTES: usize = 512 * 1024;

/// Largest number of columns that a table can have on any server.
const MAX_COLUMNS: u64 = 4096;

/// Without `DEPRECATE_EOF`, a packet that has the first byte of an EOF packet may also be a row. It is an EOF packet if
/// it is shorter than this number of bytes, and otherwise a row.
const EOF_LIMIT_BYTES: usize = 9;

/// Kind of the next packet of an answer.
#[derive(Clone, Copy, Default)]
enum Stage {
    #[default]
    Idle,
    /// A result is complete, and the caller has not yet requested the next one of the same command.
    Paused,
    /// OK, ERR, a request for a file, or a number of columns.
    First,
    /// OK or ERR, after the client sent an empty file.
    Infile,
    /// OK or ERR, after the client sent the offered data.
    Loaded,
    /// One of the `left` remaining packets that describe columns. The count includes the EOF packet after them.
    Columns { left: u32 },
    /// A row, or the packet that ends the rows.
    Rows,
    /// OK or ERR, as the answer to a prepare command.
    Preparation,
    /// One of the `left` remaining packets that describe the parameters and columns of a prepared statement.
    Description { left: u32, id: StatementId },
}

/// Whether the server may leave out descriptions of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Metadata {
    #[default]
    Full,
    /// MariaDB leaves out descriptions that it has sent before.
    Cached,
    /// MySQL leaves out all descriptions.
    Optional,
}

/// State of an answer, and its current result.
#[derive(Default)]
pub(super) struct Answer {
    stage: Stage,
    pub(super) result: ResultSet,
    /// The data to send if the server asks for a file.
    offered: Option<Vec<u8>>,
    /// Whether the server sends no EOF packet after column definitions, and sends an OK packet after the rows.
    pub(super) deprecate_eof: bool,
    pub(super) metadata: Metadata,
}

impl Answer {
    /// Awaits the results of a command. Rows of a prepared statement are in binary form, all others are text.
    pub(super) fn await_result(&mut self, statement: Option<StatementId>) {
        self.stage = Stage::First;
        self.offered = None;
        self.result.clear(statement);
    }

    /// Offers data to the server for the query that was started.
    pub(super) fn offer(&mut self, data: &[u8]) {
        self.offered = Some(data.to_vec());
    }

    /// Awaits a prepared statement.
    pub(super) fn await_preparation(&mut self) {
        self.stage = Stage::Preparation;
        self.result.clear(None);
    }

    /// Starts reading the next result of the same command, if there is one.
    pub(super) fn next_result(&mut self, packets: &mut Packets) {
        if self.is_paused() {
            packets.discard_scanned();
            self.await_result(self.result.statement);
        }
    }

    fn is_paused(&self) -> bool {
        matches!(self.stage, Stage::Paused)
    }

    /// Parses the packets that have arrived, up to the next event.
    pub(super) fn advance(
        &mut self,
        packets: &mut Packets,
        output: &mut Outbox,
        statements: &mut Statements,
    ) -> Result<Event, ProtocolError> {
        while !self.is_paused() {
            if let Stage::Rows = self.stage {
                self.result.rows += packets.skip_while(|row| !matches!(row.first(), Some(&(EOF | ERR))));
            }
            let Some(at) = packets.next()? else { break };
            let head = packets.head(at);
            let first = head.first().copied();
            match self.stage {
                // Whatever packet is expected, only an ERR packet begins with this byte.
                _ if first == Some(ERR) => return read_error(head).map(|error| self.fail(error)),
                Stage::Rows if first == Some(EOF) && self.ends_rows(head) => return self.finish_rows(head),
                Stage::Rows => self.result.rows += 1,
                Stage::Columns { left: 1 } => self.begin_rows(packets, statements)?,
                Stage::Columns { left } => self.stage = Stage::Columns { left: left - 1 },
                Stage::First if first == Some(OK) => return Ok(self.finish(read_ok(head)?)),
                Stage::First if first == Some(LOCAL_INFILE) => self.answer_file(packets, output),
                Stage::First => self.begin_columns(head, packets.position())?,
                Stage::Infile if first == Some(OK) => return Ok(self.fail(file_refused())),
                Stage::Loaded if first == Some(OK) => return Ok(self.finish_load(read_ok(head)?)),
                Stage::Preparation if first == Some(OK) => {
                    let (id, left) = self.prepared(head, statements)?;
                    if left == 0 {
                        return Ok(self.finish_preparation(id));
                    }
                    self.stage = Stage::Description { left, id };
                }
                Stage::Description { left, id } => {
                    if left == self.result.columns {
                        self.result.columns_at = at;
                    }
                    if left > 1 {
                        self.stage = Stage::Description { left: left - 1, id };
                        continue;
                    }
                    self.keep_definitions(id, packets, statements)?;
                    return Ok(self.finish_preparation(id));
                }
                Stage::Idle | Stage::Paused | Stage::Infile | Stage::Loaded | Stage::Preparation => {
                    return Err(unasked("answer", head));
                }
            }
        }
        Ok(Event::NeedInput)
    }

    fn begin_columns(&mut self, head: &[u8], next_at: usize) -> Result<(), ProtocolError> {
        let mut reader = Reader::new(head);
        let mut read = || {
            let columns = reader.lenenc()?;
            Some((columns, if self.metadata == Metadata::Full { 1 } else { reader.u8()? }))
        };
        let (columns, described) = read().ok_or_else(|| truncated("number of columns"))?;
        if !(1..=MAX_COLUMNS).contains(&columns) || !reader.rest().is_empty() {
            let detail = format!("{columns} columns, expected 1 to {MAX_COLUMNS}");
            return Err(malformed("number of columns", detail));
        }
        self.result.columns = columns as u32;
        if described == 0 {
            self.result.rows_at = next_at;
            self.stage = Stage::Rows;
            return Ok(());
        }
        self.result.is_described = true;
        self.result.columns_at = next_at;
        self.stage = Stage::Columns { left: self.with_eof(columns as u32) };
        Ok(())
    }

    fn begin_rows(&mut self, packets: &Packets, statements: &mut Statements) -> Result<(), ProtocolError> {
        self.result.rows_at = packets.position();
        self.stage = Stage::Rows;
        match self.result.statement {
            Some(id) => self.keep_definitions(id, packets, statements),
            None => Ok(()),
        }
    }

    /// Keeps the definitions of columns that the server sent last for this statement. Does this only if the server may
    /// leave out definitions that it has sent before.
    fn keep_definitions(
        &self,
        id: StatementId,
        packets: &Packets,
        statements: &mut Statements,
    ) -> Result<(), ProtocolError> {
        if self.metadata == Metadata::Cached && self.result.columns > 0 {
            statements.define(id, packets.between(self.result.columns_at, packets.position()))?;
        }
        Ok(())
    }

    /// Whether a packet that begins like an EOF packet is an EOF packet. If it is not, it is a row whose first
    /// field exceeds 16 MB.
    fn ends_rows(&self, head: &[u8]) -> bool {
        head.len() < if self.deprecate_eof { FULL_FRAME_BYTES } else { EOF_LIMIT_BYTES }
    }

    fn finish_rows(&mut self, head: &[u8]) -> Result<Event, ProtocolError> {
        let end = if self.deprecate_eof { read_ok(head)? } else { read_eof(head)? };
        Ok(self.finish(End { affected_rows: 0, ..end }))
    }

    /// Stores a prepared statement. Returns its number, and the number of packets that describe its parameters and
    /// columns.
    ///
    /// The caller skips these packets, because results describe their columns again. Only the definitions that
    /// MariaDB may leave out of later results are kept.
    fn prepared(
        &mut self,
        head: &[u8],
        statements: &mut Statements,
    ) -> Result<(StatementId, u32), ProtocolError> {
        let mut reader = Reader::new(head);
        let mut read = || {
            reader.u8()?;
            let (server_id, columns, params) = (reader.u32()?, reader.u16()?, reader.u16()?);
            let described = if self.metadata == Metadata::Optional {
                let _reserved_and_warnings = reader.bytes(3)?;
                reader.u8()?
            } else {
                1
            };
            Some((server_id, columns, params, described))
        };
        let (server_id, columns, params, described) =
            read().ok_or_else(|| truncated("answer to a prepare command"))?;
        if described == 0 {
            return Ok((statements.add(server_id, params), 0));
        }
        self.result.columns = u32::from(columns);
        let described_by = self.with_eof(u32::from(params)) + self.with_eof(u32::from(columns));
        Ok((statements.add(server_id, params), described_by))
    }

    fn finish_preparation(&mut self, id: StatementId) -> Event {
        self.stage = Stage::Idle;
        self.result.clear(None);
        Event::Prepared(id)
    }

    /// Number of packets that describe `columns` columns. The number includes the EOF packet after them, if the
    /// server sends one.
    fn with_eof(&self, columns: u32) -> u32 {
        columns + u32::from(columns > 0 && !self.deprecate_eof)
    }

    fn finish(&mut self, end: End) -> Event {
        self.stage = if end.more_results { Stage::Paused } else { Stage::Idle };
        Event::Done(Summary {
            affected_rows: end.affected_rows,
            rows: self.result.rows,
            fields: self.result.columns,
            warnings: end.warnings,
            more: end.more_results,
        })
    }

    fn fail(&mut self, error: ServerError) -> Event {
        self.stage = Stage::Idle;
        self.result.clear(None);
        Event::Failed(error)
    }

    /// Sends the offered data as the file that the server requests. Without offered data, sends an empty file. An
    /// empty packet ends the file.
    fn answer_file(&mut self, packets: &mut Packets, output: &mut Outbox) {
        let offered = self.offered.take();
        self.stage = if offered.is_some() { Stage::Loaded } else { Stage::Infile };
        let mut sequence = packets.sequence();
        for part in offered.iter().flat_map(|data| data.chunks(FILE_PACKET_BYTES)) {
            sequence = packet(output, sequence, |bytes| bytes.extend_from_slice(part));
        }
        packets.expect_sequence(packet(output, sequence, |_| {}));
    }

    /// A load with warnings is an error, because the server changes or leaves out rows that it cannot store.
    fn finish_load(&mut self, end: End) -> Event {
        match end.warnings {
            0 => self.finish(end),
            warnings => self.fail(ServerError {
                code: 0,
                // SQLSTATE of a warning.
                state: "01000".to_owned(),
                message: format!("the server took the data with {warnings} warnings"),
            }),
        }
    }
}

/// Error for a refused file. The server would report an empty file as a success.
fn file_refused() -> ServerError {
    // `CR_LOAD_DATA_LOCAL_INFILE_REJECTED` of MySQL's own client library.
    let message = "LOAD DATA LOCAL INFILE is refused: the client sends no files".to_owned();
    ServerError { code: 2068, state: "HY000".to_owned(), message }
}
