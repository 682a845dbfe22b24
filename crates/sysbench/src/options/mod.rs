//! Options, each defined once: the general ones in `dyno-script`, since scripts find them too.

pub(crate) mod encryption;
pub(crate) mod rate;
pub(crate) mod settings;
pub(crate) mod target;
mod arguments;
mod config_file;
mod definition;
mod general;
mod near;
mod values;

pub(crate) use arguments::{Arguments, Given};
pub(crate) use definition::{Checked, Definition, Kind, help_lines};
pub(crate) use general::{all, find};
pub(crate) use near::nearest;
pub(crate) use values::Values;
