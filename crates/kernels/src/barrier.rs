//! What keeps the compiler from leaving work out.

use std::arch::asm;

/// The value, of which the compiler then knows nothing: values that follow from each other are computed one after the other.
#[inline]
pub(crate) fn opaque(mut value: u64) -> u64 {
    // SAFETY: there is no instruction but a comment.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// A turn of a loop that does nothing must stay a turn.
#[inline]
pub(crate) fn barrier() {
    // SAFETY: there is no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

/// A value that nothing uses must still be in a register.
#[inline]
pub(crate) fn keep(value: u64) {
    // SAFETY: there is no instruction but a comment.
    unsafe { asm!("/* {0} */", in(reg) value, options(nomem, nostack, preserves_flags)) };
}
