//! Exports the tables of a results file as Parquet, CSV or JSON Lines, one file per table.
//!
//! [`export`] writes all tables from one snapshot, also while a run is in progress. `docs/export.md` documents them,
//! and a test compares it with the files. This is a separate crate so that no other crate waits for the Parquet library
//! to compile.

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
