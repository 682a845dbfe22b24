//! The file itself: its schema, its owner, limits of a query, moments as text.

pub(crate) mod budget;
pub(crate) mod columns;
pub(crate) mod identity;
pub(crate) mod moment;
pub(crate) mod open;
pub(crate) mod owner;
pub(crate) mod row;
pub(crate) mod schema;
pub(crate) mod tables;
