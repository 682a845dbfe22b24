//! Interrupts Lua from another thread.
//!
//! The only way to stop LuaJIT from outside is the one that its own command line uses for ^C: a signal handler on
//! the thread that runs Lua sets a debug hook, and the hook raises an error. Before an interrupt, this costs
//! nothing. Code that LuaJIT has compiled calls no hooks, so the functions of this crate raise the error too. The
//! signal is SIGURG, which is ignored by default.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::{Arc, Mutex, Once, PoisonError};

use mlua_sys as ffi;

use super::stack::Stack;

/// Message of the error, after file and line.
pub(super) const INTERRUPTED: &str = "interrupted";

thread_local! {
    /// The Lua state that this thread runs, if any.
    static RUNNING: Cell<*mut ffi::lua_State> = const { Cell::new(ptr::null_mut()) };
    /// Whether the state that this thread runs should stop.
    static STOPPING: Cell<bool> = const { Cell::new(false) };
}

/// Stops the script of a [`Runtime`](crate::Runtime), from any thread.
///
/// It cannot stop a compiled loop that calls none of sysbench's functions. A program that must end should therefore
/// not wait for the thread that runs a script.
#[derive(Clone, Debug)]
pub struct InterruptHandle(Arc<Mutex<Option<libc::pthread_t>>>);

impl InterruptHandle {
    /// A handle for the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(install_handler);
        // SAFETY: always allowed.
        Self(Arc::new(Mutex::new(Some(unsafe { libc::pthread_self() }))))
    }

    /// Makes the script fail with [`ScriptError::Interrupted`](crate::ScriptError::Interrupted). Does nothing if no
    /// script runs. To stop a script for certain, call this repeatedly until it has ended.
    pub fn interrupt(&self) {
        if let Some(thread) = *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: the thread still runs. Before it can end, its runtime locks this mutex and removes the thread
            // (`revoke`).
            unsafe { libc::pthread_kill(thread, libc::SIGURG) };
        }
    }

    /// Invalidates the handle, because the thread may end.
    pub(crate) fn revoke(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Runs Lua on `thread` in an interruptible way. Returns whether it was interrupted.
pub(crate) fn interruptible<R>(thread: Stack, run: impl FnOnce() -> R) -> (R, bool) {
    RUNNING.set(thread.pointer());
    let result = run();
    RUNNING.set(ptr::null_mut());
    let stopped = STOPPING.take();
    if stopped {
        // SAFETY: the state is open.
        unsafe { ffi::lua_sethook(thread.pointer(), None, 0, 0) };
    }
    (result, stopped)
}

/// Whether the script that this thread runs should stop.
pub(super) fn stopping() -> bool {
    STOPPING.get()
}

fn install_handler() {
    // SAFETY: the handler does only what a signal handler may do, and the structure is filled in as sigaction(2)
    // requires.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGURG, &raw const action, ptr::null_mut());
    }
}

extern "C" fn on_signal(_: c_int) {
    let running = RUNNING.get();
    if !running.is_null() {
        STOPPING.set(true);
        // SAFETY: the state is open and runs on this very thread. Lua allows signal handlers to set a hook.
        unsafe { ffi::lua_sethook(running, Some(stop), ffi::LUA_MASKCOUNT, 1) };
    }
}

/// Raises the error of an interrupt. The hook stays set until the script has ended, so that a script cannot
/// continue by catching the error.
unsafe extern "C-unwind" fn stop(state: *mut ffi::lua_State, _: *mut ffi::lua_Debug) {
    // SAFETY: Lua passes an open state; nothing with a destructor is alive here.
    unsafe {
        ffi::luaL_where(state, 0);
        ffi::lua_pushlstring_(state, INTERRUPTED.as_ptr().cast(), INTERRUPTED.len());
        ffi::lua_concat(state, 2);
        ffi::lua_error(state);
    }
}
