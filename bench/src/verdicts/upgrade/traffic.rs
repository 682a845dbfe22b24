//! The traffic: which statements are executed, how often, and with which values.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use dyno_traffic::sql::{Dialect, Normalizer, digest_text};

use super::planted::{Planted, Upgrade, file};

/// How often each planted statement is executed.
const PLANTED_TIMES: u32 = 10;
/// Inserted rows get numbers above this one, so that no existing row has them.
const UNIQUE_FROM: u64 = 1_000_000;

/// Statements that a session executes one after the other.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// How often the statements are executed.
    pub(super) times: u32,
    /// The statements, with placeholders for values.
    pub(super) statements: Vec<String>,
}

/// The traffic of a benchmark.
pub(super) struct Traffic {
    pub(super) units: Vec<Unit>,
    /// The planted regressions whose statements are in the traffic.
    pub(super) planted: Vec<Planted>,
}

impl Traffic {
    /// Makes traffic with this number of digests. At most half of the digests have a planted regression.
    pub(super) fn of(upgrade: &Upgrade, dialect: Dialect, digests: usize) -> anyhow::Result<Self> {
        let count = upgrade.planted.len().min(digests / 2).max(1);
        let step = upgrade.planted.len() / count;
        let planted: Vec<Planted> = upgrade.planted.iter().step_by(step).take(count).cloned().collect();
        let mut units = ordinary(dialect, digests.saturating_sub(count))?;
        units.extend(
            planted.iter().map(|it| Unit { times: PLANTED_TIMES, statements: vec![it.statement.clone()] }),
        );
        Ok(Self { units, planted })
    }
}

/// Returns ordinary units, which have no planted regression. They are the first of the file `ordinary.sql` that
/// together have at most `digests` digests.
fn ordinary(dialect: Dialect, digests: usize) -> anyhow::Result<Vec<Unit>> {
    let mut seen = BTreeSet::new();
    let mut units = Vec::new();
    for line in file("ordinary.sql")?.lines().filter(|line| !line.starts_with("--")) {
        let (times, statements) = line.split_once(": ").with_context(|| format!("no number: {line}"))?;
        let statements: Vec<String> = statements.split("; ").map(str::to_owned).collect();
        for statement in &statements {
            seen.insert(digest(&Values::default().fill(statement)?, dialect));
        }
        if seen.len() > digests {
            break;
        }
        units.push(Unit { times: times.parse()?, statements });
    }
    Ok(units)
}

/// Returns the text of a statement's digest, as Dyno's reports show it.
pub(super) fn digest(statement: &str, dialect: Dialect) -> String {
    let mut normalizer = Normalizer::new(dialect, false);
    let shape = String::from_utf8_lossy(normalizer.part(statement.as_bytes(), &[]).shape).into_owned();
    digest_text(&shape, dialect)
}

/// Fills the placeholders of statements. A new `Values` always gives the same sequence of values.
#[derive(Debug)]
pub(super) struct Values {
    state: u64,
    last: u64,
    unique: u64,
}

impl Default for Values {
    fn default() -> Self {
        Self { state: 43, last: 0, unique: UNIQUE_FROM }
    }
}

impl Values {
    /// Returns the statement with values. `{N}` becomes a number from 1 to N, `{=}` the previous number again, and
    /// `{#}` a number that no row has.
    pub(super) fn fill(&mut self, statement: &str) -> anyhow::Result<String> {
        let mut text = String::with_capacity(statement.len());
        let mut rest = statement;
        while let Some((before, after)) = rest.split_once('{') {
            let (place, after) =
                after.split_once('}').with_context(|| format!("a place does not end: {statement}"))?;
            text += before;
            text += &self.value(place)?.to_string();
            rest = after;
        }
        Ok(text + rest)
    }

    fn value(&mut self, place: &str) -> anyhow::Result<u64> {
        self.last = match place {
            "=" => self.last,
            "#" => {
                self.unique += 1;
                self.unique
            }
            most => {
                let most: u64 = most.parse().with_context(|| format!("no number: {{{most}}}"))?;
                ensure!(most > 0, "there is no number from 1 to 0");
                1 + self.random() % most
            }
        };
        Ok(self.last)
    }

    /// Returns a random number by the method "splitmix64" (Steele, Lea and Flood, "Fast splittable pseudorandom
    /// number generators", 2014).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::super::planted::Product;
    use super::*;

    fn digests(traffic: &Traffic, dialect: Dialect) -> BTreeSet<String> {
        let mut values = Values::default();
        let statements = traffic.units.iter().flat_map(|unit| &unit.statements);
        statements.map(|statement| digest(&values.fill(statement).unwrap(), dialect)).collect()
    }

    #[test]
    fn the_traffic_has_two_hundred_digests_of_which_twenty_are_planted() {
        for product in Product::value_variants() {
            let (upgrade, dialect) = (product.upgrade().unwrap(), product.dialect());
            let whole = Traffic::of(&upgrade, dialect, 200).unwrap();
            assert_eq!((digests(&whole, dialect).len(), whole.planted.len()), (200, 20), "{product:?}");
            let trial = Traffic::of(&upgrade, dialect, 20).unwrap();
            assert_eq!((digests(&trial, dialect).len(), trial.planted.len()), (20, 10), "{product:?}");
        }
    }

    #[test]
    fn places_get_values_and_digests_do_not_depend_on_them() {
        let mut values = Values::default();
        let range = values.fill("SELECT 1 FROM t WHERE a BETWEEN {5} AND {=} + 3").unwrap();
        let number = range.split_whitespace().nth(7).unwrap();
        assert!((1..=5).contains(&number.parse().unwrap()), "{range}");
        assert_eq!(range, format!("SELECT 1 FROM t WHERE a BETWEEN {number} AND {number} + 3"));
        assert_eq!(values.fill("({#}, {#})").unwrap(), "(1000001, 1000002)");
        assert!(values.fill("{1").is_err() && values.fill("{x}").is_err() && values.fill("{0}").is_err());
        let text = |id: u32| digest(&format!("select a from t where id = {id}"), Dialect::Mysql);
        assert_eq!(text(1), text(22));
    }
}
