//! Tests of fetching and starting servers, of servers that outlive the process that started them, and of servers that
//! fail while they work.

pub(crate) mod detached;
pub(crate) mod faults;
pub(crate) mod fetching;
pub(crate) mod starting;
