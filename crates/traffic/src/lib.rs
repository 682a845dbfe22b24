//! The traffic of a server: the statements of its clients, which are read from its logs or from captures of its
//! network, and kept in one file.
//!
//! [`import`] reads logs and captures of MySQL, MariaDB and PostgreSQL and writes a traffic file, which
//! [`TrafficFile`] reads. `docs/reference/traffic-file.md` documents the file.
//!
//! # Why
//!
//! - Logs of tens of gigabytes are read as a stream, in bounded memory. Lines are found with `memchr` and parsed in
//!   the buffer, without a copy.
//! - A statement is split into its shape and its values in one pass without a grammar ([`sql`]). A parser of SQL
//!   knows the grammar of one version, but logs have statements of all versions, including some that no server
//!   accepted.
//! - The digest of a shape is computed once, when the shape is seen for the first time.
//! - Everything that could not be read is counted, with its lines ([`Trouble`]). Its text is not kept, because it
//!   may contain a password.
//! - This crate is pure: it depends on neither servers nor runs.

mod capture;
mod error;
mod file;
mod import;
mod input;
mod log;
mod mix;
mod replay;
pub mod sql;

pub use error::TrafficError;
pub use file::{
    DigestName, DigestRow, Gap, KindRow, Order, Outline, RateRow, SessionCounts, SessionTimes, SkippedRow,
    SourceRow, Summary, TrafficFile, TroubleRow,
};
pub use import::{Imported, Options, Progress, import, read_log};
pub use input::unpacked;
pub use log::{Event, LogFormat, Statement, Trouble};
pub use mix::{LeftOut, LeftOuts, Mixed, mix};
pub use replay::{Commits, Form, NotSent, ReplayStatement, StatementReader};
