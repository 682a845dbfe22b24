//! Systems that can be crashed.

pub(crate) mod place;
pub(crate) mod replicated;
pub(crate) mod server;
pub(crate) mod sqlite;
pub(crate) mod subject;
