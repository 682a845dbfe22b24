//! A row as the values of an INSERT, or as a line.

use std::fmt::Display;
use std::io::Write as _;

/// The form of a row. The grammar and the alphabet of TPC-H's texts contain no quote, bar, backslash or line
/// feed, so texts need no escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `(1,'text')`
    Sql,
    /// `1|text` and a line feed.
    Line,
}

/// A row under construction.
pub(super) struct Values<'a> {
    out: &'a mut Vec<u8>,
    form: Form,
}

impl<'a> Values<'a> {
    pub(super) fn begin(out: &'a mut Vec<u8>, form: Form) -> Self {
        if form == Form::Sql {
            out.push(b'(');
        }
        Self { out, form }
    }

    pub(super) fn number(&mut self, value: impl Display) -> &mut Self {
        // Writing to a Vec cannot fail.
        let _ = match self.form {
            Form::Sql => write!(self.out, "{value},"),
            Form::Line => write!(self.out, "{value}|"),
        };
        self
    }

    /// A text or a date.
    pub(super) fn text(&mut self, value: impl Display) -> &mut Self {
        let _ = match self.form {
            Form::Sql => write!(self.out, "'{value}',"),
            Form::Line => write!(self.out, "{value}|"),
        };
        self
    }

    pub(super) fn end(&mut self) {
        if let Some(separator) = self.out.last_mut() {
            *separator = if self.form == Form::Sql { b')' } else { b'\n' };
        }
    }
}
