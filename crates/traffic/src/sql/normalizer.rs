//! Splits a statement into its shape and its values, in one pass.
//!
//! The **shape** is the statement with `?` for each literal, without comments, and with single spaces for white
//! space. A question mark of the statement itself is doubled, so that [`rebuilt`] can put the values back.

mod comment;
mod rebuild;
mod templates;
mod values;

pub(crate) use self::rebuild::{append_literal, bytes};
pub use self::rebuild::{rebuilt, rebuilt_to_prepare};
use self::templates::Holes;
pub(crate) use self::templates::literal_begin;
use super::Dialect;
use super::class::{is_letter, is_of_word, is_space, run};
use super::literals::Literals;
use super::secrets::{Secrets, bit};
use super::strings::{Escapes, quoted};

/// Splits statements. Its buffers are reused from one statement to the next.
#[derive(Debug)]
pub struct Normalizer {
    dialect: Dialect,
    shape: Vec<u8>,
    literals: Literals,
    bound: Literals,
    decoded: Vec<u8>,
    secrets: Secrets,
    holes: Holes,
    /// Whether white space or a comment is between this token and the previous one.
    is_apart: bool,
    /// Whether a sign may follow the previous token, because that token is an operator, a comma or an opening
    /// bracket.
    is_before_sign: bool,
    /// Number of placeholders so far whose values are sent separately.
    placeholders: u32,
    /// Whether the current position is inside `/*! … */`.
    is_executed: bool,
    is_whole: bool,
}

/// A statement that was split.
#[derive(Debug)]
pub struct Normalized<'a> {
    pub shape: &'a [u8],
    /// The literals as a JSON array; `None` if there are no literals.
    pub literals: Option<&'a str>,
    /// The values that were sent separately from the text, in the same form as the literals.
    pub bound: Option<&'a str>,
    /// Whether every string, name and comment is closed.
    pub is_whole: bool,
}

impl Normalizer {
    /// Creates a normalizer. With `redact`, it replaces values by their lengths.
    pub fn new(dialect: Dialect, redact: bool) -> Self {
        Self {
            dialect,
            shape: Vec::new(),
            literals: Literals::new(redact),
            bound: Literals::new(redact),
            decoded: Vec::new(),
            secrets: Secrets::default(),
            holes: Holes::default(),
            is_apart: false,
            is_before_sign: true,
            placeholders: 0,
            is_executed: false,
            is_whole: true,
        }
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Splits a statement. `bound` has the values that were sent separately, in order. `None` stands for NULL.
    pub fn part(&mut self, text: &[u8], bound: &[Option<Vec<u8>>]) -> Normalized<'_> {
        self.shape.clear();
        self.literals.clear();
        self.secrets.clear();
        self.holes.clear();
        (self.is_apart, self.is_before_sign, self.placeholders) = (false, true, 0);
        (self.is_executed, self.is_whole) = (false, true);
        let text = text.trim_ascii();
        let mut at = 0;
        while at < text.len() {
            at = self.token(text, at);
        }
        self.bind(bound);
        Normalized {
            shape: &self.shape,
            literals: self.literals.finish(),
            bound: self.bound.finish(),
            is_whole: self.is_whole,
        }
    }

    /// Reads the values that were sent separately from the text.
    fn bind(&mut self, bound: &[Option<Vec<u8>>]) {
        self.bound.clear();
        for (number, value) in (1..).zip(bound) {
            match value {
                _ if self.secrets.bound & bit(number) != 0 => self.bound.secret(),
                Some(value) if self.secrets.clone().takes_string(value) => self.bound.secret(),
                Some(value) => self.bound.string(value),
                None => self.bound.null(),
            }
        }
    }

