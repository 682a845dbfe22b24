//! A LuaJIT state.

use std::ffi::c_int;

use mlua_sys as ffi;

use super::memory::{Account, MemoryLimit};
use super::stack::Stack;

unsafe extern "C-unwind" {
    /// LuaJIT's extension: whether the thread can yield now.
    fn lua_isyieldable(state: *mut ffi::lua_State) -> c_int;
}

/// An open LuaJIT state with its standard libraries. Dropping the value closes the state.
#[derive(Debug)]
pub(crate) struct State {
    stack: Stack,
    account: Box<Account>,
}

/// The result of resuming a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    Yielded,
    /// The thread's function returned. The results are on the thread's stack.
    Returned,
    /// The thread raised an error, and cannot be resumed. The error is on top of the thread's stack.
    Raised,
}

impl State {
    /// Opens a state whose scripts may use the memory of `limit`. `None` if there is too little memory to open it.
    pub(crate) fn open(limit: MemoryLimit) -> Option<Self> {
        // SAFETY: a null pointer is handled below; opening the libraries of a new state raises an error only if
        // memory is lacking.
        unsafe {
            let state = ffi::luaL_newstate();
            if state.is_null() {
                return None;
            }
            let account = Account::open(state, limit);
            ffi::luaL_openlibs(state);
            Some(Self { stack: Stack::new(state), account })
        }
    }

    /// The stack of the main thread.
    pub(crate) fn stack(&self) -> Stack {
        self.stack
    }

    /// Runs a script within the limit of memory. Returns whether memory was refused.
    pub(crate) fn limited<R>(&self, run: impl FnOnce() -> R) -> (R, bool) {
        self.account.limited(run)
    }

    pub(crate) fn memory_limit(&self) -> &MemoryLimit {
        self.account.limit()
    }

    /// Memory that Lua uses now, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let state = self.stack.pointer();
        // SAFETY: the state is open.
        let (kib, rest) =
            unsafe { (ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0), ffi::lua_gc(state, ffi::LUA_GCCOUNTB, 0)) };
        kib as usize * 1024 + rest as usize
    }

    /// Runs a full garbage collection.
    pub(crate) fn collect_garbage(&self) {
        // SAFETY: the state is open.
        unsafe { ffi::lua_gc(self.stack.pointer(), ffi::LUA_GCCOLLECT, 0) };
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the state is open, and no one uses it after this.
        unsafe {
            self.account.close(self.stack.pointer());
            ffi::lua_close(self.stack.pointer());
        }
    }
}

impl Stack {
    /// Resumes the thread with the top `arguments` values. If it has not started, starts the function below these
    /// values.
    pub(crate) fn resume(self, arguments: c_int) -> Resumed {
        // SAFETY: the state is open; what the thread raises stays in it.
        match unsafe { ffi::lua_resume_(self.pointer(), arguments) } {
            ffi::LUA_OK => Resumed::Returned,
            ffi::LUA_YIELD => Resumed::Yielded,
            _ => Resumed::Raised,
        }
    }

    /// Whether a function that is called now may yield.
    pub(crate) fn yieldable(self) -> bool {
        // SAFETY: the state is open.
        unsafe { lua_isyieldable(self.pointer()) != 0 }
    }

    /// Whether the thread has yielded inside a function.
    pub(crate) fn suspended(self) -> bool {
        // SAFETY: the state is open.
        unsafe { ffi::lua_status(self.pointer()) == ffi::LUA_YIELD }
    }
}
