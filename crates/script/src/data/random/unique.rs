//! Random numbers without repetition.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::generator::split_mix;

/// The largest prime below 2³² that is 3 modulo 4.
const PRIME: u64 = 4_294_967_291;

/// Rounds of [`Scramble`].
const ROUNDS: usize = 3;

/// Counts the unique numbers that have been drawn from each range. All runtimes of a run share these counters.
#[derive(Clone, Debug)]
pub struct UniqueCounters {
    counters: Arc<Mutex<HashMap<Option<u64>, Arc<AtomicU64>>>>,
    /// This process draws the numbers at the indexes `first`, `first + step`, and so on.
    first: u64,
    step: u64,
}

impl Default for UniqueCounters {
    fn default() -> Self {
        Self::of_part(0, 1)
    }
}

impl UniqueCounters {
    /// Counters for the process with this number (from 0) of `of` processes. All processes draw different numbers.
    pub fn of_part(number: u32, of: u32) -> Self {
        Self { counters: Arc::default(), first: u64::from(number), step: u64::from(of) }
    }

    /// The counter of a range of `size` numbers. Without a size, the counter of all 32-bit numbers.
    fn of(&self, size: Option<u64>) -> Counter {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let drawn = Arc::clone(counters.entry(size).or_default());
        Counter { drawn, first: self.first, step: self.step }
    }
}

/// Counts the numbers drawn from a range. Returns the index of this process's next number.
#[derive(Clone, Debug)]
struct Counter {
    drawn: Arc<AtomicU64>,
    first: u64,
    step: u64,
}

impl Counter {
    fn next(&self) -> u64 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        self.first.wrapping_add(drawn.wrapping_mul(self.step))
    }
}

/// Returns each number once, in a pseudo-random order. No two threads that share the counters get the same number.
#[derive(Clone, Debug)]
pub(crate) struct Unique {
    seed: u64,
    counters: UniqueCounters,
    unbounded: Counter,
    offset: u32,
    mask: u32,
    /// The permutations of the ranges used so far, by size.
    ranges: HashMap<u64, Scramble>,
}

impl Unique {
    pub(crate) fn new(seed: u64, counters: UniqueCounters) -> Self {
        let mut state = seed;
        let secret = split_mix(&mut state);
        Self {
            seed,
            unbounded: counters.of(None),
            counters,
            offset: secret as u32,
            mask: (secret >> 32) as u32,
            ranges: HashMap::new(),
        }
    }

    /// Returns the next of all 32-bit numbers.
    ///
    /// For a prime p ≡ 3 (mod 4), x ↦ x² mod p maps the numbers x < p/2 one to one, and p − x² mod p maps the other
    /// numbers to the rest. Together they are a permutation of the numbers below p (Gauss; used for this purpose by
    /// Preshing, "How to generate a sequence of unique random integers", 2012). The permutation is applied twice,
    /// with a secret step in between, so that the squares cannot be seen.
    pub(crate) fn next(&self) -> u32 {
        let index = self.unbounded.next() as u32;
        permute(permute(index).wrapping_add(self.offset) ^ self.mask)
    }

    /// Returns the next of the numbers from 0 to `size` − 1. `size` must be above 0. When all numbers have been
    /// drawn, they repeat in the same order.
    pub(crate) fn next_below(&mut self, size: u64) -> u64 {
        let (counters, seed) = (&self.counters, self.seed);
        let range =
            self.ranges.entry(size).or_insert_with(|| Scramble::new(size, seed, counters.of(Some(size))));
        range.next()
    }
}

fn permute(x: u32) -> u32 {
    let x = u64::from(x);
    if x >= PRIME {
        return x as u32;
    }
    let residue = x * x % PRIME;
    (if x <= PRIME / 2 { residue } else { PRIME - residue }) as u32
}

