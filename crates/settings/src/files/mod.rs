//! The contents of the files of `settings/`.

pub(crate) mod data;
pub(crate) mod knowledge;
pub(crate) mod near;
pub(crate) mod probes;
