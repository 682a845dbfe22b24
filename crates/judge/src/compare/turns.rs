//! Pairs the sessions of two sides that are neighbours in time.

use std::collections::BTreeMap;

/// When a session started. Sessions with the same time are in the order of their runs.
pub(crate) type Start = (i64, i64);

/// Pairs of a session of the base and a session of the candidate, as indices of `base` and `candidate`, in the order of
/// time. No other session started between the two sessions of a pair, and no session is in two pairs.
///
/// A host that becomes slower and slower favours the side that comes first in a pair. Therefore each side comes first
/// in half of the pairs (with an odd number of pairs, one side comes first once more). Of all such choices, this one
/// has the most pairs.
pub(crate) fn neighbours(base: &[Start], candidate: &[Start]) -> Vec<(usize, usize)> {
    let side = |starts: &[Start], is_base: bool| -> Vec<(Start, bool, usize)> {
        starts.iter().enumerate().map(|(at, start)| (*start, is_base, at)).collect()
    };
    let mut sessions = [side(base, true), side(candidate, false)].concat();
    sessions.sort_unstable();
    // The most pairs of the sessions so far, and of these sessions without the last one. The key is the number of pairs
    // in which the base comes first, minus the number of the other pairs.
    let mut best: BTreeMap<i64, Vec<(usize, usize)>> = BTreeMap::from([(0, Vec::new())]);
    let mut without_last = best.clone();
    for two in sessions.windows(2) {
        let mut next = best.clone();
        let pair = match *two {
            [(_, true, base), (_, false, candidate)] => Some((1, (base, candidate))),
            [(_, false, candidate), (_, true, base)] => Some((-1, (base, candidate))),
            _ => None,
        };
        if let Some((step, pair)) = pair {
            for (surplus, pairs) in &without_last {
                let known = next.entry(surplus + step).or_default();
                if pairs.len() >= known.len() {
                    *known = [pairs.as_slice(), &[pair]].concat();
                }
            }
        }
        without_last = std::mem::replace(&mut best, next);
    }
    let even = best.into_iter().filter(|(surplus, _)| surplus.abs() <= 1);
    even.map(|(_, pairs)| pairs).max_by_key(Vec::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of sessions in this order, as positions in `order`. A session of the base is an `A`.
    fn pairs(order: &str) -> Vec<(i64, i64)> {
        let side = |letter: char| -> Vec<Start> {
            (0..).zip(order.chars()).filter(|(_, it)| *it == letter).map(|(at, _)| (at, 0)).collect()
        };
        let (base, candidate) = (side('A'), side('B'));
        neighbours(&base, &candidate).into_iter().map(|(a, b)| (base[a].0, candidate[b].0)).collect()
    }

    #[test]
    fn sides_that_alternate_are_paired_whole() {
        assert_eq!(pairs("ABBAABBA"), [(0, 1), (3, 2), (4, 5), (7, 6)]);
        assert_eq!(pairs("BA"), [(1, 0)]);
        assert_eq!(pairs("ABBAAB"), [(0, 1), (3, 2), (4, 5)]);
    }

    #[test]
    fn no_side_comes_first_more_often() {
        for order in ["ABABABABABABA", "ABABABABABAB", "ABABABABBBBBABABAB", "AABBABABABAB"] {
            let found = pairs(order);
            let base_first = found.iter().filter(|(a, b)| a < b).count();
            assert!(base_first.abs_diff(found.len() - base_first) <= 1, "{order}: {found:?}");
            assert!(found.iter().all(|(a, b)| a.abs_diff(*b) == 1), "{order}: {found:?}");
            let mut used: Vec<i64> = found.iter().flat_map(|(a, b)| [*a, *b]).collect();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used.len(), 2 * found.len(), "{order}: {found:?}");
        }
        assert_eq!(pairs("ABABABABABABA").len(), 6, "one session is left over");
        assert_eq!(pairs("ABABABABABAB").len(), 5, "two sessions are left over");
    }

    #[test]
    fn sides_one_after_the_other_have_one_pair() {
        assert_eq!(pairs("AAAABBBB"), [(3, 4)]);
        assert_eq!(pairs("AAAA"), []);
        assert_eq!(pairs(""), []);
    }
}
