//! Numbers that never repeat.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::generator::split_mix;

/// The largest prime below 2³² that is 3 modulo 4.
const PRIME: u64 = 4_294_967_291;

/// Gives each 32-bit number once, in an order that looks random, over all threads that share the counter.
///
/// For a prime p ≡ 3 (mod 4), x ↦ x² mod p maps x < p/2 one to one, and p − x² mod p takes the rest: a
/// permutation of the numbers below p (Gauss; used for this by Preshing, "How to generate a sequence of
/// unique random integers", 2012). Two of them with a secret step between hide the squares.
#[derive(Clone, Debug)]
pub(crate) struct Unique {
    counter: Arc<AtomicU64>,
    offset: u32,
    mask: u32,
}

impl Unique {
    pub(crate) fn new(seed: u64, counter: Arc<AtomicU64>) -> Self {
        let mut state = seed;
        let secret = split_mix(&mut state);
        Self { counter, offset: secret as u32, mask: (secret >> 32) as u32 }
    }

    pub(crate) fn next(&self) -> u32 {
        let index = self.counter.fetch_add(1, Ordering::Relaxed) as u32;
        permute(permute(index).wrapping_add(self.offset) ^ self.mask)
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_never_repeat_across_threads_and_follow_the_seed() {
        let counter = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let unique = Unique::new(9, counter.clone());
                std::thread::spawn(move || (0..50_000).map(|_| unique.next()).collect::<Vec<_>>())
            })
            .collect();
        let all: HashSet<u32> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(all.len(), 200_000);
        let alone = Unique::new(9, Arc::default());
        assert!((0..200_000).all(|_| all.contains(&alone.next())));
        let other = Unique::new(10, Arc::default());
        assert_ne!(Unique::new(9, Arc::default()).next(), other.next());
    }

    #[test]
    fn the_permutation_is_one_to_one_at_its_edges() {
        let edges = (0..1000)
            .chain((PRIME / 2) as u32 - 500..(PRIME / 2) as u32 + 500)
            .chain(u32::MAX - 1000..=u32::MAX);
        let images: HashSet<u32> = edges.clone().map(permute).collect();
        assert_eq!(images.len(), edges.count());
    }
}
