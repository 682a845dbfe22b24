//! Literals and parameters: strings, numbers, and tokens that begin with a dollar sign.

use super::Normalizer;
use crate::sql::Dialect;
use crate::sql::class::{is_of_word, run};
use crate::sql::number::{Numeric, numeric};
use crate::sql::strings::{Escapes, decode, quoted};
use crate::sql::template::Literal;

impl Normalizer {
    /// Reads a string. `from` is the position after its opening quote.
    pub(super) fn string(&mut self, text: &[u8], from: usize, quote: u8, escapes: Escapes) -> usize {
        let string = quoted(text, from, quote, escapes);
        let written = &text[from..string.end];
        self.is_whole &= string.is_closed;
        // `x"1f"` is a name followed by a string, but `x'1f'` is a number. So a space must separate the string from
        // a word before it.
        self.is_apart |= quote == b'"' && self.shape.last().is_some_and(|last| is_of_word(*last));
        self.place();
        self.holes.add(from - 1, string.next, Literal::String { quote, escapes });
        if self.secrets.takes_string(written) {
            self.holes.odd();
            self.literals.secret();
        } else if string.is_escaped {
            decode(written, quote, escapes, &mut self.decoded);
            self.literals.string(&self.decoded);
        } else {
            self.literals.string(written);
        }
        string.next
    }

    /// Reads `X'…'` or `B'…'`. `from` is the position after the opening quote.
    pub(super) fn digits(&mut self, text: &[u8], from: usize, tag: &'static str) -> usize {
        let string = quoted(text, from, b'\'', Escapes::Doubled);
        let written = &text[from..string.end];
        self.is_whole &= string.is_closed;
        self.place();
        self.holes.odd();
        if self.secrets.takes_string(written) {
            self.literals.secret();
        } else {
            self.literals.digits(tag, written);
        }
        string.next
    }

    /// Reads a number. Its digits begin at `from`. If `at` is before that, the number has a sign.
    pub(super) fn number(&mut self, text: &[u8], at: usize, from: usize) -> usize {
        let numeric = numeric(text, from, self.dialect);
        let is_plain = matches!(numeric, Numeric::Number(_)) && text[from].is_ascii_digit();
        let (end, tag) = match numeric {
            Numeric::Word(end) => {
                if from > at {
                    self.symbol(text, at);
                }
                return self.word(text, from, end);
            }
            Numeric::Number(end) => (end, None),
            Numeric::Hex(end) => (end, Some("hex")),
            Numeric::Bits(end) => (end, Some("bits")),
        };
        // In PostgreSQL, `0x1F` is an ordinary number.
        let tag = tag.filter(|_| self.dialect == Dialect::Mysql);
        if tag.is_some() && from > at {
            self.symbol(text, at);
        }
        self.place();
        if is_plain {
            self.holes.add(at, end, if from > at { Literal::Signed } else { Literal::Number });
        } else {
            self.holes.odd();
        }
        let is_secret = tag.is_some() && self.secrets.takes_string(&text[from..end]);
        match tag {
            _ if is_secret => self.literals.secret(),
            Some(tag) => self.literals.digits(tag, &text[from + 2..end]),
            None => self.literals.number(&text[at..end]),
        }
        self.secrets.symbol(b'0');
        end
    }

    /// Reads PostgreSQL's `$1` or `$tag$…$tag$`. In MySQL `$` is a letter.
    pub(super) fn dollar(&mut self, text: &[u8], at: usize) -> usize {
        let is_tag = |byte: u8| is_of_word(byte) && byte != b'$';
        let end = run(text, at + 1, is_tag);
        if self.dialect == Dialect::Mysql {
            return self.word(text, at, run(text, at + 1, is_of_word));
        }
        if text.get(at + 1).is_some_and(u8::is_ascii_digit) {
            let number = text[at + 1..end].iter().map_while(|byte| char::from(*byte).to_digit(10));
            let number = number.fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add(digit));
            self.secrets.placeholder(number);
            self.keep(&text[at..end]);
            self.is_before_sign = false;
            return end;
        }
        if text.get(end) != Some(&b'$') {
            return self.symbol(text, at);
        }
        let tag = &text[at..=end];
        let from = end + 1;
        let closing = memchr::memmem::find(&text[from..], tag).map(|length| from + length);
        self.is_whole &= closing.is_some();
        self.holes.odd();
        let until = closing.unwrap_or(text.len());
        self.place();
        if self.secrets.takes_string(&text[from..until]) {
            self.literals.secret();
        } else {
            self.literals.string(&text[from..until]);
        }
        closing.map_or(text.len(), |closing| closing + tag.len())
    }
}
