//! Parts of the server's answers ("Message Formats" in PostgreSQL's manual).

use crate::capture::bytes::Bytes;

/// What an answer has shown so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Number of `DataRow` messages.
    pub(super) rows: u64,
    /// Rows that the server sent by `COPY`.
    pub(super) copied_out: Option<u64>,
    pub(super) affected: Option<u64>,
    /// Whether the server is sending the rows of a `COPY`.
    pub(super) is_copy_out: bool,
    /// The SQLSTATE of the error, if the request failed.
    pub(super) error: Option<Vec<u8>>,
}

impl Outcome {
    pub(super) fn rows_sent(&self) -> u64 {
        self.rows.saturating_add(self.copied_out.unwrap_or(0))
    }

    /// Reads the body of `CommandComplete`, such as `INSERT 0 5`.
    pub(super) fn complete(&mut self, tag: &[u8]) {
        let tag = tag.strip_suffix(b"\0").unwrap_or(tag);
        let mut words = tag.split(|byte| *byte == b' ');
        let verb = words.next().unwrap_or_default();
        let last = words.next_back().and_then(|word| str::from_utf8(word).ok()?.parse::<u64>().ok());
        let Some(rows) = last else { return };
        let sum = |counted: &mut Option<u64>| *counted = Some(counted.unwrap_or(0).saturating_add(rows));
        match verb {
            b"COPY" if self.is_copy_out => sum(&mut self.copied_out),
            b"INSERT" | b"UPDATE" | b"DELETE" | b"MERGE" | b"COPY" => sum(&mut self.affected),
            // The tag counts rows, but none were sent: the statement was `CREATE TABLE … AS`, which writes its rows.
            b"SELECT" if self.rows == 0 && rows > 0 => sum(&mut self.affected),
            _ => {}
        }
        self.is_copy_out = false;
    }
}

/// The SQLSTATE of an `ErrorResponse`.
pub(super) fn state(body: &[u8]) -> Vec<u8> {
    let mut bytes = Bytes(body);
    while let Some(code) = bytes.u8() {
        let Some(text) = bytes.until_nul() else { break };
        if code == b'C' {
            return text.to_vec();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_what_was_changed() {
        let complete = |tag: &[u8], before: Outcome| {
            let mut outcome = before;
            outcome.complete(tag);
            (outcome.rows_sent(), outcome.affected)
        };
        let rows = Outcome { rows: 4, ..Outcome::default() };
        assert_eq!(complete(b"INSERT 0 5\0", Outcome::default()), (0, Some(5)));
        assert_eq!(complete(b"SELECT 4\0", rows), (4, None));
        assert_eq!(complete(b"SELECT 4\0", Outcome::default()), (0, Some(4)));
        assert_eq!(complete(b"COPY 9\0", Outcome::default()), (0, Some(9)));
        let copied = Outcome { is_copy_out: true, ..Outcome::default() };
        assert_eq!(complete(b"COPY 9\0", copied), (9, None));
        assert_eq!(complete(b"CREATE TABLE\0", Outcome::default()), (0, None));
        assert_eq!(complete(b"", Outcome::default()), (0, None));
    }

    #[test]
    fn an_error_has_a_state() {
        assert_eq!(state(b"SERROR\0VERROR\0C42P01\0Mno\0\0"), b"42P01");
        assert_eq!(state(b"Cno end"), b"");
    }
}
