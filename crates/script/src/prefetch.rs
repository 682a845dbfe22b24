//! Hints that memory is needed soon.

/// Hints that all of a value is needed soon, so that its cache lines are loaded while something else is done. Does
/// nothing on processors other than x86-64.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    prefetch_bytes(std::ptr::from_ref(value).cast(), size_of_val(value));
}

/// As [`prefetch`], for bytes at an address. The address need not be valid.
#[inline]
pub(crate) fn prefetch_bytes(start: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..bytes).step_by(CACHE_LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, bytes);
}

#[cfg(target_arch = "x86_64")]
const CACHE_LINE_BYTES: usize = 64;
