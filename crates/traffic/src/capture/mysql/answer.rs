//! The server's answer to a command ("Text Resultset", `OK_Packet`, `ERR_Packet` and `EOF_Packet` in MySQL's source
//! documentation).
//!
//! If the capture lacks the login, the agreed capabilities are not known. Then a packet's length shows whether the
//! client and the server agreed on `CLIENT_DEPRECATE_EOF`: an EOF packet has 5 bytes, and the OK packet that replaces
//! it under this capability has at least 7.

use super::frames::Packet;
use crate::capture::bytes::Bytes;

/// Status flags of OK and EOF packets.
const MORE_RESULTS_EXISTS: u16 = 1 << 3;
const CURSOR_EXISTS: u16 = 1 << 6;
/// Length of an EOF packet.
const EOF_BYTES: u64 = 5;
/// A packet that begins with 0xFE is a row if it has at least this length.
const ROW_BYTES_MIN: u64 = 0xFF_FFFF;
/// MariaDB's progress report looks like an error with this number.
const PROGRESS: u16 = 0xFFFF;

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) rows_sent: Option<u64>,
    pub(super) rows_affected: Option<u64>,
    pub(super) error: Option<u16>,
}

/// What a packet means for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    More,
    /// The server asks the client for a file (`LOAD DATA LOCAL`).
    AsksForFile,
    Done(Outcome),
    /// The packet is not valid at this point of an answer.
    Bad,
}

/// An answer that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    stage: Stage,
    rows: u64,
    affected: Option<u64>,
    /// Whether the answer contains a table of rows.
    has_rows: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    #[default]
    First,
    /// Descriptions of this many columns follow.
    Columns(u64),
    Rows {
        has_eof: bool,
    },
}

impl Answer {
    /// Whether no packet of the answer has been read yet.
    pub(super) fn is_at_begin(&self) -> bool {
        matches!(self.stage, Stage::First) && !self.has_rows && self.affected.is_none()
    }

    /// Reads the next packet.
    pub(super) fn read(&mut self, packet: &Packet) -> Step {
        let Some(first) = packet.payload.first() else { return Step::Bad };
        match (self.stage, *first) {
            (_, 0xFF) => match error(&packet.payload) {
                Some(PROGRESS) => Step::More,
                Some(code) => self.done(Some(code)),
                None => Step::Bad,
            },
            (Stage::First, 0x00) => match ok(&packet.payload) {
                Some((affected, status)) => {
                    self.affected = Some(self.affected.unwrap_or(0).saturating_add(affected));
                    self.result_ends(status)
                }
                None => Step::Bad,
            },
            (Stage::First, 0xFB) => Step::AsksForFile,
            (Stage::First, 0xFE) => Step::Bad,
            (Stage::First, _) => self.table(packet),
            (Stage::Columns(left), _) => {
                self.stage = if left > 1 { Stage::Columns(left - 1) } else { Stage::Rows { has_eof: false } };
                Step::More
            }
            (Stage::Rows { has_eof }, 0xFE) if packet.bytes == EOF_BYTES => {
                let status = u16::from_le_bytes([packet.payload[3], packet.payload[4]]);
                if has_eof || status & CURSOR_EXISTS != 0 {
                    return self.result_ends(status);
                }
                self.stage = Stage::Rows { has_eof: true };
                Step::More
            }
            (Stage::Rows { .. }, 0xFE) if packet.bytes < ROW_BYTES_MIN => match ok(&packet.payload) {
                Some((_, status)) => self.result_ends(status),
                None => Step::Bad,
            },
            (Stage::Rows { .. }, _) => {
                self.rows += 1;
                Step::More
            }
        }
    }

    /// Reads the number of columns. If the client has agreed that descriptions of columns may be left out, a further
    /// byte says whether the descriptions follow (`CLIENT_OPTIONAL_RESULTSET_METADATA`,
    /// `MARIADB_CLIENT_CACHE_METADATA`).
    fn table(&mut self, packet: &Packet) -> Step {
        let mut bytes = Bytes(&packet.payload);
        let columns = bytes.lenenc().filter(|columns| *columns > 0);
        let (Some(columns), [] | [_]) = (columns, bytes.0) else { return Step::Bad };
        self.has_rows = true;
        self.stage = if bytes.0 == [0] { Stage::Rows { has_eof: false } } else { Stage::Columns(columns) };
        Step::More
    }

