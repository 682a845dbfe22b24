//! The stack of a Lua thread, through which values are passed to and from Lua.

use std::ffi::{CStr, c_int, c_void};

use mlua_sys as ffi;

use crate::prefetch::prefetch_bytes;

/// Size of `lua_State` in LuaJIT.
const THREAD_BYTES: usize = 96;

/// The stack of a Lua thread. The thread must live while this copy of the pointer is used.
///
/// Nothing here calls metamethods, so the only possible error is a lack of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stack(*mut ffi::lua_State);

/// A value that Lua keeps until [`Stack::forget`] is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference(c_int);

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// nil, or no value.
    Nil,
    Boolean,
    Number,
    String,
    Table,
    Function,
    /// A value of LuaJIT's `ffi`, such as a 64-bit integer.
    Cdata,
    Other,
}

impl Stack {
    /// Wraps a pointer.
    ///
    /// # Safety
    /// While the copy is used, the state must stay open, and the thread must not be collected.
    pub(crate) unsafe fn new(pointer: *mut ffi::lua_State) -> Self {
        Self(pointer)
    }

    pub(super) fn pointer(self) -> *mut ffi::lua_State {
        self.0
    }

    /// Hints that the thread is needed soon.
    pub(crate) fn prefetch(self) {
        prefetch_bytes(self.0.cast(), THREAD_BYTES);
    }

