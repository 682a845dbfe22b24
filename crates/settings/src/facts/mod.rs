//! Facts about a server: its product, its variables, their values.

pub(crate) mod assignment;
pub(crate) mod product;
pub(crate) mod value;
pub(crate) mod variables;
