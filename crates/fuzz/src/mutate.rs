//! Makes new inputs from the inputs of a corpus. The same seed and the same number always give the same input, so a
//! case can be reproduced.

use crate::corpus::{Corpus, Seed};

/// Largest number of mutations of one input.
const MUTATIONS_MAX: u64 = 6;
/// Byte values at which the behaviour of a reader often changes.
const EDGES: [u8; 12] = [0, 1, 2, 0x7F, 0x80, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, b'$'];

/// Makes inputs from a corpus.
pub struct Mutator {
    corpus: Corpus,
    seed: u64,
}

impl Mutator {
    pub fn new(corpus: Corpus, seed: u64) -> Self {
        Self { corpus, seed }
    }

    /// Returns the case with this number.
    pub fn case(&self, number: u64) -> Vec<u8> {
        let mut random = Random::new(self.seed, number);
        if let Some(make) = self.corpus.make {
            return make(number, &mut random);
        }
        let seeds = &self.corpus.seeds;
        let mut seed = seeds[random.index(seeds.len())].clone();
        for _ in 0..=random.below(MUTATIONS_MAX) {
            self.mutate(&mut seed, &mut random);
        }
        let mut bytes = seed.bytes(self.corpus.framing);
        // Until here, every frame contains its correct length. In a quarter of the cases, bytes anywhere in the input
        // are changed too, so that some lengths are wrong.
        if random.below(4) == 0 {
            scramble(&mut bytes, &mut random);
        }
        bytes
    }

    /// Changes a part, the order of the parts or their number.
    fn mutate(&self, seed: &mut Seed, random: &mut Random) {
        let count = seed.parts.len();
        if count == 0 {
            seed.parts.push(Vec::new());
            return;
        }
        let at = random.index(count);
        match random.below(16) {
            0 if count > 1 => drop(seed.parts.remove(at)),
            1 => {
                let twin = seed.parts[at].clone();
                seed.parts.insert(random.index(count + 1), twin);
            }
            2 => seed.parts.swap(at, random.index(count)),
            3 => seed.parts.truncate(at + 1),
            4 => {
                let other = &self.corpus.seeds[random.index(self.corpus.seeds.len())];
                if !other.parts.is_empty() {
                    seed.parts[at].clone_from(&other.parts[random.index(other.parts.len())]);
                }
            }
            5 if !seed.head.is_empty() => {
                let place = random.index(seed.head.len());
                seed.head[place] ^= 1 << random.below(8);
            }
            6 => {
                let other = &self.corpus.seeds[random.index(self.corpus.seeds.len())];
                if !other.parts.is_empty() {
                    splice(&mut seed.parts[at], &other.parts[random.index(other.parts.len())], random);
                }
            }
            _ => scramble(&mut seed.parts[at], random),
        }
    }
}

/// Replaces the end of one byte string by the end of another.
fn splice(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    bytes.truncate(random.index(bytes.len() + 1));
    bytes.extend_from_slice(&other[random.index(other.len() + 1)..]);
}

/// Changes, inserts, removes or copies a few bytes.
fn scramble(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.index(bytes.len() + 1);
    let Some(byte) = bytes.get_mut(at) else {
        bytes.push(random.below(256) as u8);
        return;
    };
    match random.below(9) {
        0 => *byte ^= 1 << random.below(8),
        1 => *byte = random.below(256) as u8,
        2 | 3 => *byte = EDGES[random.index(EDGES.len())],
        4 => *byte = byte.wrapping_add(1),
        5 => bytes.insert(at, EDGES[random.index(EDGES.len())]),
        6 => {
            let end = (at + 1 + random.index(8)).min(bytes.len());
            bytes.drain(at..end);
        }
        7 => {
            let end = (at + 1 + random.index(16)).min(bytes.len());
            let copied = bytes[at..end].to_vec();
            let to = random.index(bytes.len());
            bytes.splice(to..to, copied);
        }
        _ => {
            let end = (at + 1 + random.index(8)).min(bytes.len());
            let edge = EDGES[random.index(EDGES.len())];
            bytes[at..end].fill(edge);
        }
    }
}

/// A random number generator: Marsaglia's xorshift64 (Journal of Statistical Software 8(14), 2003), seeded by
/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, number: u64) -> Self {
        let mut mixed = (seed ^ number.rotate_left(32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((mixed ^ (mixed >> 31)).max(1))
    }

    /// A random number below `limit`, which must be above 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % limit
    }

    /// A random index into a list of `length` elements, which must not be empty.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}
