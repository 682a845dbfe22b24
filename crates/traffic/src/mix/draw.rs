//! How values are drawn for a place: a position in the statements of a transaction where a value stands.

use std::collections::BTreeMap;

use super::seen::Seen;

/// Up to this many different values, each value is drawn as often as it was seen.
const FEW: usize = 20;
/// Largest number of literals that are kept for one place, and for all places of a transaction. The second limit exists
/// because a function of LuaJIT has at most 65536 constants.
const LITERALS_MAX: usize = 100;
const LITERALS_OF_ALL_MAX: usize = 20_000;
/// Number of parts into which a range of numbers is divided. All parts are drawn equally often.
const PARTS: usize = 10;
/// Number of places at the start of a transaction that are compared with the places before them. Later places are not
/// compared.
const COMPARED_MAX: usize = 64;
/// A place gets its value from an earlier place if the values of both agree in at least this share of the transactions.
const AGREE: f64 = 0.99;
/// A place gets its value from an earlier place only if at least this many transactions were seen.
const AGREE_OF_MIN: usize = 10;

/// How the values of a place are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Draw {
    /// Whole numbers. The list has the bounds of parts, and each part is drawn equally often.
    Integers(Vec<i64>),
    /// Literals and their weights.
    Literals(Vec<(Vec<u8>, u64)>),
    /// Strings of random letters with lengths in this range.
    Text(u64, u64),
    /// Whole numbers whose number of digits is in this range.
    Digits(u64, u64),
    /// Nothing is known of the values.
    Unknown,
    /// The value of the place with this number, which is earlier in the same transaction, plus the second number.
    Plus(usize, i64),
    /// The value of the place with this number, which is earlier in the same transaction.
    Same(usize),
}

impl Draw {
    /// Whether the drawn values are numbers in Lua.
    pub(super) fn is_number(&self, all: &[Self]) -> bool {
        match self {
            Self::Integers(_) | Self::Digits(..) | Self::Plus(..) => true,
            Self::Literals(_) | Self::Text(..) | Self::Unknown => false,
            Self::Same(of) => all[*of].is_number(all),
        }
    }
}

/// Returns for each place how its values are drawn, judging by the values that were seen. Each of `rows` has the values
/// of one transaction, one for every place. `is_bound` says for every place whether the value belongs to a parameter.
pub(super) fn draws(rows: &[Vec<Seen>], is_bound: &[bool]) -> Vec<Draw> {
    let column = |place: usize| rows.iter().map(|row| &row[place]).collect::<Vec<&Seen>>();
    let literals_max = (LITERALS_OF_ALL_MAX / is_bound.len().max(1)).clamp(1, LITERALS_MAX);
    let mut draws: Vec<Draw> = Vec::with_capacity(is_bound.len());
    for place in 0..is_bound.len() {
        let values = column(place);
        let is_compared = place < COMPARED_MAX && !is_constant(&values);
        let earlier = if is_compared { 0..place } else { 0..0 };
        let follows = earlier
            .filter(|of| match draws[*of] {
                Draw::Same(_) | Draw::Plus(..) | Draw::Unknown => false,
                // Literals of parameters have quotes, and other literals have none.
                Draw::Literals(_) => is_bound[*of] == is_bound[place],
                _ => true,
            })
            .find_map(|of| together((of, &draws[of]), &column(of), &values));
        draws.push(follows.unwrap_or_else(|| alone(&values, is_bound[place], literals_max)));
    }
    draws
}

