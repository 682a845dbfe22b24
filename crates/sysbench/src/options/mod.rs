//! Options: each defined once, in a table, for the parser, `--help` and near misses alike.

mod arguments;
mod config_file;
mod definition;
mod general;
mod near;
mod values;

pub(crate) use arguments::{Arguments, Given};
pub(crate) use definition::{Definition, Kind, help_lines, number};
pub(crate) use general::groups;
pub(crate) use near::nearest;
pub(crate) use values::Values;
