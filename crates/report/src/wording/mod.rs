//! Words and numbers for people.

pub(crate) mod hardware;
pub(crate) mod in_force;
pub(crate) mod number;
pub(crate) mod phrases;
pub(crate) mod prices;
pub(crate) mod summary;
pub(crate) mod words;
