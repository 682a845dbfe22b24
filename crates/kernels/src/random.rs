//! Random numbers that cost what sysbench's do.

/// xoroshiro128+ 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021).
#[derive(Clone, Debug)]
pub(crate) struct Random([u64; 2]);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut state = seed;
        Self([split_mix(&mut state), split_mix(&mut state)])
    }

    /// A number from 0 to `end` - 1, as a product with a number of 52 random bits.
    #[inline]
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        let unit = f64::from_bits(0x3ff0_0000_0000_0000 | (self.number() >> 12)) - 1.0;
        (unit * end as f64) as i64 as u64
    }

    /// A number of 64 bits.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        let [first, mut second] = self.0;
        let result = first.wrapping_add(second);
        second ^= first;
        self.0 = [first.rotate_left(24) ^ second ^ (second << 16), second.rotate_left(37)];
        result
    }
}

/// `SplitMix64` (Steele, Lea and Flood, 2014), which the authors of xoroshiro recommend for its seeding.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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
