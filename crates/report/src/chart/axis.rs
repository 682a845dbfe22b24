//! Scales and their ticks.

use crate::wording::number::three_digits;

/// A scale that maps values to positions from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Axis {
    /// Linear: equal distances are equal differences.
    Linear {
        /// Value at position 0.
        min: f64,
        /// Value at position 1.
        max: f64,
    },
    /// Logarithmic: equal distances are equal factors.
    Log {
        /// Value at position 0. It is positive.
        min: f64,
        /// Value at position 1.
        max: f64,
    },
}

impl Axis {
    /// A linear scale from 0 to a round number that is at least the largest value.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let greatest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let max = if greatest > 0.0 { greatest } else { 1.0 };
        let step = round_step(max / 4.0);
        Self::Linear { min: 0.0, max: (max / step).ceil() * step }
    }

    /// A logarithmic scale from the smallest to the largest value.
    pub(crate) fn logarithmic(values: impl Iterator<Item = f64> + Clone) -> Self {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let min = positive.clone().fold(f64::INFINITY, f64::min);
        let max = positive.fold(0.0, f64::max);
        if !min.is_finite() {
            return Self::Log { min: 1.0, max: 10.0 };
        }
        if max > min { Self::Log { min, max } } else { Self::Log { min: min / 2.0, max: max * 2.0 } }
    }

    /// Position of a value on the scale, from 0 to 1.
    pub(crate) fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear { min, max } => (value - min) / (max - min),
            Self::Log { min, max } => (value / min).ln() / (max / min).ln(),
        }
    }

    /// Round values along the scale, with their labels.
    pub(crate) fn ticks(self) -> Vec<(f64, String)> {
        let named = |value: f64| (value, short(value));
        match self {
            Self::Linear { min, max } => {
                let step = round_step((max - min) / 4.0);
                let count = ((max - min) / step + 1e-9).floor() as usize;
                (0..=count).map(|at| named(min + at as f64 * step)).collect()
            }
            Self::Log { min, max } => {
                let powers = min.log10().floor() as i32..=max.log10().ceil() as i32;
                let wide = max / min > 150.0;
                let within = |value: &f64| *value >= min * 0.999 && *value <= max * 1.001;
                let factors: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
                powers
                    .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)))
                    .filter(within)
                    .map(named)
                    .collect()
            }
        }
    }
}

/// Rounds up to the next number that is 1, 2, 2.5 or 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= rough * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// Formats a number in a short form: `12k`, `1.5M`. Small numbers have no suffix.
pub(crate) fn short(value: f64) -> String {
    let scaled = |unit: f64, name: &str| {
        let text = format!("{:.1}", value / unit);
        format!("{}{name}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1e9 => scaled(1e9, "G"),
        size if size >= 1e6 => scaled(1e6, "M"),
        size if size >= 1e4 => scaled(1e3, "k"),
        size if size >= 1.0 => scaled(1.0, ""),
        _ => three_digits(value).trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn a_linear_scale_ends_at_a_round_number() {
        let axis = Axis::from_zero([13_400.0, 9_000.0].into_iter());
        assert_eq!(axis, Axis::Linear { min: 0.0, max: 15_000.0 });
        assert_eq!(names(axis), ["0", "5000", "10k", "15k"]);
        assert_eq!(names(Axis::from_zero(std::iter::empty())), ["0", "0.25", "0.5", "0.75", "1"]);
    }

    #[test]
    fn a_logarithmic_scale_has_ticks_within_its_ends() {
        assert_eq!(names(Axis::Log { min: 0.5, max: 4.0 }), ["0.5", "1", "2"]);
        assert_eq!(names(Axis::Log { min: 1.0, max: 1e6 }), ["1", "10", "100", "1000", "10k", "100k", "1M"]);
        assert!((Axis::Log { min: 1.0, max: 100.0 }.place(10.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn one_value_is_in_the_middle_of_its_scale() {
        assert!((Axis::logarithmic([8.0].into_iter()).place(8.0) - 0.5).abs() < 1e-9);
    }
}
