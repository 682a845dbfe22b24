//! Options: declared, given, and as scripts see them.

pub(crate) mod config;
pub(crate) mod general;
pub(crate) mod info;
pub(crate) mod options;
pub(crate) mod values;