fn is_constant(values: &[&Seen]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// Returns how the values of a place follow from the values of the earlier place `of`. `None` if there is no such
/// relation.
fn together((of, draw): (usize, &Draw), earlier: &[&Seen], values: &[&Seen]) -> Option<Draw> {
    let agree =
        |agreeing: usize| values.len() >= AGREE_OF_MIN && agreeing as f64 >= AGREE * values.len() as f64;
    let is_kept = |value: &Seen| matches!(value, Seen::Integer(_) | Seen::Literal(_));
    let pairs = || earlier.iter().zip(values);
    if agree(pairs().filter(|(before, value)| before == value && is_kept(value)).count()) {
        return Some(Draw::Same(of));
    }
    if !matches!(draw, Draw::Integers(_)) {
        return None;
    }
    let steps: Option<Vec<i64>> =
        pairs().map(|(before, value)| Some(value.integer()? - before.integer()?)).collect();
    let steps = steps?;
    let by = *steps.first()?;
    agree(steps.iter().filter(|step| **step == by).count()).then_some(Draw::Plus(of, by))
}

fn alone(values: &[&Seen], is_bound: bool, literals_max: usize) -> Draw {
    let lengths = |of: fn(&Seen) -> Option<u64>| {
        let lengths = values.iter().filter_map(|value| of(value));
        lengths.clone().min().zip(lengths.max())
    };
    if let Some((low, high)) = lengths(|value| if let Seen::Text(it) = value { Some(*it) } else { None }) {
        return Draw::Text(low, high);
    }
    if let Some((low, high)) = lengths(|value| if let Seen::Digits(it) = value { Some(*it) } else { None }) {
        return Draw::Digits(low, high);
    }
    let mut weights: BTreeMap<&Seen, u64> = BTreeMap::new();
    for value in values {
        *weights.entry(*value).or_default() += 1;
    }
    let integers: Option<Vec<i64>> = values.iter().map(|value| value.integer()).collect();
    match integers {
        Some(mut integers) if weights.len() > FEW => {
            integers.sort_unstable();
            let last = integers.len() - 1;
            Draw::Integers((0..=PARTS).map(|part| integers[part * last / PARTS]).collect())
        }
        _ => literals(weights, is_bound, literals_max),
    }
}

/// Makes a [`Draw`] of the most frequent literals, at most `most` of them.
fn literals(weights: BTreeMap<&Seen, u64>, is_bound: bool, most: usize) -> Draw {
    let mut weights: Vec<(Vec<u8>, u64)> =
        weights.into_iter().map(|(value, weight)| (literal(value, is_bound), weight)).collect();
    weights.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    weights.truncate(most);
    Draw::Literals(weights)
}

fn literal(value: &Seen, is_bound: bool) -> Vec<u8> {
    match value {
        Seen::Literal(text) => text.clone(),
        Seen::Integer(number) if is_bound => format!("'{number}'").into_bytes(),
        Seen::Integer(number) => number.to_string().into_bytes(),
        Seen::Text(_) | Seen::Digits(_) => b"NULL".to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Seen {
        Seen::Literal(text.as_bytes().to_vec())
    }

    #[test]
    fn numbers_are_drawn_from_the_range_that_was_seen() {
        let rows: Vec<Vec<Seen>> = (0..=1000).map(|number| vec![Seen::Integer(number * number)]).collect();
        let draws = draws(&rows, &[false]);
        let Draw::Integers(bounds) = &draws[0] else { panic!("{draws:?}") };
        assert_eq!(bounds.first(), Some(&0));
        assert_eq!(bounds[5], 250_000);
        assert_eq!(bounds.last(), Some(&1_000_000));
    }

    #[test]
    fn few_values_come_as_often_as_they_were_seen() {
        let rows: Vec<Vec<Seen>> = (0..30)
            .map(|number| vec![if number % 3 == 0 { text("'a'") } else { Seen::Integer(7) }])
            .collect();
        let weights = |seven: &[u8]| Draw::Literals(vec![(seven.to_vec(), 20), (b"'a'".to_vec(), 10)]);
        assert_eq!(draws(&rows, &[false]), [weights(b"7")]);
        assert_eq!(draws(&rows, &[true]), [weights(b"'7'")]);
    }

    #[test]
    fn values_that_were_not_kept_are_drawn_by_their_lengths() {
        let rows = [vec![Seen::Text(3), Seen::Digits(2)], vec![Seen::Text(9), Seen::Digits(4)]];
        assert_eq!(draws(&rows, &[false; 2]), [Draw::Text(3, 9), Draw::Digits(2, 4)]);
    }

    #[test]
    fn places_that_agree_are_drawn_together() {
        let row = |number: i64| {
            let id = number * 7919 % 10_000;
            let other = number * 104_729 % 10_000;
            [id, id, id + 99, 5, other].map(Seen::Integer).to_vec()
        };
        let rows: Vec<Vec<Seen>> = (0..200).map(row).collect();
        let draws = draws(&rows, &[false; 5]);
        assert!(matches!(draws[0], Draw::Integers(_)), "{draws:?}");
        assert_eq!(draws[1..3], [Draw::Same(0), Draw::Plus(0, 99)]);
        assert_eq!(draws[3], Draw::Literals(vec![(b"5".to_vec(), 200)]));
        assert!(matches!(draws[4], Draw::Integers(_)), "{draws:?}");
        assert!(draws[1].is_number(&draws) && !draws[3].is_number(&draws));
    }

    #[test]
    fn few_transactions_show_no_agreement() {
        let rows: Vec<Vec<Seen>> = (0..5).map(|number| vec![Seen::Integer(number); 2]).collect();
        assert!(draws(&rows, &[false; 2]).iter().all(|draw| matches!(draw, Draw::Literals(_))));
    }
}
