//! Options: how they are declared, how users give values, and how scripts see the values.

pub(crate) mod config;
pub(crate) mod general;
pub(crate) mod info;
pub(crate) mod options;
pub(crate) mod values;
