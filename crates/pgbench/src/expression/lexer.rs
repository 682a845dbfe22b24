//! The tokens of an expression. An expression ends with its line, unless a backslash continues the line.

use super::Wrong;
use crate::error::Problem;
use crate::names::{begins_name, is_in_name};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    End,
    Sign(&'static str),
    Integer(i64),
    /// 9223372036854775808, one above the largest 64-bit integer. It is valid only after a minus.
    AboveIntegers,
    Double(f64),
    /// A variable, without its colon.
    Variable(&'a str),
    Word(&'a str),
}

/// The operators and punctuation. The first one that matches is taken, so `<<` comes before `<`.
const SIGNS: [&str; 21] = [
    "<<", ">>", "<=", ">=", "<>", "!=", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", ",", "&", "|", "#",
    "~",
];

/// 2 to the power of 63.
const ABOVE_INTEGERS: &str = "9223372036854775808";

pub(super) struct Lexer<'a> {
    pub(super) script: &'a str,
    /// Position of the next token, in bytes.
    pub(super) at: usize,
}

impl<'a> Lexer<'a> {
    /// Returns the next token and its position.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), Wrong> {
        self.skip_blanks();
        let (from, rest) = (self.at, &self.script[self.at..]);
        let Some(first) = rest.chars().next().filter(|letter| *letter != '\n') else {
            return Ok((Token::End, from));
        };
        let wrong = |problem| Wrong { at: from, problem };
        if first.is_ascii_digit() || first == '.' {
            let length = number_bytes(rest);
            if length > 0 {
                self.at += length;
                return number(&rest[..length]).map(|token| (token, from)).map_err(wrong);
            }
        }
        if first == ':' {
            let length = rest[1..].find(|letter: char| !is_in_name(letter)).unwrap_or(rest.len() - 1);
            if length > 0 {
                self.at += 1 + length;
                return Ok((Token::Variable(&rest[1..=length]), from));
            }
        }
        if begins_name(first) {
            let length = rest.find(|letter: char| !is_in_name(letter)).unwrap_or(rest.len());
            self.at += length;
            return Ok((Token::Word(&rest[..length]), from));
        }
        if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            self.at += sign.len();
            return Ok((Token::Sign(sign), from));
        }
        Err(wrong(Problem::Syntax { found: format!("'{first}'"), expected: "an expression" }))
    }

    /// Skips blanks and line continuations.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.script[self.at..];
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']).len();
            self.at += blanks;
            match continuation_bytes(&rest[blanks..]) {
                0 => return,
                length => self.at += length,
            }
        }
    }
}

/// The length of a line continuation, which is a backslash and the end of its line. 0 if the text does not begin
/// with a line continuation.
pub(crate) fn continuation_bytes(text: &str) -> usize {
    match text.as_bytes() {
        [b'\\', b'\n', ..] => 2,
        [b'\\', b'\r', b'\n', ..] => 3,
        _ => 0,
    }
}

/// The length of a number: `12`, `1.5`, `1.`, `.5`, `1e3`. 0 if the text does not begin with a number.
fn number_bytes(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let mut length = whole;
    if text[length..].starts_with('.') {
        let fraction = digits(length + 1);
        if whole + fraction == 0 {
            return 0;
        }
        length += 1 + fraction;
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn number<'a>(text: &str) -> Result<Token<'a>, Problem> {
    let too_large = || Problem::TooLarge(text.to_owned());
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let double = text.parse::<f64>().ok().filter(|double| double.is_finite());
        return double.map(Token::Double).ok_or_else(too_large);
    }
    match text.parse() {
        Ok(integer) => Ok(Token::Integer(integer)),
        Err(_) if text.trim_start_matches('0') == ABOVE_INTEGERS => Ok(Token::AboveIntegers),
        Err(_) => Err(too_large()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(script: &str) -> Result<Vec<Token<'_>>, Wrong> {
        let mut lexer = Lexer { script, at: 0 };
        let mut all = Vec::new();
        loop {
            match lexer.next()?.0 {
                Token::End => return Ok(all),
                token => all.push(token),
            }
        }
    }

    #[test]
    fn numbers_are_whole_or_not() {
        let all = tokens("12 1.5 1. .5 2e3 1e+1 9223372036854775807 9223372036854775808 1e").unwrap();
        let expected = [
            Token::Integer(12),
            Token::Double(1.5),
            Token::Double(1.0),
            Token::Double(0.5),
            Token::Double(2000.0),
            Token::Double(10.0),
            Token::Integer(i64::MAX),
            Token::AboveIntegers,
            Token::Integer(1),
            Token::Word("e"),
        ];
        assert_eq!(all, expected);
        assert_eq!(
            tokens("1 + 9223372036854775809").unwrap_err(),
            Wrong { at: 4, problem: Problem::TooLarge("9223372036854775809".to_owned()) }
        );
        assert!(tokens("1e999").is_err());
    }

    #[test]
    fn signs_words_and_variables_need_no_blanks() {
        let all = tokens(":a<=:b1<<2!=x").unwrap();
        let expected = [
            Token::Variable("a"),
            Token::Sign("<="),
            Token::Variable("b1"),
            Token::Sign("<<"),
            Token::Integer(2),
            Token::Sign("!="),
            Token::Word("x"),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_backslash_goes_on_in_the_next_line() {
        assert_eq!(tokens("1 \\\n + 2\n3").unwrap().len(), 3);
        assert_eq!(tokens("1 \\\r\n + 2\r\n3").unwrap().len(), 3);
        for wrong in ["1 ; 2", "1 \\ 2", ": 1", ". 1", "é$"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }
}
