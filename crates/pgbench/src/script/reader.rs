//! Reads a script. A statement ends at a semicolon, at a backslash command, or at the end of the script.

use super::sql::{Pieces, Statement};
use super::{Action, Command, branches, pipelines};
use crate::error::{Mistake, Problem};
use crate::expression::Wrong;
use crate::names::{Names, begins_name, is_in_name};
use crate::run::step::Gather;

/// Reads the commands of a script. Statements are numbered from `first_statement`.
pub(crate) fn read(
    file: &str,
    script: &str,
    names: &mut Names,
    first_statement: usize,
) -> Result<Vec<Command>, Mistake> {
    let mut reader = Reader { script, at: 0, names, commands: Vec::new(), next_statement: first_statement };
    let read = reader.read().and_then(|()| {
        let mut commands = std::mem::take(&mut reader.commands);
        if commands.is_empty() {
            return Err(Wrong { at: 0, problem: Problem::Empty });
        }
        branches::join(&mut commands)?;
        pipelines::join(&mut commands, first_statement)?;
        Ok(commands)
    });
    read.map_err(|wrong| mistake(file, script, wrong))
}

/// Converts a mistake's position into its line and column.
fn mistake(file: &str, script: &str, wrong: Wrong) -> Mistake {
    let before = &script[..wrong.at];
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Mistake {
        file: file.to_owned(),
        line: line_of(script, wrong.at),
        column: column as u32,
        problem: wrong.problem,
    }
}

fn line_of(script: &str, at: usize) -> u32 {
    script[..at].matches('\n').count() as u32 + 1
}

/// Reads a script from beginning to end.
pub(super) struct Reader<'a, 'n> {
    pub(super) script: &'a str,
    /// The position that is read next, in bytes.
    pub(super) at: usize,
    pub(super) names: &'n mut Names,
    pub(super) commands: Vec<Command>,
    next_statement: usize,
}

/// What ended a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Semicolon,
    Backslash,
    Script,
}

impl<'a> Reader<'a, '_> {
    fn read(&mut self) -> Result<(), Wrong> {
        loop {
            match self.statement()? {
                End::Semicolon => {}
                End::Backslash => self.command()?,
                End::Script => return Ok(()),
            }
        }
    }

    /// Adds a command that begins at a position.
    pub(super) fn push(&mut self, at: usize, action: Action) {
        let line = line_of(self.script, at);
        self.commands.push(Command { line, at, action });
    }

    /// Reads a statement, if there is one before the next backslash command.
    fn statement(&mut self) -> Result<End, Wrong> {
        let mut text = StatementText::default();
        let end = loop {
            let rest = &self.script[self.at..];
            let Some(first) = rest.chars().next() else { break End::Script };
            match first {
                ';' if text.ends_at_semicolon() => {
                    self.at += 1;
                    break End::Semicolon;
                }
                '\\' if rest.starts_with("\\;") || rest.starts_with("\\:") => {
                    text.begin(self.at);
                    text.pieces.text(&rest[1..2]);
                    text.words = Words::default();
                    self.at += 2;
                }
                '\\' => break End::Backslash,
                _ => self.token(&mut text)?,
            }
        };
        if !text.pieces.is_blank() {
            let at = text.from.unwrap_or(self.at);
            let number = self.next_statement;
            self.next_statement += 1;
            let pieces = text.pieces.end();
            let statement = Statement { pieces, gather: Gather::Nothing, prefix: String::new(), number };
            self.push(at, Action::Sql(statement));
        }
        Ok(end)
    }

    /// Reads a token of SQL.
    fn token(&mut self, text: &mut StatementText<'a>) -> Result<(), Wrong> {
        let (before, rest) = self.script.split_at(self.at);
        let token = Token::at(before, rest).ok_or_else(|| self.unclosed(rest))?;
        let length = token.bytes();
        let words = &rest[..length];
        if !(words.trim().is_empty() || words.starts_with("--")) {
            text.begin(self.at);
        }
        match token {
            Token::Quoted(_) => text.pieces.with_variables(words, true, self.names),
            // A comment before a statement does not belong to the statement.
            Token::LineComment(_) if text.from.is_none() => {}
            Token::LineComment(_) | Token::Comment(_) => text.pieces.comment(words),
            Token::Word(_) => {
                text.words.add(words, text.depth);
                text.pieces.text(words);
            }
            Token::Colons(_) => text.pieces.with_variables(words, false, self.names),
            Token::Other(_) => {
                text.depth += match words {
                    "(" => 1,
                    ")" => -1,
                    _ => 0,
                };
                text.pieces.text(words);
            }
        }
        self.at += length;
        Ok(())
    }

    fn unclosed(&self, rest: &str) -> Wrong {
        let what = match rest.as_bytes().first() {
            Some(b'/') => "a comment",
            Some(b'"') => "a quoted name",
            _ => "a string",
        };
        Wrong { at: self.at, problem: Problem::Unclosed(what) }
    }
}

