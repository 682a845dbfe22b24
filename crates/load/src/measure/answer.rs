//! Hashes the answers to statements, independently of the order of their rows.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Number of significant digits that are compared if a number has a point or an exponent. In later digits, servers
/// differ.
const DIGITS: usize = 6;

/// The sum of the hashes of all rows of an answer. It does not depend on the order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerHash(u64);

impl AnswerHash {
    pub(crate) fn add_row(&mut self, fields: &[Option<Vec<u8>>]) {
        let mut hasher = DefaultHasher::new();
        for field in fields {
            match field.as_deref() {
                None => hasher.write_u8(0),
                Some(text) => match rounded(text) {
                    Some(number) => number.hash(&mut hasher),
                    None => text.hash(&mut hasher),
                },
            }
        }
        self.0 = self.0.wrapping_add(hasher.finish());
    }

    /// Returns the number that this statement's answer adds to the sum over all statements of its digest. The number
    /// depends on the statement's id, so the sum changes if two statements swap their answers.
    pub(crate) fn of_statement(self, id: i64, rows: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (id, rows, self.0).hash(&mut hasher);
        hasher.finish()
    }
}

/// Rounds a number with a point or an exponent; `None` for other texts.
fn rounded(text: &[u8]) -> Option<String> {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let is_whole = !text.iter().any(|byte| b".eE".contains(byte));
    if text.len() > 40 || is_whole || !text.iter().all(is_of_number) {
        return None;
    }
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(format!("{number:.*e}", DIGITS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&[Option<&str>]]) -> AnswerHash {
        let mut hash = AnswerHash::default();
        for row in rows {
            let fields: Vec<Option<Vec<u8>>> =
                row.iter().map(|field| field.map(|text| text.as_bytes().to_vec())).collect();
            hash.add_row(&fields);
        }
        hash
    }

    #[test]
    fn rows_count_and_their_order_does_not() {
        let (one, other): (&[_], &[_]) = (&[Some("1"), None], &[Some("2"), Some("x")]);
        assert_eq!(of(&[one, other]), of(&[other, one]));
        assert_ne!(of(&[one, other]), of(&[one, one]));
        assert_ne!(of(&[one]), of(&[]));
        assert_ne!(of(&[&[Some("a"), Some("bc")]]), of(&[&[Some("ab"), Some("c")]]));
        assert_ne!(of(&[&[None]]), of(&[&[Some("")]]));
        let answer = of(&[one]);
        assert_ne!(answer.of_statement(1, 1), answer.of_statement(2, 1));
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        for (one, other) in [("1.50", "1.5"), ("0.1234567", "1.234567e-1"), ("100000.01", "100000.02")] {
            assert_eq!(of(&[&[Some(one)]]), of(&[&[Some(other)]]), "{one}");
        }
        for (one, other) in [("1.50", "1.51"), ("1", "1.0"), ("1e5x", "1e5"), ("2026-11-27", "2026-11-28")] {
            assert_ne!(of(&[&[Some(one)]]), of(&[&[Some(other)]]), "{one}");
        }
    }
}
