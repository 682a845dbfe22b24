//! What the files of `settings/` say.

pub(crate) mod data;
pub(crate) mod knowledge;
pub(crate) mod near;
pub(crate) mod probes;
