//! A statement with places for values.

use crate::sql::Dialect;

/// Part of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Sql(String),
    /// The value of a literal, numbered from 0.
    Literal(usize),
    /// The value of a parameter, `$1`, `$2`, …, numbered from 0.
    Bound(usize),
}

/// Splits a shape into text, places of literals, and, in PostgreSQL, places of parameters.
pub(super) fn pieces(shape: &str, dialect: Dialect) -> Vec<Piece> {
    let mut parts = Parts::default();
    let mut rest = shape;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' | '`' => quoted(rest, next),
            '?' if rest[1..].starts_with('?') => {
                parts.sql.push('?');
                rest = &rest[2..];
                continue;
            }
            '?' => {
                let number = parts.literals;
                parts.literals += 1;
                parts.value(Piece::Literal(number));
                rest = &rest[1..];
                continue;
            }
            '$' if dialect == Dialect::Postgresql && !parts.is_within_name() => match parameter(rest) {
                Some((number, length)) => {
                    parts.value(Piece::Bound(number - 1));
                    rest = &rest[length..];
                    continue;
                }
                None => 1,
            },
            other => other.len_utf8(),
        };
        parts.sql.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    parts.end()
}

/// The number of literals, and the number of parameters.
pub(super) fn places(pieces: &[Piece]) -> (usize, usize) {
    let (mut literals, mut bound) = (0, 0);
    for piece in pieces {
        match piece {
            Piece::Literal(number) => literals = literals.max(number + 1),
            Piece::Bound(number) => bound = bound.max(number + 1),
            Piece::Sql(_) => {}
        }
    }
    (literals, bound)
}

#[derive(Default)]
struct Parts {
    pieces: Vec<Piece>,
    sql: String,
    literals: usize,
}

impl Parts {
    /// Whether a `$` at this position continues a name (PostgreSQL's manual, "Identifiers and Key Words").
    fn is_within_name(&self) -> bool {
        self.sql.chars().next_back().is_some_and(|last| last.is_alphanumeric() || matches!(last, '_' | '$'))
    }

    fn value(&mut self, piece: Piece) {
        self.text();
        self.pieces.push(piece);
    }

    fn text(&mut self) {
        if !self.sql.is_empty() {
            self.pieces.push(Piece::Sql(std::mem::take(&mut self.sql)));
        }
    }

    fn end(mut self) -> Vec<Piece> {
        self.text();
        self.pieces
    }
}

/// The length of a quoted name, including both quotes.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |length| length + 2)
}

/// The number of a parameter such as `$1`, and the length of its text. Parameters are numbered from 1 to 65535.
fn parameter(text: &str) -> Option<(usize, usize)> {
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    let number: u16 = text[1..=digits].parse().ok()?;
    (number > 0).then_some((usize::from(number), digits + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(text: &str) -> Piece {
        Piece::Sql(text.to_owned())
    }

    #[test]
    fn values_have_places_where_the_statement_had_them() {
        let parts = pieces("SELECT `a?` FROM t WHERE b = ? AND c ?? 'é' AND d IN (?, ?)", Dialect::Mysql);
        let (first, second, third) = (Piece::Literal(0), Piece::Literal(1), Piece::Literal(2));
        let begin = sql("SELECT `a?` FROM t WHERE b = ");
        assert_eq!(parts, [begin, first, sql(" AND c ? 'é' AND d IN ("), second, sql(", "), third, sql(")")]);
        assert_eq!(places(&parts), (3, 0));
    }

    #[test]
    fn parameters_are_those_of_postgresql_outside_of_names() {
        let shape = "SELECT \"$1\", a$1 FROM t WHERE b = $2 AND c = $12 LIMIT ?";
        let parts = pieces(shape, Dialect::Postgresql);
        let begin = sql("SELECT \"$1\", a$1 FROM t WHERE b = ");
        let (b, c) = (Piece::Bound(1), Piece::Bound(11));
        assert_eq!(parts, [begin, b, sql(" AND c = "), c, sql(" LIMIT "), Piece::Literal(0)]);
        assert_eq!(places(&parts), (1, 12));
        assert_eq!(pieces("SELECT $1, $", Dialect::Mysql), [sql("SELECT $1, $")]);
        assert_eq!(pieces("SELECT $0, $", Dialect::Postgresql), [sql("SELECT $0, $")]);
    }
}
