//! Bodies of the server's messages ("Message Formats" in the PostgreSQL manual).

use std::borrow::Cow;

use crate::ServerError;
use crate::limits::error_text;

/// Reads a body from its start. Each read returns `None` if the body ends too early.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    /// An unsigned 16-bit number.
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// A signed 32-bit number.
    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Bytes up to a NUL. The NUL is not included.
    pub(super) fn c_string(&mut self) -> Option<&'a [u8]> {
        let bytes = self.bytes(self.0.iter().position(|&byte| byte == 0)?)?;
        self.bytes(1)?;
        Some(bytes)
    }
}

/// Body of an `ErrorResponse` or a `NoticeResponse`: pairs of a field code and a text.
pub(super) struct Report<'a>(pub(super) &'a [u8]);

impl<'a> Report<'a> {
    fn field(&self, wanted: u8) -> Option<Cow<'a, str>> {
        let mut reader = Reader(self.0);
        while let Some([code]) = reader.array() {
            let text = reader.c_string()?;
            if code == wanted {
                return Some(String::from_utf8_lossy(text));
            }
        }
        None
    }

    /// The severity, such as `ERROR` or `WARNING`. Servers before 9.6 may translate the word.
    pub(super) fn severity(&self) -> Cow<'a, str> {
        self.field(b'V').or_else(|| self.field(b'S')).unwrap_or_default()
    }

    /// Whether the server ends the session after this message.
    pub(super) fn is_fatal(&self) -> bool {
        matches!(&*self.severity(), "FATAL" | "PANIC")
    }

    /// Converts the report to the type of error that the MySQL and PostgreSQL protocols share.
    pub(super) fn server_error(&self) -> ServerError {
        let text = |code| error_text(self.field(code).unwrap_or_default().as_bytes());
        ServerError { code: 0, state: text(b'C'), message: text(b'M') }
    }
}

/// Number of columns of a `RowDescription`.
pub(super) fn field_count(description: &[u8]) -> Option<u32> {
    Reader(description).u16().map(u32::from)
}

/// Names of the columns that a `RowDescription` contains.
pub(super) fn field_names(description: &[u8]) -> Vec<String> {
    /// Length of the fields that follow each name: table, column and type numbers, sizes, and format.
    const ATTRIBUTES_BYTES: usize = 18;
    let mut reader = Reader(description);
    let mut names = Vec::new();
    for _ in 0..reader.u16().unwrap_or(0) {
        let Some(name) = reader.c_string() else { break };
        names.push(String::from_utf8_lossy(name).into_owned());
        reader.bytes(ATTRIBUTES_BYTES);
    }
    names
}

/// Reads a `DataRow`; `None` if it is malformed.
pub(super) fn read_row(body: &[u8], fields: &mut Vec<Option<Vec<u8>>>) -> Option<()> {
    let mut reader = Reader(body);
    for _ in 0..reader.u16()? {
        // A negative length means NULL.
        let field = match usize::try_from(reader.i32()?) {
            Ok(length) => Some(reader.bytes(length)?.to_vec()),
            Err(_) => None,
        };
        fields.push(field);
    }
    Some(())
}

/// Rows that a statement changed, according to the tag of its `CommandComplete`, such as `INSERT 0 5` or `UPDATE 3`.
/// The number in `SELECT 5` counts either rows that were sent, or rows that were written (`CREATE TABLE … AS`). Rows
/// that were sent are therefore subtracted.
pub(super) fn affected_rows(tag: &[u8], rows_sent: u64) -> u64 {
    let tag = tag.strip_suffix(b"\0").unwrap_or(tag);
    let mut words = tag.split(|&byte| byte == b' ');
    let (verb, last) = (words.next(), words.next_back());
    let count = || str::from_utf8(last?).ok()?.parse::<u64>().ok();
    match verb {
        Some(b"INSERT" | b"UPDATE" | b"DELETE" | b"MERGE") => count().unwrap_or(0),
        Some(b"SELECT") => count().unwrap_or(0).saturating_sub(rows_sent),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_tags_tell_what_was_changed() {
        for (tag, expected) in [
            ("INSERT 0 5", 5),
            ("UPDATE 3", 3),
            ("DELETE 0", 0),
            ("MERGE 7", 7),
            ("COPY 9", 0),
            ("SELECT 4", 0),
            ("FETCH 4", 0),
            ("BEGIN", 0),
            ("CREATE TABLE", 0),
            ("INSERT 0 99999999999999999999999", 0),
            ("", 0),
        ] {
            assert_eq!(affected_rows(format!("{tag}\0").as_bytes(), 4), expected, "{tag}");
        }
        assert_eq!(affected_rows(b"SELECT 4\0", 0), 4, "CREATE TABLE AS writes rows");
    }

    #[test]
    fn reports_prefer_the_severity_that_is_not_translated() {
        let report = Report(b"SFEHLER\0VERROR\0C42P01\0Mrelation \"x\" does not exist\0\0");
        assert_eq!(report.severity(), "ERROR");
        assert!(!report.is_fatal());
        let expected =
            ServerError { code: 0, state: "42P01".into(), message: "relation \"x\" does not exist".into() };
        assert_eq!(report.server_error(), expected);
        assert!(Report(b"SFATAL\0\0").is_fatal());
        assert_eq!(Report(b"Cno end").server_error(), ServerError::default());
    }

    #[test]
    fn rows_hold_text_and_null() {
        let mut fields = Vec::new();
        assert!(read_row(b"\0\x03\0\0\0\x01a\xff\xff\xff\xff\0\0\0\0", &mut fields).is_some());
        assert_eq!(fields, [Some(b"a".to_vec()), None, Some(vec![])]);
        assert!(read_row(b"\0\x01\0\0\0\x09a", &mut fields).is_none());
    }

    #[test]
    fn names_come_from_the_description() {
        let description = [b"\0\x02id\0".as_slice(), &[0; 18], b"c\0", &[0; 18]].concat();
        assert_eq!(field_count(&description), Some(2));
        assert_eq!(field_names(&description), ["id", "c"]);
        assert_eq!(field_names(b"\xff\xffid"), Vec::<String>::new());
    }
}