    pub(crate) fn len(self) -> c_int {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_gettop(self.0) }
    }

    pub(crate) fn truncate(self, len: c_int) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_settop(self.0, len) }
    }

    pub(crate) fn pop(self) {
        // SAFETY: the state is open (`new`); callers pop what they pushed.
        unsafe { ffi::lua_settop(self.0, -2) }
    }

    pub(crate) fn kind(self, index: c_int) -> Kind {
        // SAFETY: the state is open (`new`); an index without a value has the type "none".
        match unsafe { ffi::lua_type(self.0, index) } {
            ffi::LUA_TNONE | ffi::LUA_TNIL => Kind::Nil,
            ffi::LUA_TBOOLEAN => Kind::Boolean,
            ffi::LUA_TNUMBER => Kind::Number,
            ffi::LUA_TSTRING => Kind::String,
            ffi::LUA_TTABLE => Kind::Table,
            ffi::LUA_TFUNCTION => Kind::Function,
            ffi::LUA_TCDATA => Kind::Cdata,
            _ => Kind::Other,
        }
    }

    pub(crate) fn is_nil(self, index: c_int) -> bool {
        self.kind(index) == Kind::Nil
    }

    /// The name of a value's type in Lua.
    pub(crate) fn type_name(self, index: c_int) -> &'static str {
        // SAFETY: the state is open; the names are static ASCII strings of Lua.
        unsafe { CStr::from_ptr(ffi::lua_typename(self.0, ffi::lua_type(self.0, index))) }
            .to_str()
            .unwrap_or("value")
    }

    pub(crate) fn push_nil(self) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_pushnil(self.0) }
    }

    pub(crate) fn push_bool(self, value: bool) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_pushboolean(self.0, value.into()) }
    }

    pub(crate) fn push_number(self, value: f64) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_pushnumber(self.0, value) }
    }

    pub(crate) fn push_bytes(self, value: &[u8]) {
        // SAFETY: the state is open; Lua copies the bytes.
        unsafe { ffi::lua_pushlstring_(self.0, value.as_ptr().cast(), value.len()) }
    }

    pub(crate) fn push_copy(self, index: c_int) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_pushvalue(self.0, index) }
    }

    /// Pops a value and stores it at `index`.
    pub(crate) fn replace(self, index: c_int) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_replace(self.0, index) }
    }

    /// Pushes a new table with room for `array` elements and `fields` fields.
    pub(crate) fn push_table(self, array: c_int, fields: c_int) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_createtable(self.0, array, fields) }
    }

    /// Pushes a new thread of the same state.
    pub(crate) fn push_thread(self) -> Stack {
        // SAFETY: the state is open (`new`).
        Self(unsafe { ffi::lua_newthread(self.0) })
    }

    /// Whether the value is neither nil nor false.
    pub(crate) fn truthy(self, index: c_int) -> bool {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_toboolean(self.0, index) != 0 }
    }

    /// The number at `index`; `None` for a string.
    pub(crate) fn number(self, index: c_int) -> Option<f64> {
        // SAFETY: the state is open (`new`).
        (self.kind(index) == Kind::Number).then(|| unsafe { ffi::lua_tonumber(self.0, index) })
    }

    /// The number at `index`. A text that Lua can read as a number is converted.
    pub(crate) fn numeral(self, index: c_int) -> Option<f64> {
        // SAFETY: the state is open (`new`).
        unsafe { (ffi::lua_isnumber(self.0, index) != 0).then(|| ffi::lua_tonumber(self.0, index)) }
    }

    /// The bytes of the string at `index`; `None` for a number.
    ///
    /// # Safety
    /// Lua owns the bytes. The string must stay reachable for `'a`.
    pub(crate) unsafe fn bytes<'a>(self, index: c_int) -> Option<&'a [u8]> {
        if self.kind(index) != Kind::String {
            return None;
        }
        let mut len = 0;
        // SAFETY: the state is open; a string's bytes stay where they are while it is reachable.
        unsafe {
            let start = ffi::lua_tolstring(self.0, index, &raw mut len);
            Some(std::slice::from_raw_parts(start.cast(), len))
        }
    }

    /// The string at `index` as text.
    pub(crate) fn text(self, index: c_int) -> Option<String> {
        // SAFETY: the bytes are copied before anything else happens.
        unsafe { self.bytes(index) }.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The value of an `ffi` integer of type `int64_t`.
    ///
    /// # Safety
    /// The value at `index` must be such an integer.
    pub(crate) unsafe fn int64(self, index: c_int) -> i64 {
        // SAFETY: for a cdata value, `lua_topointer` returns the address of its contents.
        unsafe { ffi::lua_topointer(self.0, index).cast::<i64>().read_unaligned() }
    }

    /// Pushes field `name` of the table at `index`, without metamethods; nil if there is no table.
    pub(crate) fn push_field(self, index: c_int, name: &str) {
        if self.kind(index) != Kind::Table {
            return self.push_nil();
        }
        let table = self.absolute(index);
        self.push_bytes(name.as_bytes());
        // SAFETY: the state is open and the index is a table's.
        unsafe { ffi::lua_rawget_(self.0, table) }
    }

    /// Pushes a field of the table at `index`, without metamethods. A stored string names the field.
    pub(crate) fn push_field_of(self, index: c_int, name: Reference) {
        let table = self.absolute(index);
        self.push_kept(name);
        // SAFETY: the state is open; callers pass a table.
        unsafe { ffi::lua_rawget_(self.0, table) }
    }

    /// Pushes element `n` of the table at `index`, without metamethods.
    pub(crate) fn push_element(self, index: c_int, n: c_int) {
        // SAFETY: the state is open; callers pass a table.
        unsafe { ffi::lua_rawgeti_(self.0, index, n) }
    }

    /// Pops a value into field `name` of the table at `index`, without metamethods.
    pub(crate) fn set_field(self, index: c_int, name: &str) {
        let table = self.absolute(index);
        self.push_bytes(name.as_bytes());
        // SAFETY: the state is open; `lua_insert` moves the key under the value, as `lua_rawset` expects.
        unsafe {
            ffi::lua_insert(self.0, -2);
            ffi::lua_rawset(self.0, table);
        }
    }

    /// Pops a value into element `n` of the table at `index`.
    pub(crate) fn set_element(self, index: c_int, n: c_int) {
        // SAFETY: the state is open; callers pass a table.
        unsafe { ffi::lua_rawseti_(self.0, index, n) }
    }

    /// Pops a table and makes it the environment of the thread (or function) at `index`.
    pub(crate) fn set_environment(self, index: c_int) {
        // SAFETY: the state is open; callers pass a thread or a function, with a table on top.
        unsafe { ffi::lua_setfenv(self.0, index) };
    }

    /// Pops `n` values and pushes them on another thread of the same state.
    pub(crate) fn move_to(self, other: Stack, n: c_int) {
        // SAFETY: both threads belong to one open state.
        unsafe { ffi::lua_xmove(self.0, other.0, n) }
    }

    /// Pops a value and stores it until [`Stack::forget`].
    pub(crate) fn keep(self) -> Reference {
        // SAFETY: the state is open (`new`).
        Reference(unsafe { ffi::luaL_ref(self.0, ffi::LUA_REGISTRYINDEX) })
    }

    /// Pushes a stored value.
    pub(crate) fn push_kept(self, reference: Reference) {
        // SAFETY: the state is open; the registry is a table.
        unsafe { ffi::lua_rawgeti_(self.0, ffi::LUA_REGISTRYINDEX, reference.0) }
    }

    /// Releases a stored value.
    pub(crate) fn forget(self, reference: Reference) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::luaL_unref(self.0, ffi::LUA_REGISTRYINDEX, reference.0) }
    }

    /// Pushes the position (`file:line: `) of the function at `level`. If this is not a Lua function, pushes an
    /// empty string.
    pub(crate) fn push_position(self, level: c_int) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::luaL_where(self.0, level) }
    }

    /// Replaces the top `n` strings by their concatenation.
    pub(crate) fn concatenate(self, n: c_int) {
        // SAFETY: the state is open; callers have pushed n strings.
        unsafe { ffi::lua_concat(self.0, n) }
    }

    /// Pops a function and its `arguments`, and calls the function. Returns an error as text.
    pub(crate) fn call(self, arguments: c_int, results: c_int) -> Result<(), String> {
        // SAFETY: the state is open; the call is protected.
        match unsafe { ffi::lua_pcall(self.0, arguments, results, 0) } {
            ffi::LUA_OK => Ok(()),
            _ => Err(self.pop_error()),
        }
    }

    /// Compiles `source` and pushes the function.
    pub(crate) fn load(self, source: &[u8], name: &CStr) -> Result<(), String> {
        // SAFETY: the state is open; loading is protected.
        let status =
            unsafe { ffi::luaL_loadbuffer(self.0, source.as_ptr().cast(), source.len(), name.as_ptr()) };
        if status == ffi::LUA_OK { Ok(()) } else { Err(self.pop_error()) }
    }

    /// Pops an error and returns it as text.
    pub(crate) fn pop_error(self) -> String {
        let message = match self.kind(-1) {
            Kind::String => self.text(-1).unwrap_or_default(),
            Kind::Number => self.number(-1).unwrap_or_default().to_string(),
            _ => format!("a {} was raised as an error", self.type_name(-1)),
        };
        self.pop();
        message
    }

    fn absolute(self, index: c_int) -> c_int {
        if index < 0 && index > ffi::LUA_REGISTRYINDEX { self.len() + index + 1 } else { index }
    }

    pub(super) fn push_pointer(self, pointer: *mut c_void) {
        // SAFETY: the state is open (`new`).
        unsafe { ffi::lua_pushlightuserdata(self.0, pointer) }
    }
}
