//! Options, each defined once. The general options are defined in `dyno-script`, because scripts see them too.

mod arguments;
mod config_file;
mod definition;
pub(crate) mod encryption;
mod general;
mod near;
pub(crate) mod rate;
pub(crate) mod settings;
pub(crate) mod target;
mod values;

pub(crate) use arguments::{Arguments, Given};
pub(crate) use definition::{Checked, Definition, Kind, help_lines};
pub(crate) use general::{all, find};
pub(crate) use near::nearest;
pub(crate) use values::Values;
