//! Tables of digests, in which a server itself counts the statements that it executes: `pg_stat_statements`, and
//! `events_statements_summary_by_digest` of MySQL and MariaDB.

use super::draw::Draw;
use super::left_out::{LeftOut, LeftOuts, Role};
use super::table;
use super::template::{Piece, pieces, places};
use super::{Sent, Unit};
use crate::sql::Dialect;

/// Bounds of the values that are drawn for `LIMIT` and `OFFSET`. Digests do not have the real values.
const LIMITS: [i64; 2] = [1, 10];

/// A table of digests.
#[derive(Debug)]
pub(super) struct Digests {
    pub(super) dialect: Dialect,
    rows: Vec<(String, u64)>,
}

impl Digests {
    /// Reads a table of digests. `None` if it lacks a column with statements, or a column with the numbers of
    /// executions.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut rows = table::rows(text).into_iter();
        let header = rows.next()?;
        let column = |name: &str| header.iter().position(|it| it.trim().eq_ignore_ascii_case(name));
        let columns = |statement, number| column(statement).zip(column(number));
        let (dialect, (statement, number)) = match columns("query", "calls") {
            Some(found) => (Dialect::Postgresql, found),
            None => (Dialect::Mysql, columns("digest_text", "count_star")?),
        };
        let row =
            |row: Vec<String>| Some((row.get(statement)?.clone(), row.get(number)?.trim().parse().ok()?));
        Some(Self { dialect, rows: rows.filter_map(row).collect() })
    }

    /// Number of executed statements of all digests.
    pub(super) fn statements(&self) -> u64 {
        self.rows.iter().map(|(_, number)| number).sum()
    }

    /// Makes a unit of each of the most frequent digests, at most `most` units.
    pub(super) fn units(&self, most: usize, left_out: &mut LeftOuts) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut rows: Vec<&(String, u64)> = self.rows.iter().filter(|(_, number)| *number > 0).collect();
        rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (statement, number) in rows {
            let unit = match unit(statement, *number, self.dialect) {
                Ok(_) if units.len() == most => Err(LeftOut::Rare),
                unit => unit,
            };
            match unit {
                Ok(unit) => units.push(unit),
                Err(why) => *left_out.entry(why).or_default() += number,
            }
        }
        units
    }
}

fn unit(statement: &str, number: u64, dialect: Dialect) -> Result<Unit, LeftOut> {
    let shape = match dialect {
        // In PostgreSQL, a digest has `$1` for a value, and `?` is an operator.
        Dialect::Postgresql => statement.replace('?', "??"),
        Dialect::Mysql => statement.replace("IN (...)", "IN (?)").replace("LIMIT ?, ...", "LIMIT ?, ?"),
    };
    match Role::of(&shape, dialect) {
        Role::Left(why) => return Err(why),
        Role::Begin | Role::End => return Err(LeftOut::Transaction),
        Role::Send => {}
    }
    // In MySQL, `...` stands for text that was cut off, or for a list whose length the digest does not have.
    if dialect == Dialect::Mysql && shape.contains("...") {
        return Err(LeftOut::Incomplete);
    }
    let pieces = pieces(shape.trim_end().trim_end_matches(';'), dialect);
    let (literals, bound) = places(&pieces);
    let mut draws = vec![Draw::Unknown; literals + bound];
    for (place, is_limit) in limits(&pieces, literals) {
        if is_limit {
            draws[place] = Draw::Integers(LIMITS.to_vec());
        }
    }
    let is_bound = vec![false; draws.len()];
    Ok(Unit { weight: number, statements: 1, sent: vec![Sent { pieces, first: 0 }], draws, is_bound })
}

/// Returns the number of each value in the unit, and whether the value belongs to `LIMIT` or `OFFSET`.
fn limits(pieces: &[Piece], literals: usize) -> Vec<(usize, bool)> {
    let (mut all, mut is_limit) = (Vec::new(), false);
    for piece in pieces {
        match piece {
            Piece::Sql(text) => {
                let last = text.split_ascii_whitespace().next_back().unwrap_or_default();
                let is_word =
                    ["limit", "offset", "first", "next"].iter().any(|word| last.eq_ignore_ascii_case(word));
                is_limit = is_word || (is_limit && text.trim() == ",");
            }
            Piece::Literal(number) => all.push((*number, is_limit)),
            Piece::Bound(number) => all.push((literals + number, is_limit)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_both_products_are_read() {
        let mine = "DIGEST_TEXT\tCOUNT_STAR\nSELECT `a` FROM `t` WHERE `b` = ? LIMIT ?, ...\t7\nCOMMIT\t3\n\
                    INSERT INTO `t` VALUES (...)\t2\nSELECT 1 \t0\nSELECT `a` FROM `t` WHERE `b` IN (...)\t9\n";
        let digests = Digests::read(mine).unwrap();
        assert_eq!((digests.dialect, digests.statements()), (Dialect::Mysql, 21));
        let mut left_out = LeftOuts::new();
        let units = digests.units(10, &mut left_out);
        assert_eq!(units.iter().map(|unit| unit.weight).collect::<Vec<_>>(), [9, 7]);
        let limits = Draw::Integers(LIMITS.to_vec());
        assert_eq!(units[1].draws, [Draw::Unknown, limits.clone(), limits]);
        assert_eq!(left_out, LeftOuts::from([(LeftOut::Transaction, 3), (LeftOut::Incomplete, 2)]));

        let theirs = "userid,query,calls\n10,\"SELECT a ? $1 FROM t LIMIT $2\",5\n10,VACUUM,1\n";
        let digests = Digests::read(theirs).unwrap();
        let units = digests.units(10, &mut LeftOuts::new());
        assert_eq!((digests.dialect, units.len()), (Dialect::Postgresql, 1));
        assert_eq!(units[0].draws[0], Draw::Unknown);
        assert!(matches!(units[0].draws[1], Draw::Integers(_)));
    }

    #[test]
    fn rare_digests_are_left_out() {
        let digests = Digests::read("query,calls\nSELECT 1,5\nSELECT 2,9\n").unwrap();
        let mut left_out = LeftOuts::new();
        let units = digests.units(1, &mut left_out);
        assert_eq!((units[0].weight, left_out), (9, LeftOuts::from([(LeftOut::Rare, 5)])));
    }

    #[test]
    fn other_tables_hold_no_digests() {
        for text in ["", "a,b\n1,2\n", "query\nSELECT 1\n"] {
            assert!(Digests::read(text).is_none(), "{text}");
        }
    }
}
