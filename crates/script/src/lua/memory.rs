//! Limits the memory of Lua. An allocator in front of LuaJIT's own allocator counts the bytes.
//!
//! Counting costs a few instructions per allocation, and nothing if a script does not allocate.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mlua_sys as ffi;

/// States take memory from the shared limit in portions of this size, so that threads seldom compete for it.
const PORTION_BYTES: usize = 1 << 20;

/// The memory that the scripts of a process may use together.
#[derive(Clone, Debug)]
pub struct MemoryLimit(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bytes_max: usize,
    taken_bytes: AtomicUsize,
}

impl MemoryLimit {
    /// The environment variable that sets the limit, in MiB.
    pub const VARIABLE: &str = "DYNO_SCRIPT_MEMORY_MIB";

    /// A limit in bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Shared { bytes_max, taken_bytes: AtomicUsize::new(0) }))
    }

    /// The limit in MiB.
    pub fn mib(&self) -> usize {
        self.0.bytes_max >> 20
    }

    /// Takes `bytes` from the limit. Returns false if fewer bytes are left.
    fn take(&self, bytes: usize) -> bool {
        let taken = self.0.taken_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let fits = taken <= self.0.bytes_max;
        if !fits {
            self.give_back(bytes);
        }
        fits
    }

    fn give_back(&self, bytes: usize) {
        self.0.taken_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A state's part of the limit.
#[derive(Debug)]
pub(super) struct Account {
    limit: MemoryLimit,
    /// LuaJIT's own allocator, and the pointer that it expects.
    allocate: ffi::lua_Alloc,
    memory: *mut c_void,
    used_bytes: Cell<usize>,
    taken_bytes: Cell<usize>,
    /// Whether a script is running. Memory may be refused only then, because at other times LuaJIT would end the
    /// process.
    is_running: Cell<bool>,
    was_refused: Cell<bool>,
}

impl Account {
    /// Installs an account in front of a new state's allocator.
    ///
    /// # Safety
    /// The state is open, and [`close`](Self::close) is called before it is closed.
    #[allow(clippy::unnecessary_box_returns, reason = "LuaJIT has its address")]
    pub(super) unsafe fn open(state: *mut ffi::lua_State, limit: MemoryLimit) -> Box<Self> {
        let mut memory = ptr::null_mut();
        // SAFETY: the state is open; the account lives on the heap until `close`.
        unsafe {
            let allocate = ffi::lua_getallocf(state, &raw mut memory);
            let account = Box::new(Self {
                limit,
                allocate,
                memory,
                used_bytes: Cell::new(0),
                taken_bytes: Cell::new(0),
                is_running: Cell::new(false),
                was_refused: Cell::new(false),
            });
            ffi::lua_setallocf(state, allocate_counted, (&raw const *account).cast_mut().cast());
            account
        }
    }

    /// Restores a state's own allocator, so that the state can be closed.
    ///
    /// # Safety
    /// The state is open and belongs to this account.
    pub(super) unsafe fn close(&self, state: *mut ffi::lua_State) {
        // SAFETY: the state is open.
        unsafe { ffi::lua_setallocf(state, self.allocate, self.memory) };
        self.limit.give_back(self.taken_bytes.replace(0));
    }

    /// Runs Lua within the limit. Returns whether Lua was refused memory because of the limit.
    pub(super) fn limited<R>(&self, run: impl FnOnce() -> R) -> (R, bool) {
        self.was_refused.set(false);
        self.is_running.set(true);
        let result = run();
        self.is_running.set(false);
        (result, self.was_refused.get())
    }

    pub(super) fn limit(&self) -> &MemoryLimit {
        &self.limit
    }

    /// Whether the state may use this much memory. If it needs more than it has taken from the shared limit, takes
    /// more; if it needs much less, gives memory back.
    fn may_use(&self, bytes: usize) -> bool {
        let taken = self.taken_bytes.get();
        if bytes > taken {
            let more = (bytes - taken).next_multiple_of(PORTION_BYTES);
            if !self.limit.take(more) {
                return false;
            }
            self.taken_bytes.set(taken + more);
        } else if taken - bytes > 4 * PORTION_BYTES {
            let kept = bytes.next_multiple_of(PORTION_BYTES);
            self.limit.give_back(taken - kept);
            self.taken_bytes.set(kept);
        }
        true
    }
}

/// `lua_Alloc`: turns a block of `old_bytes` (possibly none) into a block of `new_bytes` (possibly none).
unsafe extern "C" fn allocate_counted(
    account: *mut c_void,
    block: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
) -> *mut c_void {
    // SAFETY: Lua passes the account that it was given, which lives as long as the state.
    let account = unsafe { &*account.cast::<Account>() };
    // The block may be older than the account, which then has not counted it. The subtraction therefore saturates.
    let used_bytes = account.used_bytes.get().saturating_sub(old_bytes).saturating_add(new_bytes);
    if !account.may_use(used_bytes) && new_bytes > old_bytes && account.is_running.get() {
        account.was_refused.set(true);
        return ptr::null_mut();
    }
    // SAFETY: these are Lua's own allocator, memory and arguments.
    let allocated = unsafe { (account.allocate)(account.memory, block, old_bytes, new_bytes) };
    if !allocated.is_null() || new_bytes == 0 {
        account.used_bytes.set(used_bytes);
    }
    allocated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let limit = MemoryLimit::new(3 * PORTION_BYTES);
        assert!(limit.take(2 * PORTION_BYTES));
        assert!(!limit.take(2 * PORTION_BYTES));
        limit.give_back(PORTION_BYTES);
        assert!(limit.take(2 * PORTION_BYTES));
    }
}
