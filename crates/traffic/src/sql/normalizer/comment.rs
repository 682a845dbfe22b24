//! Comments, and text that only looks like comments: optimiser hints, and MySQL's executable comments.

use memchr::memmem::find;
use memchr::{memchr, memchr2};

use super::Normalizer;
use crate::sql::Dialect;
use crate::sql::class::{is_space, run};

impl Normalizer {
    /// Skips a comment at `at`. Returns the position of the next token, or `None` if there is no comment.
    pub(super) fn comment(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let is_mysql = self.dialect == Dialect::Mysql;
        let rest = &text[at..];
        let to_line_end =
            |from: usize| memchr(b'\n', &text[from..]).map_or(text.len(), |length| from + length);
        let end = match rest {
            // In MySQL, `--` begins a comment only if white space follows.
            [b'-', b'-', behind, ..] if is_mysql && !is_space(*behind) => return None,
            [b'-', b'-', ..] => to_line_end(at),
            [b'#', ..] if is_mysql => to_line_end(at),
            [b'/', b'*', b'+', ..] => return Some(self.hint(text, at)),
            [b'/', b'*', b'M', b'!', ..] if is_mysql => return Some(self.executed(text, at, at + 4)),
            [b'/', b'*', b'!', ..] if is_mysql => return Some(self.executed(text, at, at + 3)),
            [b'*', b'/', ..] if self.is_executed => {
                self.is_executed = false;
                self.is_apart = true;
                self.keep(b"*/");
                self.is_apart = true;
                return Some(at + 2);
            }
            [b'/', b'*', ..] if is_mysql => {
                self.closed(find(&rest[2..], b"*/").map(|length| at + length + 4), text)
            }
            [b'/', b'*', ..] => self.closed(nested(text, at + 2), text),
            _ => return None,
        };
        self.is_apart = true;
        Some(end)
    }

    /// Returns the end of a comment, and records whether the comment is closed.
    fn closed(&mut self, end: Option<usize>, text: &[u8]) -> usize {
        self.is_whole &= end.is_some();
        end.unwrap_or(text.len())
    }

    /// Keeps an optimiser hint, `/*+ … */`, because it changes the plan.
    fn hint(&mut self, text: &[u8], at: usize) -> usize {
        let end = self.closed(find(&text[at + 3..], b"*/").map(|length| at + length + 5), text);
        self.keep(&text[at..end]);
        end
    }

    /// Reads an executable comment, `/*!50100 … */`. Its mark is kept, and its text is read like any other text.
    fn executed(&mut self, text: &[u8], at: usize, mark: usize) -> usize {
        let end = run(text, mark, |byte| byte.is_ascii_digit());
        self.keep(&text[at..end]);
        self.is_executed = true;
        self.is_apart = true;
        self.is_before_sign = true;
        end
    }
}

/// The end of a comment that may contain other comments. The search starts at `at`, which is after the comment's
/// start.
fn nested(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 1_usize;
    while depth > 0 {
        at += memchr2(b'*', b'/', text.get(at..)?)?;
        match (text[at], text.get(at + 1)) {
            (b'*', Some(b'/')) => (depth, at) = (depth - 1, at + 2),
            (b'/', Some(b'*')) => (depth, at) = (depth + 1, at + 2),
            _ => at += 1,
        }
    }
    Some(at)
}
