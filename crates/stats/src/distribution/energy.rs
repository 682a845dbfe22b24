//! Energy distances of all splits of a series, from which change points are computed.

/// A table that gives, in constant time, the sum of the distances between the values of any two segments of a series.
pub(crate) struct Distances {
    n: usize,
    /// Row-major (n + 1)²: `sums[i][j]` is the sum of the distances of the first i values to the first j.
    sums: Vec<f64>,
}

impl Distances {
    pub(crate) fn new(values: &[f64]) -> Self {
        let mut distances = Self { n: values.len(), sums: vec![0.0; (values.len() + 1).pow(2)] };
        distances.fill(values);
        distances
    }

    /// Fills the table for another series of the same length.
    pub(crate) fn fill(&mut self, values: &[f64]) {
        let width = self.n + 1;
        for (i, a) in values.iter().enumerate() {
            let mut row = 0.0;
            for (j, b) in values.iter().enumerate() {
                row += (a - b).abs();
                self.sums[(i + 1) * width + j + 1] = self.sums[i * width + j + 1] + row;
            }
        }
    }

    /// Sum of the distances between the values of `from..middle` and those of `middle..to`.
    fn between(&self, from: usize, middle: usize, to: usize) -> f64 {
        let at = |i: usize, j: usize| self.sums[i * (self.n + 1) + j];
        at(middle, to) - at(from, to) - at(middle, middle) + at(from, middle)
    }

    /// Sum of the distances of all pairs of values within `from..to`.
    fn within(&self, from: usize, to: usize) -> f64 {
        let at = |i: usize, j: usize| self.sums[i * (self.n + 1) + j];
        0.5 * at(to, to) - at(from, to) + 0.5 * at(from, from)
    }

    /// Scaled energy distance between the segments `from..middle` and `middle..to`: mn/(m+n) · (2/(mn)·Σ|X−Y| −
    /// Σ|X−X′|/C(m,2) − Σ|Y−Y′|/C(n,2)), equation 5 of Matteson and James with α = 1.
    fn divergence(&self, from: usize, middle: usize, to: usize) -> f64 {
        let (m, n) = ((middle - from) as f64, (to - middle) as f64);
        let pairs = |count: f64| count * (count - 1.0) / 2.0;
        m * n / (m + n)
            * (2.0 / (m * n) * self.between(from, middle, to)
                - self.within(from, middle) / pairs(m)
                - self.within(middle, to) / pairs(n))
    }

    /// The best split of the segment `from..to` into parts of at least `segment_min` values. It maximises the
    /// divergence over both the change τ and the end κ of the second part, so that a later change does not hide an
    /// earlier one.
    pub(crate) fn best_split(&self, from: usize, to: usize, segment_min: usize) -> Option<Split> {
        let mut best: Option<Split> = None;
        for middle in from + segment_min..=to.saturating_sub(segment_min) {
            for end in middle + segment_min..=to {
                let divergence = self.divergence(from, middle, end);
                if best.is_none_or(|best| divergence > best.divergence) {
                    best = Some(Split { middle, divergence });
                }
            }
        }
        best
    }
}

/// A split of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    /// Index of the first value of the second part.
    pub(crate) middle: usize,
    /// Scaled energy distance between the parts.
    pub(crate) divergence: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, normal};

    /// The scaled energy distance, computed from its definition term by term.
    fn by_definition(x: &[f64], y: &[f64]) -> f64 {
        let sum = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().map(|a| b.iter().map(|b| (a - b).abs()).sum::<f64>()).sum()
        };
        let (m, n) = (x.len() as f64, y.len() as f64);
        m * n / (m + n)
            * (2.0 / (m * n) * sum(x, y) - sum(x, x) / (m * (m - 1.0)) - sum(y, y) / (n * (n - 1.0)))
    }

    #[test]
    fn divergences_are_those_of_the_definition() {
        let mut random = SplitMix64::new(1);
        let values: Vec<f64> = (0..12).map(|_| normal(&mut random)).collect();
        let distances = Distances::new(&values);
        for (from, middle, to) in [(0, 6, 12), (2, 5, 9), (3, 10, 12), (0, 2, 4)] {
            let expected = by_definition(&values[from..middle], &values[middle..to]);
            assert_close(distances.divergence(from, middle, to), expected, 1e-10);
        }
    }

    #[test]
    fn a_later_change_does_not_hide_an_earlier_one() {
        let values = [[1.0; 6], [5.0; 6], [1.0; 6]].concat();
        let split = Distances::new(&values).best_split(0, 18, 3).unwrap();
        assert!([6, 12].contains(&split.middle), "{split:?}");
        assert_eq!(Distances::new(&values).best_split(0, 5, 3), None);
    }
}
