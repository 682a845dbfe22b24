//! Memory from the kernel's pool of huge pages (`mmap(2)` with `MAP_HUGETLB`).

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// The size of a huge page where the kernel is not told otherwise; a mapping is a multiple of it.
const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// A mapping of its own, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct HugePages {
    start: NonNull<AtomicU64>,
    mapped_bytes: usize,
    words: usize,
}

// SAFETY: the mapping belongs to this value alone and holds atomic words.
unsafe impl Send for HugePages {}
// SAFETY: as above; shared access is to atomic words.
unsafe impl Sync for HugePages {}

impl HugePages {
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let mapped_bytes = bytes.next_multiple_of(PAGE_BYTES);
        // SAFETY: a new anonymous mapping touches no memory of ours.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(Self { start, mapped_bytes, words: bytes / size_of::<AtomicU64>() })
    }

    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is zeroed, aligned to a page, and at least that many words long.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `new` made, and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.mapped_bytes) };
    }
}
