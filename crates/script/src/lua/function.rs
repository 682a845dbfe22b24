//! Rust functions that Lua can call.
//!
//! Raising an error and yielding both leave a function without running its destructors. A [`Native`] function
//! therefore does neither. It drops all its values and returns the action that [`trampoline`] takes.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

use mlua_sys as ffi;

use super::interrupt::{INTERRUPTED, stopping};
use super::stack::{Kind, Stack};
use crate::probe::{Probe as _, Stage, Stamps};
use crate::run::machine::Machine;

/// How a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// Returns this number of values, which are on top of the stack.
    Values(c_int),
    /// Yields. The function returns the values with which the task is resumed.
    Wait,
}

/// An error. Its message is on top of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raised;

pub(crate) type Answer = Result<Returns, Raised>;

/// A call of a Rust function from Lua.
pub(crate) struct Call<'a> {
    /// The stack with the arguments and room for at least 16 more values.
    pub(crate) stack: Stack,
    machine: NonNull<Machine>,
    lua: PhantomData<&'a mut ()>,
}

impl Call<'_> {
    /// The machine of the Lua state. The borrow must end before the stack is used, because using the stack can run
    /// Lua (finalizers).
    pub(crate) fn machine(&mut self) -> &mut Machine {
        // SAFETY: the machine outlives the state, and no one else has it while Lua runs this function.
        unsafe { self.machine.as_mut() }
    }

    /// Argument `n`, from 1, as a number. It may be a number written as text, because options of scripts for
    /// sysbench 0.5 are texts.
    pub(crate) fn number(&self, n: c_int) -> Result<f64, Raised> {
        self.stack.numeral(n).ok_or_else(|| self.wrong_argument(n, "number"))
    }

    /// Argument `n` as a whole number, truncated.
    pub(crate) fn integer(&self, n: c_int) -> Result<i64, Raised> {
        self.number(n).map(|number| number as i64)
    }

    /// Argument `n` as the bytes of a string.
    ///
    /// # Safety
    /// Lua owns the bytes. They are valid while the argument is on the stack.
    pub(crate) unsafe fn bytes<'a>(&self, n: c_int) -> Result<&'a [u8], Raised> {
        // SAFETY: passed on to the caller.
        unsafe { self.stack.bytes(n) }.ok_or_else(|| self.wrong_argument(n, "string"))
    }

    /// Raises an error with the position in the script.
    pub(crate) fn raise(&self, message: &str) -> Raised {
        self.stack.push_position(1);
        self.stack.push_bytes(message.as_bytes());
        self.stack.concatenate(2);
        Raised
    }

    /// Raises an error whose message is complete, so no position in the script is put before it.
    pub(crate) fn raise_as_is(&self, message: &str) -> Raised {
        self.stack.push_bytes(message.as_bytes());
        Raised
    }

    fn wrong_argument(&self, n: c_int, expected: &str) -> Raised {
        let got = match self.stack.kind(n) {
            Kind::Nil => "nil",
            _ => self.stack.type_name(n),
        };
        self.raise(&format!("bad argument #{n} ({expected} expected, got {got})"))
    }
}

/// A function that Lua can call. It must be known at compile time, and must not capture variables.
pub(crate) trait Native: Fn(&mut Call<'_>) -> Answer + Copy + 'static {}

impl<F: Fn(&mut Call<'_>) -> Answer + Copy + 'static> Native for F {}

/// Pushes `function`, with the address of its machine as an upvalue.
pub(crate) fn push_function<F: Native>(stack: Stack, machine: NonNull<Machine>, _function: F) {
    const { assert!(size_of::<F>() == 0, "a native function captures nothing") };
    stack.push_pointer(machine.as_ptr().cast());
    // SAFETY: the state is open; the upvalue is what the trampoline expects.
    unsafe { ffi::lua_pushcclosure(stack.pointer(), trampoline::<F>, 1) }
}

/// As [`push_function`], but each call is also marked for a profile.
pub(crate) fn push_marked_function<F: Native>(stack: Stack, machine: NonNull<Machine>, _function: F) {
    const { assert!(size_of::<F>() == 0, "a native function captures nothing") };
    let function: ffi::lua_CFunction = trampoline::<F>;
    stack.push_pointer(machine.as_ptr().cast());
    stack.push_pointer(function as *mut c_void);
    // SAFETY: the state is open; the upvalues are what the trampoline and `marked` expect.
    unsafe { ffi::lua_pushcclosure(stack.pointer(), marked, 2) }
}

/// Calls the trampoline in its second upvalue, as a stage of the profile. If the trampoline raises an error, this
/// stage lasts until the next mark.
unsafe extern "C-unwind" fn marked(state: *mut ffi::lua_State) -> c_int {
    let outer = Stamps::enter(Stage::Native);
    // SAFETY: the second upvalue is the address of a trampoline, and the first is the upvalue that this trampoline
    // expects (`push_marked_function`). Nothing with a destructor is alive in this frame.
    let values = unsafe {
        let function = ffi::lua_touserdata(state, ffi::lua_upvalueindex(2));
        std::mem::transmute::<*mut c_void, ffi::lua_CFunction>(function)(state)
    };
    Stamps::enter(outer);
    values
}

unsafe extern "C-unwind" fn trampoline<F: Native>(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: F has no size, so any well-aligned address will do (`push_function`); the upvalue is the
    // machine, which outlives the state and is not borrowed while Lua runs; Lua passes an open state.
    let answer = unsafe {
        let function = NonNull::<F>::dangling().as_ref();
        let machine = NonNull::new_unchecked(ffi::lua_touserdata(state, ffi::lua_upvalueindex(1)).cast());
        let mut call = Call { stack: Stack::new(state), machine, lua: PhantomData };
        if stopping() { Err(call.raise(INTERRUPTED)) } else { function(&mut call) }
    };
    match answer {
        Ok(Returns::Values(n)) => n,
        // SAFETY: nothing with a destructor is alive in this frame.
        Ok(Returns::Wait) => unsafe { ffi::lua_yield(state, 0) },
        // SAFETY: as above; the message is on top of the stack.
        Err(Raised) => unsafe { ffi::lua_error(state) },
    }
}

/// Pushes a function that calls its first argument with the other arguments. The called function cannot yield.
pub(crate) fn push_caller(stack: Stack) {
    // SAFETY: the state is open.
    unsafe { ffi::lua_pushcclosure(stack.pointer(), call_without_waiting, 0) }
}

unsafe extern "C-unwind" fn call_without_waiting(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: Lua passes an open state with the arguments; this frame has nothing to destroy when the call
    // raises.
    unsafe {
        ffi::lua_call(state, ffi::lua_gettop(state) - 1, ffi::LUA_MULTRET);
        ffi::lua_gettop(state)
    }
}
