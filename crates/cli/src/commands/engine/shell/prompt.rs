//! A terminal that shows a prompt before each line.

use std::cell::Cell;
use std::io::{self, BufRead, Read};

use crate::output;

/// The prompt of each line of a statement except the first.
const WITHIN: &str = "    -> ";

/// Lines of a terminal, each with a prompt.
pub(super) struct Prompting<'a, R> {
    terminal: R,
    /// The server's name, which is the prompt of a statement's first line.
    name: String,
    /// Whether the next line begins a statement. The caller sets this flag before it reads a statement.
    begins: &'a Cell<bool>,
    line: Vec<u8>,
    /// Number of bytes of `line` that were consumed.
    consumed: usize,
}

impl<'a, R> Prompting<'a, R> {
    pub(super) fn new(terminal: R, name: String, begins: &'a Cell<bool>) -> Self {
        Self { terminal, name, begins, line: Vec::new(), consumed: 0 }
    }
}

impl<R: BufRead> BufRead for Prompting<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed == self.line.len() {
            let prompt = if self.begins.get() { format!("{}> ", self.name) } else { WITHIN.to_owned() };
            output::print(&prompt).map_err(io::Error::other)?;
            self.line.clear();
            self.consumed = 0;
            self.terminal.read_until(b'\n', &mut self.line)?;
            // If the line was empty, the next line begins the statement.
            self.begins.set(self.begins.get() && self.line.trim_ascii().is_empty());
        }
        Ok(&self.line[self.consumed..])
    }

    fn consume(&mut self, bytes: usize) {
        self.consumed += bytes;
    }
}

impl<R: BufRead> Read for Prompting<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use dyno_engine::{Family, Statements};

    use super::*;

    #[test]
    fn the_prompt_shows_whether_a_statement_is_open() {
        let begins = Cell::new(true);
        let terminal = Prompting::new("\nSELECT\n1; SELECT 2;\n".as_bytes(), "db".to_owned(), &begins);
        let mut statements = Statements::of(terminal, Family::Postgres);
        assert_eq!(statements.next_statement().unwrap().as_deref(), Some("SELECT\n1"));
        assert!(!begins.replace(true));
        assert_eq!(statements.next_statement().unwrap().as_deref(), Some("SELECT 2"));
        assert!(begins.get(), "no line was read for it");
        assert_eq!(statements.next_statement().unwrap(), None);
    }
}
