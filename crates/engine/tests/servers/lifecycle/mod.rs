//! Tests of fetching and starting servers, of servers that outlive the process that started them, and of servers that
//! fail while they work.

mod detached;
mod faults;
mod fetching;
mod starting;
