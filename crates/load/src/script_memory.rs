//! How much memory scripts may have.

use dyno_script::MemoryLimit;

/// What scripts can have at most in sysbench 1.0.20, whose LuaJIT keeps all values in the low 2 GB of the address space.
const USUAL_BYTES: usize = 2 << 30;

/// The limit that the environment gives; else 2 GiB, and no more than half of the host's memory, of which servers are to
/// have the other half.
pub fn script_memory() -> MemoryLimit {
    let given = std::env::var(MemoryLimit::VARIABLE).ok().and_then(|mib| mib.trim().parse::<usize>().ok());
    let bytes = match given {
        Some(mib) if mib > 0 => mib.saturating_mul(1 << 20),
        _ => host_bytes().map_or(USUAL_BYTES, |host| USUAL_BYTES.min(host / 2)),
    };
    MemoryLimit::new(bytes)
}

fn host_bytes() -> Option<usize> {
    // SAFETY: sysconf takes a number and no pointers.
    let (pages, page_bytes) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).ok()?.checked_mul(usize::try_from(page_bytes).ok()?)
}