/// The statement that is being read.
#[derive(Default)]
struct StatementText<'a> {
    pieces: Pieces,
    /// Position of the statement's first word. `None` before that word.
    from: Option<usize>,
    /// Number of open parentheses.
    depth: i32,
    words: Words<'a>,
}

impl StatementText<'_> {
    fn begin(&mut self, at: usize) {
        self.from.get_or_insert(at);
    }

    fn ends_at_semicolon(&self) -> bool {
        self.depth <= 0 && self.words.open_blocks == 0
    }
}

/// The words that tell whether a semicolon is inside the body of a routine (`CREATE FUNCTION … BEGIN ATOMIC …
/// END`), where it does not end the statement.
#[derive(Default)]
struct Words<'a> {
    first: Vec<&'a str>,
    /// How many `BEGIN` and `CASE` have no `END` yet.
    open_blocks: u32,
}

impl<'a> Words<'a> {
    fn add(&mut self, word: &'a str, depth: i32) {
        if self.first.len() < 4 {
            self.first.push(word);
        }
        if depth > 0 || !self.makes_routine() {
            return;
        }
        if word.eq_ignore_ascii_case("begin") || self.open_blocks > 0 && word.eq_ignore_ascii_case("case") {
            self.open_blocks += 1;
        } else if word.eq_ignore_ascii_case("end") {
            self.open_blocks = self.open_blocks.saturating_sub(1);
        }
    }

    fn makes_routine(&self) -> bool {
        let is = |place: usize, words: &[&str]| {
            let word = self.first.get(place);
            word.is_some_and(|word| words.iter().any(|known| known.eq_ignore_ascii_case(word)))
        };
        let routine = ["function", "procedure"];
        is(0, &["create"]) && (is(1, &routine) || is(1, &["or"]) && is(2, &["replace"]) && is(3, &routine))
    }
}

/// A token of SQL, with its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Quoted(usize),
    LineComment(usize),
    Comment(usize),
    Word(usize),
    /// One or more colons, with the name that follows them.
    Colons(usize),
    Other(usize),
}

impl Token {
    /// The token at the beginning of `rest`; `None` if the token is not closed.
    fn at(before: &str, rest: &str) -> Option<Self> {
        let first = rest.chars().next()?;
        Some(match first {
            '\'' => Self::Quoted(quoted_bytes(rest, has_escapes(before))?),
            '"' => Self::Quoted(quoted_bytes(rest, false)?),
            '$' => match dollar_tag(before, rest) {
                Some(tag) => Self::Quoted(rest[tag.len()..].find(tag)? + 2 * tag.len()),
                None => Self::Other(1),
            },
            '-' if rest.starts_with("--") => Self::LineComment(rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => Self::Comment(comment_bytes(rest)?),
            ':' => {
                let colons = rest.len() - rest.trim_start_matches(':').len();
                Self::Colons(colons + crate::names::name_bytes(&rest[colons..]))
            }
            _ if begins_name(first) || first.is_ascii_digit() => {
                Self::Word(rest.find(|letter: char| !is_in_name(letter)).unwrap_or(rest.len()))
            }
            _ => Self::Other(first.len_utf8()),
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::Quoted(length)
            | Self::LineComment(length)
            | Self::Comment(length)
            | Self::Word(length)
            | Self::Colons(length)
            | Self::Other(length) => length,
        }
    }
}

/// Whether a string that follows this text is written `E'…'`, so that backslashes are escapes.
fn has_escapes(before: &str) -> bool {
    before.strip_suffix(['e', 'E']).is_some_and(|word| !word.ends_with(is_in_name))
}

/// The length of a quoted text; `None` if it is not closed. A doubled quote is read as the end of one text and the
/// beginning of another.
fn quoted_bytes(text: &str, escapes: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == bytes[0] => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// The `$tag$` that begins a quoted text; `None` if the dollar sign does not begin a quoted text.
fn dollar_tag<'a>(before: &str, rest: &'a str) -> Option<&'a str> {
    let name = crate::names::name_bytes(&rest[1..]);
    rest.get(..name + 2).filter(|tag| tag.ends_with('$') && !before.ends_with(is_in_name))
}

/// The length of a comment, including nested comments. `None` if the comment is not closed.
fn comment_bytes(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_u32);
    while at < bytes.len() {
        match bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
