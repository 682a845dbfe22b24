//! An SQL statement, and where its variables stand.

use crate::names::Names;
use crate::run::step::Gather;

#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) pieces: Vec<Piece>,
    /// Which rows of the result are stored in variables. The names of these variables begin with `prefix`.
    pub(crate) gather: Gather,
    pub(crate) prefix: String,
    /// The statement's number among all statements of the program.
    pub(crate) number: usize,
}

/// A part of a statement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text outside quotes and comments.
    Text(String),
    /// A quoted text or a comment. Variables in it are pieces of their own, which divide the text.
    Quoted(String),
    /// The variable with this number. A variable in quotes is never a parameter. It is replaced by its value if the
    /// statement is sent as text, and stays `:name` if the statement is prepared.
    Variable { slot: usize, quoted: bool },
}

impl Statement {
    /// Returns the statement's text for a server that prepares it. Each variable outside quotes becomes `?`. If
    /// `doubles` is true, a question mark that belongs to an operator is doubled.
    pub(crate) fn prepared(&self, names: &Names, doubles: bool) -> String {
        let mut sql = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) if doubles => sql.push_str(&text.replace('?', "??")),
                Piece::Text(text) | Piece::Quoted(text) => sql.push_str(text),
                Piece::Variable { slot, quoted: true } => {
                    sql.push(':');
                    sql.push_str(&names.all()[*slot]);
                }
                Piece::Variable { quoted: false, .. } => sql.push('?'),
            }
        }
        sql
    }

    /// The variables that are the statement's parameters, in order.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = usize> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { slot, quoted: false } => Some(*slot),
            _ => None,
        })
    }
}

/// Collects the pieces of a statement.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<Piece>);

impl Pieces {
    /// Adds text outside quotes.
    pub(super) fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            // Blanks before the statement are left out.
            None if text.trim_start().is_empty() => {}
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds text in which colons mark variables.
    pub(super) fn with_variables(&mut self, mut text: &str, quoted: bool, names: &mut Names) {
        while let Some(colon) = text.find(':') {
            let (before, rest) = text.split_at(colon);
            let colons = rest.len() - rest.trim_start_matches(':').len();
            let name = crate::names::name_bytes(&rest[1..]);
            if colons > 1 || name == 0 {
                self.plain(&text[..colon + colons], quoted);
                text = &rest[colons..];
                continue;
            }
            self.plain(before, quoted);
            self.0.push(Piece::Variable { slot: names.slot(&rest[1..=name]), quoted });
            text = &rest[1 + name..];
        }
        self.plain(text, quoted);
    }

    /// Adds a comment.
    pub(super) fn comment(&mut self, text: &str) {
        self.plain(text, true);
    }

    fn plain(&mut self, text: &str, quoted: bool) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Quoted(last)) if quoted => last.push_str(text),
            _ if quoted => self.0.push(Piece::Quoted(text.to_owned())),
            _ => self.text(text),
        }
    }

    /// Whether there are only blanks and comments so far.
    pub(super) fn is_blank(&self) -> bool {
        self.0.iter().all(|piece| match piece {
            Piece::Text(text) => text.trim().is_empty(),
            Piece::Quoted(text) => text.starts_with("--") || text.starts_with("/*"),
            Piece::Variable { .. } => false,
        })
    }

    /// The pieces, without blanks at the end.
    pub(super) fn end(mut self) -> Vec<Piece> {
        if let Some(Piece::Text(last)) = self.0.last_mut() {
            last.truncate(last.trim_end().len());
            if last.is_empty() {
                self.0.pop();
            }
        }
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, quoted: bool) -> (Vec<Piece>, Names) {
        let (mut pieces, mut names) = (Pieces::default(), Names::default());
        pieces.with_variables(text, quoted, &mut names);
        (pieces.end(), names)
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn one_colon_and_a_name_are_a_variable() {
        let variable = |slot| Piece::Variable { slot, quoted: false };
        let (found, names) = pieces("SELECT :a::int+:b + a[1:2] + x:=:a", false);
        let expected =
            [text("SELECT "), variable(0), text("::int+"), variable(1), text(" + a[1:2] + x:="), variable(0)];
        assert_eq!(found, expected);
        assert_eq!(names.all(), ["a", "b"]);
        assert_eq!(pieces("'12:30:45' :::c", true).0, [Piece::Quoted("'12:30:45' :::c".to_owned())]);
    }

    #[test]
    fn parameters_stand_outside_of_quotes() {
        let (mut pieces, mut names) = (Pieces::default(), Names::default());
        pieces.with_variables("SELECT doc ? :key, ", false, &mut names);
        pieces.with_variables("'a ? :b'", true, &mut names);
        let statement =
            Statement { pieces: pieces.end(), gather: Gather::Nothing, prefix: String::new(), number: 0 };
        assert_eq!(statement.prepared(&names, true), "SELECT doc ?? ?, 'a ? :b'");
        assert_eq!(statement.prepared(&names, false), "SELECT doc ? ?, 'a ? :b'");
        assert_eq!(statement.parameters().collect::<Vec<_>>(), [0]);
    }
}
