//! Splits a statement that differs from an earlier one only in its literals.
//!
//! Most statements of a log differ from an earlier one only in this way. The parts between the literals are
//! compared, which is several times faster than reading their tokens. The result is the same, because tokens depend
//! only on the bytes before them and on the class of the next byte, and each literal must have the same class as in
//! the earlier statement.

use super::Dialect;
use super::literals::Literals;
use super::number::{Numeric, numeric};
use super::passwords::gives_password;
use super::strings::{Escapes, decode, quoted};

/// Length of the longest statement that becomes a template, in bytes.
const TEXT_BYTES_MAX: usize = 2048;

/// The class of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    /// A number that begins with a digit.
    Number,
    /// A number that begins with a sign.
    Signed,
    String {
        quote: u8,
        escapes: Escapes,
    },
}

/// A literal of a statement: where it begins and ends, and its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    pub(super) from: usize,
    pub(super) until: usize,
    pub(super) literal: Literal,
}

/// A statement without its literals.
#[derive(Debug)]
pub struct Template {
    dialect: Dialect,
    /// The parts between the literals, joined.
    text: Vec<u8>,
    /// For each literal, its position in `text`, which is the end of the part before it, and the literal's class.
    ends: Vec<(usize, Literal)>,
    shape: Vec<u8>,
}

impl Template {
    /// Makes the template of a statement with these literals. `None` if the statement is too long.
    pub(super) fn new(statement: &[u8], holes: &[Hole], shape: &[u8], dialect: Dialect) -> Option<Self> {
        if statement.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (mut text, mut ends, mut from) = (Vec::new(), Vec::with_capacity(holes.len()), 0);
        for hole in holes {
            text.extend_from_slice(&statement[from..hole.from]);
            ends.push((text.len(), hole.literal));
            from = hole.until;
        }
        text.extend_from_slice(&statement[from..]);
        Some(Self { dialect, text, ends, shape: shape.to_owned() })
    }

    pub(super) fn shape(&self) -> &[u8] {
        &self.shape
    }

    /// Reads the literals of a statement. Returns whether the statement has this template and no secrets.
    pub(super) fn read(&self, statement: &[u8], literals: &mut Literals, decoded: &mut Vec<u8>) -> bool {
        let (mut part, mut at) = (0, 0);
        for (end, literal) in &self.ends {
            let between = &self.text[part..*end];
            if !statement[at..].starts_with(between) {
                return false;
            }
            part = *end;
            match self.literal(statement, at + between.len(), *literal, literals, decoded) {
                Some(next) => at = next,
                None => return false,
            }
        }
        statement[at..] == self.text[part..]
    }

    /// Reads a literal at `at`, and returns its end. `None` if the literal has another class.
    fn literal(
        &self,
        statement: &[u8],
        at: usize,
        literal: Literal,
        literals: &mut Literals,
        decoded: &mut Vec<u8>,
    ) -> Option<usize> {
        match literal {
            Literal::Number => self.number(statement, at, at, literals),
            Literal::Signed => {
                statement.get(at).filter(|byte| matches!(byte, b'-' | b'+'))?;
                self.number(statement, at, at + 1, literals)
            }
            Literal::String { quote, escapes } => {
                statement.get(at).filter(|byte| **byte == quote)?;
                let string = quoted(statement, at + 1, quote, escapes);
                let written = &statement[at + 1..string.end];
                if !string.is_closed || gives_password(written) {
                    return None;
                }
                if string.is_escaped {
                    decode(written, quote, escapes, decoded);
                    literals.string(decoded);
                } else {
                    literals.string(written);
                }
                Some(string.next)
            }
        }
    }

    /// Reads a number whose digits begin at `from`, and returns its end.
    fn number(&self, statement: &[u8], at: usize, from: usize, literals: &mut Literals) -> Option<usize> {
        statement.get(from).filter(|byte| byte.is_ascii_digit())?;
        let Numeric::Number(end) = numeric(statement, from, self.dialect) else { return None };
        literals.number(&statement[at..end]);
        Some(end)
    }
}
