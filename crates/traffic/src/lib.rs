//! The traffic of a server: what its clients asked, read from its logs and kept in one file.
//!
//! [`import`] reads logs of MySQL, MariaDB and PostgreSQL and writes a traffic file, which [`TrafficFile`] reads.
//! `docs/reference/traffic-file.md` documents the file.
//!
//! # Why
//!
//! - Logs of tens of gigabytes are read as a stream, in bounded memory. A line is looked for with `memchr` and parsed where
//!   it lies in the buffer.
//! - A statement is parted into its shape and its values in one pass without a grammar ([`sql`]). A parser of SQL knows one
//!   version's grammar, and logs hold statements of all versions, also such as no server accepted.
//! - The digest of a statement is made of its shape when the shape is seen for the first time, and never again.
//! - Whatever could not be read is counted with its lines ([`Trouble`]). Its text is not kept: it may hold a password.
//! - This crate is pure: it knows neither servers nor runs.

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
pub use log::{Event, LogFormat, Statement, Trouble};
pub use mix::{LeftOut, LeftOuts, Mixed, mix};
pub use replay::{Commits, Form, NotSent, ReplayStatement, StatementReader};
