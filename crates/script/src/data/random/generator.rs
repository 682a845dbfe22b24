//! The random generator of a task.

/// Number of characters that are drawn at once.
const FILLED_AT_ONCE: usize = 64;

/// xoroshiro128+ 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), as in sysbench.
/// Each task has a generator of its own, so that a run is reproducible whatever the order of its tasks is.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    state: [u64; 2],
}

impl Generator {
    /// The generator of task `tid` in a run with this seed.
    pub(crate) fn new(seed: u64, tid: u32) -> Self {
        let mut mixed = seed ^ (u64::from(tid) << 32).rotate_left(17);
        Self { state: [split_mix(&mut mixed), split_mix(&mut mixed)] }
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        let [first, mut second] = self.state;
        let result = first.wrapping_add(second);
        second ^= first;
        self.state = [first.rotate_left(24) ^ second ^ (second << 16), second.rotate_left(37)];
        result
    }

    /// A number from 0 to below 1, from 52 random bits.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from_bits(0x3ff0_0000_0000_0000 | (self.next_u64() >> 12)) - 1.0
    }

    /// Replaces the bytes of `text` that equal `pattern` by uniform characters from `first` to `last`.
    ///
    /// Loading tables spends most of its time here, so the function is written for vector units. It draws a
    /// character for every byte, and reads 16 random bits as a fraction of the range. This makes some characters
    /// slightly more probable than others: by at most one part in 800 if there are 75 characters, and one part in
    /// 6,500 if there are ten digits. It does not affect indexes or compression.
    pub(crate) fn fill(&mut self, text: &mut [u8], pattern: u8, first: u8, last: u8) {
        let width = u32::from(last - first) + 1;
        for block in text.chunks_mut(FILLED_AT_ONCE) {
            let mut fractions = [0; FILLED_AT_ONCE];
            for four in fractions[..block.len().next_multiple_of(4)].chunks_exact_mut(4) {
                let word = self.next_u64();
                for (place, fraction) in four.iter_mut().enumerate() {
                    *fraction = (word >> (16 * place)) as u16;
                }
            }
            for (place, fraction) in block.iter_mut().zip(fractions) {
                let letter = first + ((u32::from(fraction) * width) >> 16) as u8;
                *place = if *place == pattern { letter } else { *place };
            }
        }
    }

    /// A uniform integer from `low` to `high`.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low.saturating_add((self.unit() * width(low, high)).floor() as i64)
    }
}

/// Number of integers from `low` to `high`.
pub(crate) fn width(low: i64, high: i64) -> f64 {
    high as f64 - low as f64 + 1.0
}

/// `SplitMix64` (Steele, Lea and Flood, 2014). The authors of xoroshiro recommend it for seeding.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First numbers of the authors' implementation for the state {1, 2}.
    #[test]
    fn follows_the_reference_implementation() {
        let mut generator = Generator { state: [1, 2] };
        let expected = [3, 412_333_834_243, 2_360_170_716_294_286_339, 9_295_852_285_959_843_169];
        assert_eq!(expected.map(|_| generator.next_u64()), expected);
    }

    #[test]
    fn tasks_and_seeds_differ_and_repeat() {
        let first = |seed, tid| Generator::new(seed, tid).next_u64();
        assert_eq!(first(7, 0), first(7, 0));
        assert_ne!(first(7, 0), first(7, 1));
        assert_ne!(first(7, 0), first(8, 0));
    }

    #[test]
    fn letters_are_all_alike_wherever_in_the_text() {
        const TEXTS: usize = 20_000;
        const LETTERS: usize = 70;
        for (first, last) in [(b'0', b'9'), (b'a', b'z'), (b'0', b'z')] {
            let width = usize::from(last - first) + 1;
            let mut counts = vec![[0_u32; LETTERS]; width];
            let mut generator = Generator::new(5, 0);
            for _ in 0..TEXTS {
                let mut text = [b'#'; LETTERS];
                text[LETTERS - 2] = b'-';
                generator.fill(&mut text, b'#', first, last);
                assert_eq!(text[LETTERS - 2], b'-');
                for (place, &letter) in text.iter().enumerate().filter(|&(place, _)| place != LETTERS - 2) {
                    counts[usize::from(letter - first)][place] += 1;
                }
            }
            let expected = TEXTS as f64 / width as f64;
            for (place, count) in counts.into_iter().flat_map(|counts| counts.into_iter().enumerate()) {
                // The limit is six standard deviations of a binomial count.
                let right = (f64::from(count) - expected).abs() < 6.0 * expected.sqrt();
                assert!(right || place == LETTERS - 2, "{count} of {expected} in place {place}");
            }
        }
    }

    #[test]
    fn units_lie_below_one() {
        let mut generator = Generator::new(1, 0);
        assert!((0..100_000).map(|_| generator.unit()).all(|unit| (0.0..1.0).contains(&unit)));
    }
}
