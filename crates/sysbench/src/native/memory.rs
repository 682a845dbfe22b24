//! `memory`: an event reads or writes a block of memory, word by word.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_load::Event;

use super::hugepages::HugePages;
use super::{Built, Native};
use crate::failure::Failure;
use crate::options::{Definition, Kind, Values};
use crate::random::Random;
use crate::report::ReportedWork;
use crate::settings::Settings;

const WORD_BYTES: u64 = size_of::<u64>() as u64;

pub(super) const TEST: Native = Native {
    name: "memory",
    summary: "how fast memory is read and written",
    options: &[
        option("memory-block-size", Kind::Size, "1K", "bytes that an event reads or writes"),
        option("memory-total-size", Kind::Size, "100G", "bytes after which to stop"),
        option(
            "memory-scope",
            Kind::Choice(&["global", "local"]),
            "global",
            "global: threads share one block",
        ),
        option("memory-hugetlb", Kind::Flag, "off", "take the memory from the pool of huge pages"),
        option(
            "memory-oper",
            Kind::Choice(&["read", "write", "none"]),
            "write",
            "what is done with the block",
        ),
        option(
            "memory-access-mode",
            Kind::Choice(&["seq", "rnd"]),
            "seq",
            "in which order words are touched",
        ),
    ],
    build,
};

const fn option(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Definition {
    Definition { name, kind, default: Some(default), help }
}

/// Memory that threads may share. Atomic words, relaxed, compile to plain loads and stores that stay where they are.
enum Block {
    Heap(Vec<AtomicU64>),
    HugePages(HugePages),
}

impl Block {
    fn new(bytes: u64, huge: bool) -> Result<Self, Failure> {
        if huge {
            return HugePages::new(bytes as usize).map(Self::HugePages).map_err(|error| {
                Failure::fatal(format!(
                    "cannot get {bytes} bytes of huge pages: {error}; raise vm.nr_hugepages, or leave \
                     --memory-hugetlb off"
                ))
            });
        }
        Ok(Self::Heap((0..bytes / WORD_BYTES).map(AtomicU64::new).collect()))
    }

    fn words(&self) -> &[AtomicU64] {
        match self {
            Self::Heap(words) => words,
            Self::HugePages(pages) => pages.words(),
        }
    }
}

fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let block_bytes = values.size("memory-block-size");
    if block_bytes == 0 || !block_bytes.is_multiple_of(WORD_BYTES) {
        return Err(Failure::fatal(format!(
            "--memory-block-size cannot be {block_bytes}: give a multiple of {WORD_BYTES}"
        )));
    }
    let total_bytes = values.size("memory-total-size");
    let huge = values.flag("memory-hugetlb");
    let global = values.text("memory-scope") == "global";
    let shared = if global { Some(Arc::new(Block::new(block_bytes, huge)?)) } else { None };
    let mut threads = Vec::new();
    for thread in 0..settings.threads {
        let block = match &shared {
            Some(block) => Arc::clone(block),
            None => Arc::new(Block::new(block_bytes, huge)?),
        };
        let random = Random::new(settings.seed.number().wrapping_add(u64::from(thread)));
        threads.push(event(values.text("memory-oper"), values.text("memory-access-mode"), block, random));
    }
    let transfers = values.text("memory-oper") != "none";
    Ok(Built {
        subject: ReportedWork::Memory { block_bytes: transfers.then_some(block_bytes) },
        introduction: introduction(values),
        events: Some((total_bytes / block_bytes).max(1)),
        threads,
    })
}

fn introduction(values: &Values) -> String {
    format!(
        "Running memory speed test with the following options:\n  block size: {}KiB\n  total size: {}MiB\n  \
         operation: {}\n  scope: {}\n\n",
        values.size("memory-block-size") / 1024,
        values.size("memory-total-size") / (1024 * 1024),
        values.text("memory-oper"),
        values.text("memory-scope"),
    )
}

fn event(operation: &str, order: &str, block: Arc<Block>, mut random: Random) -> Event {
    match (operation, order) {
        ("read", "seq") => Box::new(move || {
            for word in block.words() {
                black_box(word.load(Ordering::Relaxed));
            }
        }),
        ("write", "seq") => Box::new(move || {
            for (number, word) in (0..).zip(block.words()) {
                word.store(number, Ordering::Relaxed);
            }
        }),
        ("read", _) => Box::new(move || {
            let words = block.words();
            for _ in words {
                black_box(words[random.below(words.len() as u64) as usize].load(Ordering::Relaxed));
            }
        }),
        ("write", _) => Box::new(move || {
            let words = block.words();
            for number in 0..words.len() as u64 {
                words[random.below(words.len() as u64) as usize].store(number, Ordering::Relaxed);
            }
        }),
        _ => Box::new(|| {}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_in_order_touches_every_word() {
        let block = Arc::new(Block::Heap((0..8).map(|_| AtomicU64::new(99)).collect()));
        event("write", "seq", Arc::clone(&block), Random::new(1))();
        let words: Vec<u64> = block.words().iter().map(|word| word.load(Ordering::Relaxed)).collect();
        assert_eq!(words, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn writing_at_random_stays_inside_and_reading_changes_nothing() {
        let block = Arc::new(Block::Heap((0..8).map(|_| AtomicU64::new(99)).collect()));
        event("read", "rnd", Arc::clone(&block), Random::new(1))();
        event("none", "seq", Arc::clone(&block), Random::new(1))();
        assert!(block.words().iter().all(|word| word.load(Ordering::Relaxed) == 99));
        event("write", "rnd", Arc::clone(&block), Random::new(1))();
        assert!(block.words().iter().any(|word| word.load(Ordering::Relaxed) < 8));
    }
}
