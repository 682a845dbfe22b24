//! Templates of statements. A template is made from a statement that was split, and splits similar statements.

use super::{Normalized, Normalizer};
use crate::sql::Dialect;
use crate::sql::class::{is_digit, is_of_word};
use crate::sql::template::{Hole, Literal, Template};

/// Number of bytes in which [`literal_begin`] searches.
const BEGIN_BYTES: usize = 64;

/// The literals of the statement that is being split.
#[derive(Debug, Default)]
pub(super) struct Holes {
    list: Vec<Hole>,
    /// Whether the statement has a literal or a secret that a template cannot have.
    is_odd: bool,
}

impl Holes {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.is_odd = false;
    }

    pub(super) fn add(&mut self, from: usize, until: usize, literal: Literal) {
        self.list.push(Hole { from, until, literal });
    }

    /// Records that the statement has a literal or a secret that a template cannot have.
    pub(super) fn odd(&mut self) {
        self.is_odd = true;
    }
}

impl Normalizer {
    /// Makes a template of the statement that was split last. `None` if the statement is long or not whole, or has
    /// secrets or literals that templates do not support.
    pub fn template(&self, text: &[u8]) -> Option<Template> {
        let is_plain = !self.holes.is_odd && self.is_whole && self.secrets.are_none();
        let text = text.trim_ascii();
        is_plain.then(|| Template::new(text, &self.holes.list, &self.shape, self.dialect)).flatten()
    }

    /// Whether a statement has this template. If so, also reads the statement's literals, which
    /// [`of_template`](Self::of_template) then returns.
    pub fn has(&mut self, template: &Template, text: &[u8]) -> bool {
        self.literals.clear();
        template.read(text.trim_ascii(), &mut self.literals, &mut self.decoded)
    }

    /// Splits the statement whose literals [`has`](Self::has) has read.
    pub fn of_template<'a>(
        &'a mut self,
        template: &'a Template,
        bound: &[Option<Vec<u8>>],
    ) -> Normalized<'a> {
        self.secrets.clear();
        self.bind(bound);
        Normalized {
            shape: template.shape(),
            literals: self.literals.finish(),
            bound: self.bound.finish(),
            is_whole: true,
        }
    }
}

/// Returns the position of the first byte that may begin a literal. If none of the first [`BEGIN_BYTES`] bytes may,
/// returns the position after these bytes. Statements with the same template have the same bytes before the returned
/// position.
pub(crate) fn literal_begin(text: &[u8], dialect: Dialect) -> usize {
    let text = &text[..text.len().min(BEGIN_BYTES)];
    let mut is_in_word = false;
    for (at, byte) in text.iter().enumerate() {
        let begins = match byte {
            b'\'' | b'-' | b'+' => true,
            b'"' => dialect == Dialect::Mysql,
            byte => is_digit(*byte) && !is_in_word,
        };
        if begins {
            return at;
        }
        is_in_word = is_of_word(*byte);
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splits `text` by the template of `other`, and returns everything that is kept. `None` if `text` does not
    /// have this template.
    fn by_template(dialect: Dialect, other: &str, text: &str) -> Option<String> {
        let mut normalizer = Normalizer::new(dialect, false);
        normalizer.part(other.as_bytes(), &[]);
        let template = normalizer.template(other.as_bytes())?;
        let bound = [Some(b"a".to_vec()), None];
        let has = normalizer.has(&template, text.as_bytes());
        has.then(|| format!("{:?}", normalizer.of_template(&template, &bound)))
    }

    fn whole(dialect: Dialect, text: &str) -> String {
        let bound = [Some(b"a".to_vec()), None];
        format!("{:?}", Normalizer::new(dialect, false).part(text.as_bytes(), &bound))
    }

    #[test]
    fn statements_with_the_same_template_differ_by_their_literals() {
        for (dialect, other, text, is_same) in [
            (Dialect::Mysql, "SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 22.5", true),
            (Dialect::Mysql, "SELECT 'a', \"b\", -1", "SELECT 'it''s', \"\\\"\", +2", true),
            (Dialect::Mysql, "COMMIT", "COMMIT", true),
            (Dialect::Mysql, "COMMIT", " COMMIT\n", true),
            (Dialect::Postgresql, "SELECT E'a' WHERE b = $1", "SELECT E'\\x41' WHERE b = $1", true),
            (Dialect::Mysql, "SELECT 1", "SELECT 1x", false),
            (Dialect::Mysql, "SELECT 1", "SELECT 0x1F", false),
            (Dialect::Mysql, "SELECT 1", "SELECT 'a'", false),
            (Dialect::Mysql, "SELECT a -1", "SELECT a --1", false),
            (Dialect::Mysql, "SELECT 'a'", "SELECT 'a", false),
            (Dialect::Mysql, "SELECT 'a'", "SELECT 'password=b'", false),
            (Dialect::Mysql, "SELECT 'a' ", "SELECT 'a''' 'b'", false),
            (Dialect::Mysql, "SET PASSWORD = 'a'", "SET PASSWORD = 'b'", false),
            (Dialect::Mysql, "SET PASSWORD = ?", "SET PASSWORD = ?", false),
        ] {
            let same = by_template(dialect, other, text);
            assert_eq!(same, is_same.then(|| whole(dialect, text)), "{other} and {text}");
        }
    }

    fn piece() -> impl Strategy<Value = String> {
        let tokens = "SELECT|a|e|E|N|x|set|password|identified|by| |  |\n|-|--|+|.|,|(|)|??|?|$1|/*|*/|/*!50000|/*+|#|@|=|::|;|`n`|\"q\"|$$|x'1f'";
        prop_oneof![
            prop::sample::select(tokens.split('|').collect::<Vec<_>>()).prop_map(str::to_owned),
            Just("|".to_owned()),
        ]
    }

    fn literal() -> impl Strategy<Value = String> {
        let literals =
            ["0", "1", "12", "12.5", "0x1F", "0b1", "1e5", "1e", ".5", "1a", "1_0", "-5", "+5", "- 5", "00"];
        prop_oneof![
            prop::sample::select(literals.to_vec()).prop_map(str::to_owned),
            "'[a'\\\\ \\-*/]{0,4}'",
            "\"[a\"\\\\ ]{0,3}\"",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// A statement is split into the same parts, whether the template of another statement is used or not.
        #[test]
        fn a_template_splits_as_the_normalizer_does(
            pieces in prop::collection::vec((piece(), literal(), literal(), 0..3_u8), 0..8),
        ) {
            let text = |second: bool| {
                let piece = |(piece, a, b, which): &(String, String, String, u8)| match which {
                    0 => piece.clone(),
                    1 => format!("{piece}{a}"),
                    _ => format!("{piece}{}", if second { b } else { a }),
                };
                pieces.iter().map(piece).collect::<String>()
            };
            let (other, text) = (text(false), text(true));
            for dialect in [Dialect::Mysql, Dialect::Postgresql] {
                if let Some(parts) = by_template(dialect, &other, &text) {
                    prop_assert_eq!(parts, whole(dialect, &text));
                }
            }
        }
    }
}
