//! The traffic file: a SQLite database with the contents of logs.

mod chunk;
mod executions;
mod place;
mod read;
mod replay;
mod rows;
mod schema;
mod summary;
mod write;

pub(crate) use self::chunk::Chunk;
pub(crate) use self::executions::Execution;
pub(crate) use self::place::{Place, unwritable};
pub use self::read::TrafficFile;
pub(crate) use self::replay::StoredShape;
pub use self::replay::{DigestName, Outline, SessionTimes};
pub(crate) use self::schema::VERSION;
pub use self::summary::{
    DigestRow, Gap, KindRow, Order, RateRow, SessionCounts, SkippedRow, SourceRow, Summary, TroubleRow,
};
pub(crate) use self::write::{
    DigestCounts, NewSession, NewStatement, SecondCounts, SourceCounts, Whole, Writer,
};