    /// Ends a result. Another result may follow.
    fn result_ends(&mut self, status: u16) -> Step {
        self.stage = Stage::First;
        if status & MORE_RESULTS_EXISTS != 0 { Step::More } else { self.done(None) }
    }

    fn done(&self, error: Option<u16>) -> Step {
        let rows_sent = (error.is_none() || self.has_rows).then_some(self.rows);
        Step::Done(Outcome { rows_sent, rows_affected: self.affected, error })
    }
}

/// The number of affected rows and the status flags of an OK packet.
pub(super) fn ok(payload: &[u8]) -> Option<(u64, u16)> {
    let mut bytes = Bytes(payload);
    bytes.u8()?;
    let affected = bytes.lenenc()?;
    bytes.lenenc()?;
    Some((affected, bytes.u16_le()?))
}

/// The number of an error packet.
pub(super) fn error(payload: &[u8]) -> Option<u16> {
    let mut bytes = Bytes(payload);
    bytes.u8()?;
    bytes.u16_le()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(packets: &[&[u8]]) -> Vec<Step> {
        let mut answer = Answer::default();
        let packet = |payload: &&[u8]| Packet {
            payload: payload.to_vec(),
            bytes: payload.len() as u64,
            ..Packet::default()
        };
        packets.iter().map(|payload| answer.read(&packet(payload))).collect()
    }

    fn rows(rows_sent: u64, rows_affected: Option<u64>) -> Step {
        Step::Done(Outcome { rows_sent: Some(rows_sent), rows_affected, error: None })
    }

    const OK: &[u8] = &[0, 3, 0, 2, 0, 0, 0];
    const COLUMN: &[u8] = b"\x03def";
    const EOF: &[u8] = &[0xFE, 0, 0, 2, 0];
    const END: &[u8] = &[0xFE, 0, 0, 2, 0, 0, 0];

    #[test]
    fn answers_end_in_each_of_their_forms() {
        assert_eq!(read(&[OK]), [rows(0, Some(3))]);
        let old = read(&[&[1], COLUMN, EOF, b"\x01a", b"\x01b", EOF]);
        assert_eq!(old.last(), Some(&rows(2, None)));
        let new = read(&[&[2], COLUMN, COLUMN, b"\x01a\x01b", END]);
        assert_eq!(new.last(), Some(&rows(1, None)));
        let without_columns = read(&[&[2, 0], b"\x01a\x01b", END]);
        assert_eq!(without_columns.last(), Some(&rows(1, None)));
        let cursor = read(&[&[1], COLUMN, &[0xFE, 0, 0, 0x42, 0]]);
        assert_eq!(cursor.last(), Some(&rows(0, None)));
    }

    #[test]
    fn several_results_are_one_answer() {
        let more = &[0xFE, 0, 0, 0x0A, 0, 0, 0];
        let steps = read(&[&[1], COLUMN, b"\x01a", more, &[1], COLUMN, b"\x01b", more, OK]);
        assert_eq!(steps.last(), Some(&rows(2, Some(3))));
        assert!(steps[..8].iter().all(|step| *step == Step::More));
    }

    #[test]
    fn errors_come_at_once_or_after_rows() {
        let failed = |rows_sent| Outcome { rows_sent, rows_affected: None, error: Some(1062) };
        assert_eq!(read(&[b"\xFF\x26\x04#23000"]), [Step::Done(failed(None))]);
        let late = read(&[b"\xFF\xFF\xFF", &[1], COLUMN, b"\x01a", b"\xFF\x26\x04#23000"]);
        assert_eq!(late.last(), Some(&Step::Done(failed(Some(1)))));
    }

    #[test]
    fn what_is_no_answer_is_bad() {
        for payload in [&[][..], &[0], &[0xFE, 0], &[0xFF], &[1, 2, 3], &[0xFC]] {
            assert_eq!(read(&[payload]), [Step::Bad], "{payload:x?}");
        }
    }
}
