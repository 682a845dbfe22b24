//! The hash functions and the permutation of pgbench.

use super::random::Generator;

/// The 64-bit FNV-1a hash (Fowler, Noll and Vo) of the bytes of a number, lowest byte first. The seed changes the
/// initial value.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    value.to_le_bytes().into_iter().fold(BASIS ^ seed as u64, hash) as i64
}

/// `MurmurHash64A` (Austin Appleby) of the eight bytes of a number.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mixed = (value as u64).wrapping_mul(MULTIPLIER);
    let mixed = (mixed ^ (mixed >> SHIFT)).wrapping_mul(MULTIPLIER);
    let hash = seed as u64 ^ MULTIPLIER.wrapping_mul(size_of::<i64>() as u64);
    let hash = (hash ^ mixed).wrapping_mul(MULTIPLIER);
    let hash = (hash ^ (hash >> SHIFT)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> SHIFT)) as i64
}

/// Number of rounds in which the permutation mixes.
const ROUNDS: usize = 6;

/// Permutes the numbers from 0 to `size - 1` at random, and returns the number to which `value` modulo `size` is
/// mapped. `size` is at least 1.
///
/// Let 2^`bits` be the largest power of two that is not above `size`. Each round mixes the lowest 2^`bits` numbers,
/// then the highest 2^`bits` numbers (the two sets overlap), and then shifts all numbers by a random offset. Each step
/// is a bijection.
pub(super) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut random = Generator::seeded(seed as u64);
    let size = size as u64;
    let mut place = value as u64 % size;
    let bits = size.ilog2();
    for _ in 0..ROUNDS {
        place = mix(place, bits, &mut random);
        place = size - 1 - mix(size - 1 - place, bits, &mut random);
        place = (place + random.up_to(size - 1)) % size;
    }
    place as i64
}

/// Mixes a number below 2^`bits`: multiplies it by a random odd factor, flips random bits, and rotates. A larger
/// number is returned unchanged.
fn mix(number: u64, bits: u32, random: &mut Generator) -> u64 {
    let mask = (1 << bits) - 1;
    let factor = (random.next() & mask) | 1;
    let flipped = random.next() & mask;
    if number > mask {
        return number;
    }
    let mixed = (number.wrapping_mul(factor) ^ flipped) & mask;
    ((mixed << 1) & mask) | (mixed >> (bits - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of PostgreSQL's own tests.
    #[test]
    fn hashes_are_those_of_pgbench() {
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
    }

    /// The expected values are those of PostgreSQL's own tests.
    #[test]
    fn permutations_are_those_of_pgbench() {
        assert_eq!([0, 1].map(|value| permute(value, 2, 5431)), [0, 1]);
        assert_eq!([0, 1].map(|value| permute(value, 2, 5433)), [1, 0]);
        let size = i64::MAX - 10;
        let places = [1, 2, 3, 4, 5, 6, 7].map(|below| permute(size - below, size, 5432));
        let expected = [
            520_382_784_483_822_430,
            1_143_715_004_660_802_862,
            447_293_596_416_496_998,
            916_527_772_266_572_956,
            2_763_809_008_686_028_849,
            8_648_551_549_198_294_572,
            4_542_876_852_200_565_125,
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn no_two_numbers_have_the_same_place() {
        for size in [1, 2, 3, 5, 16, 17, 100] {
            let mut places: Vec<i64> = (0..size).map(|value| permute(value, size, 3)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..size).collect::<Vec<_>>());
        }
        assert_eq!(permute(107, 100, 3), permute(7, 100, 3));
    }
}
