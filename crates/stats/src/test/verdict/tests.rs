use super::*;
use crate::distribution::random::SplitMix64;
use crate::ratio_of_rounds;
use crate::testing::{assert_close, hits_max, rates};

fn interval(low: f64, high: f64) -> Interval {
    Interval { low, high, confidence: 0.95 }
}

fn two_percent() -> Margin {
    Margin::new(0.02).unwrap()
}

#[test]
fn the_whole_interval_decides() {
    for (low, high, expected) in [
        (1.03, 1.09, Verdict::Improved),
        (1.01, 1.09, Verdict::NotEnoughEvidence),
        (0.99, 1.01, Verdict::Same),
        (0.99, 1.03, Verdict::NotEnoughEvidence),
        (0.97, 0.99, Verdict::NotEnoughEvidence),
        (0.90, 0.97, Verdict::Regressed),
    ] {
        assert_eq!(
            verdict(Some(interval(low, high)), two_percent(), Better::Higher),
            expected,
            "{low}–{high}"
        );
    }
    assert_eq!(verdict(None, two_percent(), Better::Higher), Verdict::NotEnoughEvidence);
}

#[test]
fn a_higher_cost_is_a_regression() {
    assert_eq!(verdict(Some(interval(1.03, 1.09)), two_percent(), Better::Lower), Verdict::Regressed);
    assert_eq!(verdict(Some(interval(0.90, 0.97)), two_percent(), Better::Lower), Verdict::Improved);
    assert!(rules_out_regression(Some(interval(0.5, 1.02)), two_percent(), Better::Lower));
    assert!(!rules_out_regression(Some(interval(0.5, 1.03)), two_percent(), Better::Lower));
    assert!(rules_out_regression(Some(interval(0.99, 9.0)), two_percent(), Better::Higher));
    assert!(!rules_out_regression(None, two_percent(), Better::Higher));
}

fn interval_of(ratios: &[f64]) -> Option<Interval> {
    let ln_ratios: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    ratio_of_rounds(&ln_ratios, two_percent(), 0.95)?.interval
}

#[test]
fn the_verdict_turns_round_with_the_systems() {
    let mut random = SplitMix64::new(4);
    for _ in 0..1000 {
        let ratios = rates(&mut random, 10, 1.02, 0.02);
        let inverse: Vec<f64> = ratios.iter().map(|ratio| 1.0 / ratio).collect();
        let judge = |ratios: &[f64], better| verdict(interval_of(ratios), two_percent(), better);
        assert_eq!(judge(&ratios, Better::Higher), judge(&inverse, Better::Lower));
    }
}

#[test]
fn equals_that_differ_raise_the_margin_and_uncertain_ones_do_not() {
    let margin = |low: f64, high: f64| two_percent().raised_by(interval(low, high)).relative();
    assert_close(margin(0.998, 1.002), 0.02, 1e-12);
    assert_close(margin(0.9, 1.05), 0.02, 1e-12);
    assert_close(margin(1.01, 1.05), 0.02, 1e-12);
    assert_close(margin(1.03, 1.05), 0.05, 1e-12);
    assert_close(margin(0.9, 0.95), 1.0 / 0.9 - 1.0, 1e-12);
    assert_eq!(two_percent().max(Margin::new(0.01).unwrap()), two_percent());
}

#[test]
fn rounds_that_are_missing() {
    assert_eq!(more_rounds(1.3, None, 2, 6, two_percent()), Some(4));
    // The interval would give a verdict, but there are too few rounds.
    assert_eq!(more_rounds(1.3, Some(interval(1.2, 1.4)), 3, 9, two_percent()), Some(6));
    // The interval reaches twice as far as the margin's edge, so four times the rounds are needed.
    let centre = 1.02_f64.powi(3);
    let reach = Some(interval(centre / 1.02_f64.powi(4), centre * 1.5));
    assert_eq!(more_rounds(centre, reach, 10, 6, two_percent()), Some(30));
    let reach = Some(interval(0.1, 1.02_f64.powi(4) / centre));
    assert_eq!(more_rounds(1.0 / centre, reach, 10, 6, two_percent()), Some(30));
    // Within the margin, the edge that takes more rounds counts.
    assert_eq!(more_rounds(1.0, Some(interval(0.99, 1.02_f64.powi(2))), 10, 6, two_percent()), Some(30));
    assert_eq!(more_rounds(1.02, Some(interval(0.9, 1.1)), 10, 6, two_percent()), None);
}

#[test]
fn no_margin_below_zero() {
    assert_eq!(Margin::new(-0.1), None);
    assert_eq!(Margin::new(f64::NAN), None);
    assert_eq!(Margin::new(0.0).map(Margin::relative), Some(0.0));
}

/// Numbers of experiments with each verdict, on rates with 2% noise and outliers.
fn shares(ratio: f64, rounds: usize, margin: f64) -> (u32, u32, u32) {
    let mut random = SplitMix64::new(20_261_122);
    let mut counts = (0, 0, 0);
    for _ in 0..2000 {
        let base = rates(&mut random, rounds, 1000.0, 0.02);
        let candidate = rates(&mut random, rounds, 1000.0 * ratio, 0.02);
        let ratios: Vec<f64> = base.iter().zip(&candidate).map(|(base, own)| own / base).collect();
        let interval = interval_of(&ratios);
        match verdict(interval, Margin::new(margin).unwrap(), Better::Higher) {
            Verdict::Improved => counts.0 += 1,
            Verdict::Regressed => counts.1 += 1,
            Verdict::Same => counts.2 += 1,
            Verdict::NotEnoughEvidence => {}
        }
    }
    counts
}

#[test]
fn between_equals_alarms_are_as_rare_as_promised() {
    for rounds in [6, 10, 20] {
        let (improved, regressed, _) = shares(1.0, rounds, 0.0);
        assert!(improved + regressed <= hits_max(2000, 0.05), "{rounds}: {improved} + {regressed}");
        let (improved, regressed, _) = shares(1.0, rounds, 0.02);
        assert!(improved + regressed <= hits_max(2000, 0.01), "{rounds}: {improved} + {regressed}");
    }
}

#[test]
fn a_true_change_on_the_margin_is_rarely_called_the_same() {
    for rounds in [10, 40] {
        let (_, _, same) = shares(1.02, rounds, 0.02);
        assert!(same <= hits_max(2000, 0.025), "{rounds}: {same}");
    }
}

#[test]
fn a_planted_five_percent_is_found_with_enough_rounds() {
    let power = |rounds| f64::from(shares(1.0 / 1.05, rounds, 0.02).1) / 2000.0;
    assert_close(power(10), 0.53, 0.03);
    assert_close(power(20), 0.87, 0.03);
    assert_close(power(40), 0.99, 0.02);
}
