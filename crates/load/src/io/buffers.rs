//! Receive buffers that all sockets share (`io_uring` provided buffer ring). The kernel takes a buffer only when bytes
//! arrive, so thousands of idle sockets need no buffers. See `io_uring_register_buf_ring(3)`.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// Size of one buffer. Most answers fit into it.
const BUFFER_BYTES: usize = 16 * 1024;
/// The kernel requires the ring to be page-aligned.
const PAGE_BYTES: usize = 4096;
/// The id of the only buffer group of a ring.
pub(super) const GROUP: u16 = 0;

pub(super) struct Buffers {
    ring: NonNull<BufRingEntry>,
    count: u16,
    memory: Vec<u8>,
    tail: u16,
}

impl Buffers {
    /// Creates `count` buffers (a power of two) and gives them to the kernel.
    pub(super) fn register(ring: &IoUring, count: u16) -> io::Result<Self> {
        let layout = layout(count);
        // SAFETY: the layout has a size above zero.
        let Some(entries) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { handle_alloc_error(layout) };
        let mut buffers =
            Self { ring: entries.cast(), count, memory: vec![0; BUFFER_BYTES * count as usize], tail: 0 };
        // SAFETY: the entries live until `Buffers` is dropped, which its owner does after closing the ring.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(entries.as_ptr() as u64, count, GROUP, 0)?;
        }
        for id in 0..count {
            buffers.release(id);
        }
        Ok(buffers)
    }

    /// The first `length_bytes` of a buffer that the kernel filled.
    pub(super) fn get(&self, id: u16, length_bytes: usize) -> &[u8] {
        let start = id as usize * BUFFER_BYTES;
        &self.memory[start..start + length_bytes.min(BUFFER_BYTES)]
    }

    /// Gives a buffer back to the kernel.
    pub(super) fn release(&mut self, id: u16) {
        let slot = self.tail & (self.count - 1);
        let address = self.memory[id as usize * BUFFER_BYTES..].as_mut_ptr() as u64;
        // SAFETY: `slot` is below `count`, the entries are allocated, and only this thread writes them; the
        // kernel reads an entry only once the tail, stored with Release below, has passed it.
        unsafe {
            let entry = self.ring.add(slot as usize).as_mut();
            entry.set_addr(address);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.ring.as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated by `register` with this very layout.
        unsafe { dealloc(self.ring.as_ptr().cast(), layout(self.count)) }
    }
}

fn layout(count: u16) -> Layout {
    Layout::from_size_align(size_of::<BufRingEntry>() * count as usize, PAGE_BYTES)
        .expect("a page-aligned layout of at most 512 KiB is valid")
}
