//! Whether two systems give the same answer to a query.

use dyno_store::QueryAnswer;

/// Numbers agree if they differ by at most this amount, or by at most the share [`SHARE_MAX`]. Databases compute
/// averages and quotients with different numbers of digits, and `SQLite` sums in floating point. The specification
/// of TPC-H allows far larger differences (clause 2.1.3.5).
const DIFFERENCE_MAX: f64 = 1e-4;
const SHARE_MAX: f64 = 1e-6;

/// Describes, in words, the first row that differs between two answers; `None` if the answers agree.
pub fn first_difference(own: &QueryAnswer, other: &QueryAnswer) -> Option<String> {
    let (own_rows, other_rows): (Vec<&str>, Vec<&str>) =
        (own.text.lines().collect(), other.text.lines().collect());
    let kept = own_rows.len().max(other_rows.len());
    let row = |rows: &[&str], at: usize| {
        rows.get(at).map_or_else(|| "missing".to_owned(), |row| format!("`{row}`"))
    };
    let differing = (0..kept).find(|&at| match (own_rows.get(at), other_rows.get(at)) {
        (Some(own), Some(other)) => !is_same_row(own, other),
        _ => true,
    });
    if let Some(at) = differing {
        return Some(format!(
            "row {} is {} here and {} there",
            at + 1,
            row(&own_rows, at),
            row(&other_rows, at)
        ));
    }
    (own.rows != other.rows)
        .then(|| format!("it has {} rows, and the other answer has {}", own.rows, other.rows))
}

fn is_same_row(own: &str, other: &str) -> bool {
    let (own, other): (Vec<&str>, Vec<&str>) = (own.split('|').collect(), other.split('|').collect());
    own.len() == other.len() && own.iter().zip(&other).all(|(own, other)| is_same_value(own, other))
}

fn is_same_value(own: &str, other: &str) -> bool {
    if own == other {
        return true;
    }
    let (Ok(own), Ok(other)) = (own.parse::<f64>(), other.parse::<f64>()) else { return false };
    let difference = (own - other).abs();
    difference <= DIFFERENCE_MAX || difference <= SHARE_MAX * own.abs().max(other.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(own: &[&str], other: &[&str]) -> Option<String> {
        let answer =
            |rows: &[&str]| QueryAnswer::of(&rows.iter().map(ToString::to_string).collect::<Vec<_>>());
        first_difference(&answer(own), &answer(other))
    }

    #[test]
    fn numbers_agree_in_any_notation_and_texts_to_the_letter() {
        assert_eq!(difference(&["A|37734107.00|0.0499"], &["A|37734107|0.04993"]), None);
        assert_eq!(difference(&["1|NULL"], &["1|NULL"]), None);
        assert_eq!(difference(&["53758257134.8700"], &["53758257134.870026"]), None);
        assert_eq!(
            difference(&["1996-01-02"], &["1996-01-03"]).unwrap(),
            "row 1 is `1996-01-02` here and `1996-01-03` there"
        );
        assert!(difference(&["0.0500"], &["0.0502"]).is_some());
        assert!(difference(&["NULL"], &["0"]).is_some());
        assert!(difference(&["a|b"], &["a"]).is_some());
    }

    #[test]
    fn the_first_differing_row_is_told() {
        assert_eq!(
            difference(&["a", "b", "c"], &["a", "x", "y"]).unwrap(),
            "row 2 is `b` here and `x` there"
        );
        assert_eq!(difference(&["a", "b"], &["a"]).unwrap(), "row 2 is `b` here and missing there");
        assert_eq!(difference(&[], &["a"]).unwrap(), "row 1 is missing here and `a` there");
        let long = |rows: usize| vec!["x"; rows];
        assert_eq!(
            difference(&long(5000), &long(5001)).unwrap(),
            "it has 5000 rows, and the other answer has 5001",
            "of long answers the first rows are kept, and how many there were"
        );
    }
}
