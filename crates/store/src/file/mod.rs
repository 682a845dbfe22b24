//! The file itself: opening it, its schema, the process that owns a run, and limits of queries.

pub(crate) mod budget;
pub(crate) mod columns;
pub(crate) mod identity;
pub(crate) mod moment;
pub(crate) mod open;
pub(crate) mod owner;
pub(crate) mod row;
pub(crate) mod schema;
pub(crate) mod tables;
