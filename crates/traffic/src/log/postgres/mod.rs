//! Logs of PostgreSQL.

mod csvlog;
mod jsonlog;
mod message;
mod parameters;
mod stderr;

pub(super) use self::csvlog::Csvlog;
pub(super) use self::jsonlog::Jsonlog;
pub(super) use self::stderr::Stderr;
