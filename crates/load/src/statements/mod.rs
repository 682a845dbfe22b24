//! Statements: prepared, emulated, and identified by their text.

pub(crate) mod changed_names;
pub(crate) mod distinct;
pub(crate) mod emulation;
pub(crate) mod prepared;
pub(crate) mod text;
