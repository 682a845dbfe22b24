//! Results for other tools: the tables of a results file as Parquet, CSV or JSON Lines, a file a table.
//!
//! [`export`] writes them all, as of one moment, also while a run goes on. `docs/export.md` says what is in
//! them; a test holds it to that. A crate of its own, so that nothing else waits for the Parquet library.

mod csv;
mod error;
mod export;
mod files;
mod jsonl;
mod parquet;
mod row;
mod tables;
#[cfg(test)]
mod tests;

pub use error::ExportError;
pub use export::{Exported, Format, Options, export};
