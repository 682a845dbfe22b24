use super::*;
use crate::random::SplitMix64;
use crate::testing::{assert_close, uniform};

/// Lower ranks of the 95% interval of a median, from R: `qbinom(0.025, n, 0.5)` for each n. The upper rank is the same
/// from above.
const RANKS: [(usize, usize); 12] = [
    (6, 1),
    (7, 1),
    (8, 1),
    (9, 2),
    (10, 2),
    (12, 3),
    (15, 4),
    (17, 5),
    (20, 6),
    (25, 8),
    (50, 18),
    (100, 40),
];

#[test]
fn ranks_are_those_of_the_binomial_table() {
    for (n, rank) in RANKS {
        assert_eq!(interval_rank(n, CONFIDENCE).unwrap().0, rank, "n = {n}");
    }
}

#[test]
fn twenty_values_use_ranks_6_and_15() {
    let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
    let interval = median_interval(&values, CONFIDENCE).unwrap();
    assert_eq!((interval.low, interval.high), (6.0, 15.0));
    // 1 - 2 * pbinom(5, 20, 0.5)
    assert!((interval.confidence - 0.958_610_534_667_968_8).abs() < 1e-12);
}

#[test]
fn six_values_are_the_fewest_for_an_interval() {
    for n in 0..ROUNDS_MIN {
        assert_eq!(interval_rank(n, CONFIDENCE), None, "n = {n}");
    }
    let (rank, confidence) = interval_rank(ROUNDS_MIN, CONFIDENCE).unwrap();
    assert_eq!(rank, 1);
    assert_close(confidence, 0.96875, 1e-12);
}

#[test]
fn more_confidence_takes_more_values() {
    for confidence in [0.5, 0.9, CONFIDENCE, 0.96875, 0.99, 0.999_9] {
        let fewest = rounds_min(confidence);
        assert!(interval_rank(fewest, confidence).is_some(), "{confidence}");
        assert_eq!(interval_rank(fewest - 1, confidence), None, "{confidence}");
    }
    assert_eq!(rounds_min(CONFIDENCE), ROUNDS_MIN);
}

#[test]
fn an_interval_excludes_one_only_from_one_side() {
    let interval = |low, high| Interval { low, high, confidence: 0.95 };
    assert!(interval(1.01, 1.2).excludes_one());
    assert!(interval(0.8, 0.99).excludes_one());
    assert!(!interval(1.0, 1.2).excludes_one());
    assert!(!interval(0.9, 1.1).excludes_one());
}

/// Draws values many times from a skewed distribution with a known median, and counts how often the interval encloses
/// it. The standard error of the share is 0.002, so the tolerance of 0.01 is five standard errors.
#[test]
fn intervals_enclose_the_truth_as_often_as_they_say() {
    const DRAWS: u32 = 10_000;
    let truth = std::f64::consts::LN_2; // median of the exponential distribution with mean 1
    let mut random = SplitMix64::new(20_261_121);
    for n in [6, 9, 20] {
        let mut enclosed = 0;
        let mut said = 0.0;
        for _ in 0..DRAWS {
            let values: Vec<f64> = (0..n).map(|_| -uniform(&mut random).ln()).collect();
            let interval = median_interval(&values, CONFIDENCE).unwrap();
            enclosed += u32::from(interval.low <= truth && truth <= interval.high);
            said = interval.confidence;
        }
        let share = f64::from(enclosed) / f64::from(DRAWS);
        assert!((share - said).abs() < 0.01, "n = {n}: says {said:.4}, encloses {share:.4}");
    }
}