/// A permutation of the numbers below a size. It applies a permutation of the numbers below the next power of two,
/// and repeats this until the value is below the size (cycle walking; Black and Rogaway, "Ciphers with arbitrary
/// finite domains", 2002). On average, this takes at most two applications.
#[derive(Clone, Debug)]
struct Scramble {
    size: u64,
    counter: Counter,
    /// The next power of two, minus 1.
    mask: u64,
    shift: u32,
    /// For each round, an odd factor and a summand.
    keys: [(u64, u64); ROUNDS],
}

impl Scramble {
    fn new(size: u64, seed: u64, counter: Counter) -> Self {
        let bits = u64::BITS - (size - 1).leading_zeros();
        let mask = if bits == u64::BITS { u64::MAX } else { (1 << bits) - 1 };
        let mut state = seed ^ size;
        let mut key = || (split_mix(&mut state) | 1, split_mix(&mut state));
        Self { size, counter, mask, shift: bits.div_ceil(2).max(1), keys: [key(), key(), key()] }
    }

    fn next(&self) -> u64 {
        let mut number = self.counter.next() % self.size;
        loop {
            number = self.permute(number);
            if number < self.size {
                return number;
            }
        }
    }

    /// Each step is invertible: a sum, a product with an odd number, and a xor with the upper bits, all modulo a
    /// power of two.
    fn permute(&self, mut number: u64) -> u64 {
        for (factor, summand) in self.keys {
            number = number.wrapping_add(summand).wrapping_mul(factor) & self.mask;
            number ^= number >> self.shift;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn processes_draw_different_numbers() {
        let mut parts = [0, 1, 2].map(|number| Unique::new(7, UniqueCounters::of_part(number, 3)));
        let mut drawn: Vec<u64> =
            (0..10).flat_map(|_| parts.each_mut().map(|part| part.next_below(30))).collect();
        drawn.sort_unstable();
        assert_eq!(drawn, (0..30).collect::<Vec<u64>>());
    }

    #[test]
    fn numbers_never_repeat_across_threads_and_follow_the_seed() {
        let counters = UniqueCounters::default();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let unique = Unique::new(9, counters.clone());
                std::thread::spawn(move || (0..50_000).map(|_| unique.next()).collect::<Vec<_>>())
            })
            .collect();
        let all: HashSet<u32> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(all.len(), 200_000);
        let alone = Unique::new(9, UniqueCounters::default());
        assert!((0..200_000).all(|_| all.contains(&alone.next())));
        let other = Unique::new(10, UniqueCounters::default());
        assert_ne!(Unique::new(9, UniqueCounters::default()).next(), other.next());
    }

    #[test]
    fn the_permutation_is_one_to_one_at_its_edges() {
        let edges = (0..1000)
            .chain((PRIME / 2) as u32 - 500..(PRIME / 2) as u32 + 500)
            .chain(u32::MAX - 1000..=u32::MAX);
        let images: HashSet<u32> = edges.clone().map(permute).collect();
        assert_eq!(images.len(), edges.count());
    }

    #[test]
    fn each_number_of_a_range_comes_once_whatever_is_drawn_of_others_meanwhile() {
        let mut unique = Unique::new(7, UniqueCounters::default());
        for size in [1, 2, 3, 10, 1000, 1024, 1025, 100_000] {
            let drawn: HashSet<u64> = (0..size)
                .map(|_| {
                    unique.next_below(77);
                    unique.next_below(size)
                })
                .collect();
            assert_eq!((drawn.len() as u64, drawn.iter().max()), (size, Some(&(size - 1))), "{size}");
        }
        let first: Vec<u64> =
            (0..20).map(|_| Unique::new(7, UniqueCounters::default()).next_below(20)).collect();
        assert!(first.windows(2).all(|pair| pair[0] == pair[1]), "the same seed begins alike");
        assert!(unique.next_below(u64::MAX) < u64::MAX);
    }

    #[test]
    fn the_order_of_a_range_looks_random() {
        let mut unique = Unique::new(7, UniqueCounters::default());
        let drawn: Vec<u64> = (0..1000).map(|_| unique.next_below(1000)).collect();
        let rising = drawn.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((400..600).contains(&rising), "{rising} of 999 steps go up");
    }
}
