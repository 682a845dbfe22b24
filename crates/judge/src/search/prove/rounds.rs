//! The number of rounds of the probes of a proof.

use dyno_stats::student_quantile;

use super::effect::SHARE_THAT_SHOWS;

/// Fewest rounds of a probe. With fewer, the estimate of the spread would be too uncertain.
const ROUNDS_MIN: usize = 4;

/// Number of rounds of a probe, at most `rounds_max`. If `rounds_max` allows it, the rounds are enough to distinguish a
/// change that causes the difference from a change without effect: Student's interval is then at most as wide as the
/// distance between no effect and the threshold, `SHARE_THAT_SHOWS`. `ln_ratios` are the log ratios of the rounds in
/// which the difference was measured again, and `alpha` is the error probability of a probe.
pub fn rounds_for(ln_ratios: &[f64], alpha: f64, rounds_max: u32) -> u32 {
    let n = ln_ratios.len() as f64;
    let mean = ln_ratios.iter().sum::<f64>() / n;
    let deviation = (ln_ratios.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let wanted = mean.abs() * SHARE_THAT_SHOWS / 2.0;
    let is_enough = |rounds: &usize| {
        let rounds = *rounds as f64;
        student_quantile(alpha / 2.0, rounds - 1.0) * deviation / rounds.sqrt() <= wanted
    };
    let most = rounds_max as usize;
    (ROUNDS_MIN.min(most)..most).find(is_enough).unwrap_or(most) as u32
}

/// Number of rounds of a repeated probe, if the probe was undecided after `rounds` rounds. It is twice as many, but at
/// least `rounds_max`. With 12 rounds and an error probability of 0.2%, Student's interval is about a third as wide as
/// with 5 rounds, and a quarter as wide as with 4.
pub fn rounds_again(rounds: u32, rounds_max: u32) -> u32 {
    (2 * rounds).max(rounds_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_difference_takes_few_rounds_and_a_small_one_in_noise_all() {
        let around = |ratio: f64, spread: f64| -> Vec<f64> {
            [-1.0, 1.0, -0.5, 0.5, 0.2, -0.2].map(|at| ratio.ln() + at * spread).to_vec()
        };
        assert_eq!(rounds_for(&around(0.57, 0.01), 0.002, 12), 4);
        let middle = rounds_for(&around(0.9, 0.01), 0.002, 12);
        assert!((5..12).contains(&middle), "{middle}");
        assert_eq!(rounds_for(&around(0.97, 0.05), 0.002, 12), 12);
        assert_eq!(rounds_for(&around(0.57, 0.01), 0.002, 3), 3);
    }

    #[test]
    fn a_probe_that_is_made_again_has_twice_the_rounds_and_the_usual_most_at_least() {
        assert_eq!([3, 5, 6, 7, 12].map(|rounds| rounds_again(rounds, 12)), [12, 12, 12, 14, 24]);
    }
}
