//! `memory`: how fast memory is read and written.

use std::sync::Arc;

use dyno_kernels::{Access, Block, Operation, memory_event};

use super::{Built, Events, Native};
use crate::failure::Failure;
use crate::options::{Definition, Kind, Values};
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

fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let block_bytes = values.size("memory-block-size");
    if block_bytes == 0 || !block_bytes.is_multiple_of(WORD_BYTES) {
        return Err(Failure::fatal(format!(
            "--memory-block-size cannot be {block_bytes}: give a multiple of {WORD_BYTES}"
        )));
    }
    let operation = match values.text("memory-oper") {
        "read" => Operation::Read,
        "write" => Operation::Write,
        _ => Operation::None,
    };
    let access = match values.text("memory-access-mode") {
        "rnd" => Access::AtRandom,
        _ => Access::InOrder,
    };
    let blocks = blocks(values, settings, block_bytes)?;
    let seeds = (0..settings.threads).map(|thread| settings.seed.number().wrapping_add(u64::from(thread)));
    let threads = blocks.iter().cycle().zip(seeds);
    let total_bytes = values.size("memory-total-size");
    Ok(Built {
        subject: ReportedWork::Memory { block_bytes: (operation != Operation::None).then_some(block_bytes) },
        introduction: introduction(values),
        events: Events::OfTheTest((total_bytes > 0).then(|| (total_bytes / block_bytes).max(1))),
        threads: threads
            .map(|(block, seed)| memory_event(operation, access, Arc::clone(block), seed))
            .collect(),
    })
}

/// One block for all threads, or one for each.
fn blocks(values: &Values, settings: &Settings, block_bytes: u64) -> Result<Vec<Arc<Block>>, Failure> {
    let number = if values.text("memory-scope") == "global" { 1 } else { u64::from(settings.threads) };
    let memory_bytes = memory_bytes();
    if block_bytes.saturating_mul(number) > memory_bytes {
        return Err(Failure::fatal(format!(
            "--memory-block-size cannot be {block_bytes}: the blocks of all threads must fit the {memory_bytes} bytes \
             of memory that this host has"
        )));
    }
    let huge = values.flag("memory-hugetlb");
    let block = |_| {
        Block::new(block_bytes as usize, huge).map(Arc::new).map_err(|error| {
            let hint = if huge { "; raise vm.nr_hugepages, or leave --memory-hugetlb off" } else { "" };
            let pages = if huge { " of huge pages" } else { "" };
            Failure::fatal(format!("cannot get {block_bytes} bytes{pages}: {error}{hint}"))
        })
    };
    (0..number).map(block).collect()
}

/// The host's memory.
fn memory_bytes() -> u64 {
    // SAFETY: sysconf takes no pointers.
    let [pages, page_bytes] =
        [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
    // Where it is not known, what cannot be had fails later.
    u64::try_from(pages).and_then(|pages| Ok(pages * u64::try_from(page_bytes)?)).unwrap_or(u64::MAX)
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
