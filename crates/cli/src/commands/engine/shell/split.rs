//! Splits text into SQL statements.

/// Takes text in pieces, and returns statements. A `;` in quotes or in a comment does not end a statement.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    text: String,
}

impl Splitter {
    /// Adds text.
    pub(super) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Whether no text waits for its `;`.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The next complete statement, without its `;`. Empty statements are skipped.
    pub(super) fn next_statement(&mut self) -> Option<String> {
        while let Some(end) = end_of_statement(&self.text) {
            let rest = self.text.split_off(end + 1);
            let statement = std::mem::replace(&mut self.text, rest);
            let statement = statement[..end].trim();
            if !statement.is_empty() {
                return Some(statement.to_owned());
            }
        }
        None
    }

    /// The last statement, if it lacks its `;`.
    pub(super) fn finish(self) -> Option<String> {
        let last = self.text.trim();
        (!last.is_empty()).then(|| last.to_owned())
    }
}

/// The place of the first `;` that ends a statement.
fn end_of_statement(text: &str) -> Option<usize> {
    let mut rest = text;
    loop {
        let at = rest.find([';', '\'', '"', '`', '-', '#', '/'])?;
        let place = text.len() - rest.len() + at;
        let found = &rest[at..];
        let skipped = match found.as_bytes()[0] {
            b';' => return Some(place),
            quote @ (b'\'' | b'"' | b'`') => quoted_bytes(found, quote)?,
            b'#' => found.find('\n')?,
            b'-' if found.starts_with("-- ") => found.find('\n')?,
            b'/' if found.starts_with("/*") => found.find("*/")? + 2,
            _ => 1,
        };
        rest = &found[skipped..];
    }
}

/// Length of a quoted text with its quotes. `None` if it does not end. A backslash escapes the next character. A
/// doubled quote counts as the end of one text and the start of another, which gives the same result.
fn quoted_bytes(text: &str, quote: u8) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        if byte == b'\\' && quote != b'`' {
            bytes.next();
        } else if byte == quote {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut splitter = Splitter::default();
        splitter.add(text);
        let mut statements: Vec<_> = std::iter::from_fn(|| splitter.next_statement()).collect();
        statements.extend(splitter.finish());
        statements
    }

    #[test]
    fn statements_end_with_a_semicolon_and_the_last_with_the_text() {
        assert_eq!(split("SELECT 1; ;\nSELECT\n2;SELECT 3 "), ["SELECT 1", "SELECT\n2", "SELECT 3"]);
        assert!(split(" ;; \n").is_empty());
    }

    #[test]
    fn a_semicolon_in_quotes_ends_nothing() {
        for statement in ["SELECT 'a;b'", "SELECT 'it''s;'", r"SELECT 'it\';s'", "SELECT \";\"", "SELECT `;`"]
        {
            assert_eq!(split(&format!("{statement}; SELECT 2;")), [statement, "SELECT 2"]);
        }
    }

    #[test]
    fn a_semicolon_in_a_comment_ends_nothing() {
        for statement in ["SELECT 1 -- a;b\n+1", "SELECT 1 # a;b\n+1", "SELECT 1 /* ; */ +1", "SELECT 3-1/1"]
        {
            assert_eq!(split(&format!("{statement}; SELECT 2")), [statement, "SELECT 2"]);
        }
    }

    #[test]
    fn a_statement_may_come_in_pieces() {
        let mut splitter = Splitter::default();
        splitter.add("SELECT 'a;");
        assert_eq!(splitter.next_statement(), None);
        assert!(!splitter.is_empty());
        splitter.add("b';\n");
        assert_eq!(splitter.next_statement().as_deref(), Some("SELECT 'a;b'"));
        assert!(splitter.is_empty());
    }
}
