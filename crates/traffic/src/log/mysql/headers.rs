//! The lines of the slow log before a statement.

use crate::log::moment;
use crate::log::text::{decimal, only_whole, split_once};

/// The facts in the lines before a statement.
#[derive(Debug, Default)]
pub(super) struct Headers {
    /// The line number of the entry's first line.
    pub(super) line: u64,
    /// The time in `# Time:` as MySQL 5.7 and later write it. It is the time when the entry was written, which is
    /// at the statement's end.
    pub(super) written_us: Option<i64>,
    pub(super) has_zone: bool,
    /// The time in `Start:`, which `log_slow_extra` adds.
    pub(super) start_us: Option<i64>,
    /// The time in `SET timestamp=…`, in whole seconds. Before MySQL 8.0.14 it is the statement's end, and since
    /// then its start.
    pub(super) timestamp_us: Option<i64>,
    pub(super) latency_us: Option<u64>,
    pub(super) rows_sent: Option<u64>,
    pub(super) rows_examined: Option<u64>,
    pub(super) rows_affected: Option<u64>,
    pub(super) session: Vec<u8>,
    pub(super) user: Vec<u8>,
    pub(super) schema: Vec<u8>,
    /// Number of the error; empty if there was none.
    pub(super) error: Vec<u8>,
}

impl Headers {
    /// Clears all facts, but keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        self.line = 0;
        (self.written_us, self.has_zone, self.start_us, self.timestamp_us) = (None, true, None, None);
        self.latency_us = None;
        (self.rows_sent, self.rows_examined, self.rows_affected) = (None, None, None);
        for text in [&mut self.session, &mut self.user, &mut self.schema, &mut self.error] {
            text.clear();
        }
    }

    /// When the statement began.
    pub(super) fn begin_us(&self) -> Option<i64> {
        let end_us = self.written_us.or(self.timestamp_us);
        let latency_us = self.latency_us.unwrap_or(0).min(i64::MAX as u64) as i64;
        self.start_us.or(end_us.map(|end_us| end_us.saturating_sub(latency_us)))
    }

    /// Reads a line that begins with `# `.
    pub(super) fn read(&mut self, line: &[u8]) {
        if let Some(rest) = line.strip_prefix(b"# Time: ") {
            if let Some((moment, _)) = moment::iso(rest) {
                (self.written_us, self.has_zone) = (Some(moment.at_us), moment.has_zone);
            }
            // The older form of `# Time:` has local time and is ignored. `SET timestamp` has the same time in UTC.
        } else if let Some(rest) = line.strip_prefix(b"# User@Host: ") {
            self.user_and_host(rest);
        } else {
            self.pairs(line.get(2..).unwrap_or_default());
        }
    }

    /// Parses `root[root] @ localhost [127.0.0.1]  Id:     8`.
    fn user_and_host(&mut self, text: &[u8]) {
        if let Some((user, _)) = split_once(text, b"[") {
            self.user.extend_from_slice(user.trim_ascii());
        }
        let behind_host = memchr::memrchr(b']', text).map_or(0, |at| at + 1);
        self.pairs(&text[behind_host..]);
    }

    /// Parses `Query_time: 0.000321  Lock_time: 0.000089 Rows_sent: 1`. Each name ends with a colon, and may have a
    /// value.
    fn pairs(&mut self, text: &[u8]) {
        let mut name: Option<&[u8]> = None;
        let mut at = 0;
        while at < text.len() {
            if is_blank(text[at]) {
                at += 1;
                continue;
            }
            let rest = &text[at..];
            let length = rest.iter().position(|byte| is_blank(*byte)).unwrap_or(rest.len());
            let word = &rest[..length];
            at += length;
            match (word.strip_suffix(b":"), name.take()) {
                (Some(next), _) => name = Some(next),
                (None, Some(name)) => self.pair(name, word),
                (None, None) => {}
            }
        }
    }

    fn pair(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"Query_time" => self.latency_us = decimal(value, 6).map(|(us, _)| us),
            b"Rows_sent" => self.rows_sent = only_whole(value),
            b"Rows_examined" => self.rows_examined = only_whole(value),
            b"Rows_affected" => self.rows_affected = only_whole(value),
            b"Id" | b"Thread_id" if self.session.is_empty() => self.session.extend_from_slice(value),
            b"Schema" => self.schema.extend_from_slice(value),
            b"Errno" | b"Last_errno" if value != b"0" && self.error.is_empty() => {
                self.error.extend_from_slice(value);
            }
            b"Start" => self.start_us = moment::iso(value).map(|(moment, _)| moment.at_us),
            _ => {}
        }
    }

    /// Parses `SET timestamp=…;` or `SET insert_id=…,timestamp=…;`. Returns whether the line is one of these.
    pub(super) fn read_set(&mut self, line: &[u8]) -> bool {
        let Some(rest) = line.strip_prefix(b"SET ") else { return false };
        if let Some((us, b";")) = rest.strip_prefix(b"timestamp=").and_then(|value| decimal(value, 6)) {
            self.timestamp_us = Some(us as i64);
            return true;
        }
        let Some(rest) = rest.trim_ascii_end().strip_suffix(b";") else { return false };
        let mut timestamp_us = None;
        for assignment in rest.split(|byte| *byte == b',') {
            match split_once(assignment, b"=") {
                Some((b"timestamp", value)) => {
                    timestamp_us =
                        decimal(value, 6).filter(|(_, rest)| rest.is_empty()).map(|(us, _)| us as i64);
                }
                Some((b"insert_id" | b"last_insert_id", _)) => {}
                _ => return false,
            }
        }
        self.timestamp_us = timestamp_us.or(self.timestamp_us);
        timestamp_us.is_some()
    }
}

/// Whether a byte separates words: a space or a control character.
fn is_blank(byte: u8) -> bool {
    byte <= b' '
}
