//! How a plan's TOML is read, with the place of every mistake.

pub(in crate::plan) mod de;
pub(in crate::plan) mod error;
pub(in crate::plan) mod mistake;
pub(in crate::plan) mod renamed;
pub(in crate::plan) mod value;
