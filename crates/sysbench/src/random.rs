//! Random numbers for tests that must not wait for them.

/// `SplitMix64` (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 to `end` - 1, by the high half of a product (Lemire, *Fast random integer generation in an
    /// interval*, 2019, without its rejection: the bias is `end` / 2⁶⁴).
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_stay_below_their_end_and_reach_every_value() {
        let mut random = Random::new(1);
        let mut seen = [0; 8];
        (0..8000).for_each(|_| seen[random.below(8) as usize] += 1);
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
    }
}
