//! `memory`: an event reads or writes a block of memory, word by word.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Event;
use crate::barrier::{keep, opaque};
use crate::huge_pages::HugePages;
use crate::random::Random;

/// The bytes of a word.
const WORD_BYTES: usize = size_of::<AtomicU64>();

/// Memory that threads may share. Atomic words, relaxed, compile to plain loads and stores that stay where they are.
#[derive(Debug)]
pub struct Block(Words);

#[derive(Debug)]
enum Words {
    Heap(Vec<AtomicU64>),
    HugePages(HugePages),
}

impl Block {
    /// A block of zeros, a whole number of words long. `huge`: whether it is to come from the kernel's pool of huge pages.
    ///
    /// # Errors
    /// There is not so much memory.
    pub fn new(bytes: usize, huge: bool) -> io::Result<Self> {
        if huge {
            return HugePages::new(bytes).map(|pages| Self(Words::HugePages(pages)));
        }
        let mut words = Vec::new();
        words.try_reserve_exact(bytes / WORD_BYTES).map_err(|_| io::ErrorKind::OutOfMemory)?;
        words.resize_with(bytes / WORD_BYTES, AtomicU64::default);
        Ok(Self(Words::Heap(words)))
    }

    fn words(&self) -> &[AtomicU64] {
        match &self.0 {
            Words::Heap(words) => words,
            Words::HugePages(pages) => pages.words(),
        }
    }
}

/// What is done with each word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
    /// Nothing but its turn of the loop.
    None,
}

/// In which order words are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    InOrder,
    /// As many words as there are, at random.
    AtRandom,
}

/// Words that a turn of a loop in order touches: sysbench's loops are unrolled by its build.
const GROUP: usize = 8;

/// Touches the block. The seed is that of the thread's random numbers.
pub fn memory_event(operation: Operation, access: Access, block: Arc<Block>, seed: u64) -> Event {
    let mut random = Random::new(seed);
    match (operation, access) {
        (Operation::Read, Access::InOrder) => Box::new(move || {
            let (groups, rest) = block.words().as_chunks::<GROUP>();
            for group in groups {
                read(group);
            }
            read(rest);
        }),
        (Operation::Write, Access::InOrder) => Box::new(move || {
            let (groups, rest) = block.words().as_chunks::<GROUP>();
            let mut left = block.words().len() as u64;
            for group in groups {
                write(group, &mut left);
            }
            write(rest, &mut left);
        }),
        // The compiler leaves sysbench's loop out.
        (Operation::None, Access::InOrder) => Box::new(|| {}),
        (Operation::Read, Access::AtRandom) => Box::new(move || {
            let words = block.words();
            for _ in words {
                keep(words[random.below(words.len() as u64) as usize].load(Ordering::Relaxed));
            }
        }),
        (Operation::Write, Access::AtRandom) => Box::new(move || {
            let words = block.words();
            for number in 0..words.len() as u64 {
                words[random.below(words.len() as u64) as usize].store(number, Ordering::Relaxed);
            }
        }),
        // Of sysbench's place in the block the compiler leaves the random number.
        (Operation::None, Access::AtRandom) => Box::new(move || {
            for _ in block.words() {
                keep(random.number());
            }
        }),
    }
}

#[inline]
fn read(words: &[AtomicU64]) {
    for word in words {
        keep(word.load(Ordering::Relaxed));
    }
}

/// Writes to each word how many are left.
#[inline]
fn write(words: &[AtomicU64], left: &mut u64) {
    for word in words {
        word.store(*left, Ordering::Relaxed);
        *left = opaque(*left - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(block: &Block) -> Vec<u64> {
        block.words().iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    #[test]
    fn writing_in_order_touches_every_word() {
        let block = Arc::new(Block::new(80, false).unwrap());
        memory_event(Operation::Write, Access::InOrder, Arc::clone(&block), 1)();
        assert_eq!(words(&block), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn writing_at_random_stays_inside_and_nothing_else_changes_a_word() {
        let block = Arc::new(Block::new(64, false).unwrap());
        for operation in [Operation::Read, Operation::None] {
            for access in [Access::InOrder, Access::AtRandom] {
                memory_event(operation, access, Arc::clone(&block), 1)();
            }
        }
        assert_eq!(words(&block), [0; 8]);
        memory_event(Operation::Write, Access::AtRandom, Arc::clone(&block), 1)();
        assert!(words(&block).iter().any(|word| *word > 0));
    }

    #[test]
    fn more_memory_than_there_is_is_refused() {
        assert!(Block::new(usize::MAX, false).is_err());
    }
}
