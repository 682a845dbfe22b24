//! Thins series for display, but keeps extremes. Statistics are computed from all values.

/// A way to thin a series: the series is cut into buckets of `bucket` values, and two points replace each bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thinning {
    bucket: usize,
}

impl Thinning {
    /// Thins `len` values to at most `points_max` points.
    pub(crate) fn new(len: usize, points_max: usize) -> Self {
        // A bucket of several values becomes two points. It must have at least three values, because buckets of two
        // values would not shorten the series.
        let bucket = if len <= points_max { 1 } else { len.div_ceil(points_max.max(2) / 2) };
        Self { bucket }
    }

    /// The number of values that two points replace; 1 if all values are kept.
    pub(crate) fn bucket(self) -> usize {
        self.bucket
    }

    /// The smallest and largest value of each bucket, in their original order.
    pub(crate) fn thin(self, values: &[Option<f64>]) -> Vec<Option<f64>> {
        if self.bucket == 1 {
            return values.to_vec();
        }
        values.chunks(self.bucket).flat_map(extremes).collect()
    }

    /// Positions at which the points are drawn, in a series of `len` values: the positions of the first and the last
    /// value of each bucket.
    pub(crate) fn places(self, len: usize) -> Vec<usize> {
        if self.bucket == 1 {
            return (0..len).collect();
        }
        (0..len).step_by(self.bucket).flat_map(|start| [start, (start + self.bucket).min(len) - 1]).collect()
    }
}

fn extremes(bucket: &[Option<f64>]) -> [Option<f64>; 2] {
    let known = || bucket.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?)));
    let (Some(least), Some(greatest)) =
        (known().min_by(|a, b| a.1.total_cmp(&b.1)), known().max_by(|a, b| a.1.total_cmp(&b.1)))
    else {
        return [None, None];
    };
    if least.0 <= greatest.0 { [Some(least.1), Some(greatest.1)] } else { [Some(greatest.1), Some(least.1)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let values = some(&[1.0, 2.0, 3.0]);
        assert_eq!(Thinning::new(3, 3).thin(&values), values);
        assert_eq!(Thinning::new(3, 3).places(3), [0, 1, 2]);
    }

    #[test]
    fn extremes_survive_in_their_order() {
        let values = some(&[5.0, 9.0, 1.0, 5.0, 0.0, 7.0, 5.0]);
        let thinning = Thinning::new(7, 4);
        assert_eq!(thinning.bucket(), 4);
        assert_eq!(thinning.thin(&values), some(&[9.0, 1.0, 0.0, 7.0]));
        assert_eq!(thinning.places(7), [0, 3, 4, 6]);
    }

    #[test]
    fn nothing_known_stays_unknown() {
        assert_eq!(Thinning::new(4, 2).thin(&[None; 4]), [None, None]);
    }
}