    /// Reads the token at `at`. Returns the position of the next token.
    fn token(&mut self, text: &[u8], at: usize) -> usize {
        let next = text.get(at + 1).copied();
        let is_mysql = self.dialect == Dialect::Mysql;
        match text[at] {
            byte if is_space(byte) => {
                self.is_apart = true;
                run(text, at, is_space)
            }
            byte if is_letter(byte) => self.word(text, at, run(text, at, is_of_word)),
            b'\'' => self.string(text, at + 1, b'\'', self.plain_escapes()),
            b'"' if is_mysql || self.secrets.takes_name() => {
                self.string(text, at + 1, b'"', self.plain_escapes())
            }
            quote @ (b'"' | b'`') => self.name(text, at, quote),
            b'0'..=b'9' => self.number(text, at, at),
            b'.' if next.is_some_and(|next| next.is_ascii_digit()) && self.is_before_sign => {
                self.number(text, at, at)
            }
            b'-' | b'+' if self.is_before_sign && next.is_some_and(|next| next.is_ascii_digit()) => {
                self.number(text, at, at + 1)
            }
            b'$' => self.dollar(text, at),
            b'-' | b'#' | b'/' | b'*' => match self.comment(text, at) {
                Some(end) => end,
                None => self.symbol(text, at),
            },
            _ => self.symbol(text, at),
        }
    }

    fn plain_escapes(&self) -> Escapes {
        match self.dialect {
            Dialect::Mysql => Escapes::Mysql,
            Dialect::Postgresql => Escapes::Doubled,
        }
    }

    /// Writes a token unchanged.
    fn keep(&mut self, token: &[u8]) {
        // Tokens that white space separates stay separate. A space also separates two question marks that belong to
        // two tokens.
        let is_after_mark = self.shape.last() == Some(&b'?') && token.first() == Some(&b'?');
        if (self.is_apart || is_after_mark) && !self.shape.is_empty() {
            self.shape.push(b' ');
        }
        self.is_apart = false;
        if token.contains(&b'?') {
            let doubled =
                token.iter().flat_map(|byte| [*byte; 2].into_iter().take(1 + usize::from(*byte == b'?')));
            self.shape.extend(doubled);
        } else {
            self.shape.extend_from_slice(token);
        }
    }

    /// Writes a placeholder for a literal.
    fn place(&mut self) {
        if (self.is_apart || self.shape.last() == Some(&b'?')) && !self.shape.is_empty() {
            self.shape.push(b' ');
        }
        self.is_apart = false;
        self.is_before_sign = false;
        self.shape.push(b'?');
    }

    fn symbol(&mut self, text: &[u8], at: usize) -> usize {
        let symbol = text[at];
        if symbol == b'?' {
            self.placeholders = self.placeholders.saturating_add(1);
            self.secrets.placeholder(self.placeholders);
        } else {
            self.secrets.symbol(symbol);
        }
        // In MySQL, two minus signs may have a comment after them. When the comment is removed, the signs themselves
        // could begin a comment: `1 ---- one\n 2` must not become `1 -- 2`. A space therefore separates the signs.
        self.is_apart |= symbol == b'-' && self.shape.last() == Some(&b'-');
        self.keep(&text[at..=at]);
        self.is_before_sign = !matches!(symbol, b')' | b']' | b'?' | b'@' | b'.');
        at + 1
    }

    fn word(&mut self, text: &[u8], at: usize, end: usize) -> usize {
        let word = &text[at..end];
        let quote = text.get(end).copied();
        if quote == Some(b'\'') && end - at == 1 {
            match (word[0].to_ascii_lowercase(), self.dialect) {
                (b'x', _) => return self.digits(text, end + 1, "hex"),
                (b'b', _) => return self.digits(text, end + 1, "bits"),
                (b'e', Dialect::Postgresql) => {
                    return self.string(text, end + 1, b'\'', Escapes::Postgresql);
                }
                _ => {}
            }
        }
        if self.secrets.word(word) {
            self.place();
            self.holes.odd();
            self.literals.secret();
            return end;
        }
        self.keep(word);
        self.is_before_sign = false;
        end
    }

    /// Reads a quoted name.
    fn name(&mut self, text: &[u8], at: usize, quote: u8) -> usize {
        let name = quoted(text, at + 1, quote, Escapes::Doubled);
        self.is_whole &= name.is_closed;
        self.secrets.symbol(quote);
        self.keep(&text[at..name.next]);
        self.is_before_sign = false;
        name.next
    }
}
