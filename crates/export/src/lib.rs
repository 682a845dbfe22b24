//! Exports the tables of a results file as Parquet, CSV or JSON Lines, one file per table, and figures of runs for
//! other tools.
//!
//! [`export`] writes all tables from one snapshot, even while a run is in progress. [`grow_dataset`] adds runs to a
//! partitioned data set. [`export_figures`] writes files for Bencher and Apache Otava. `docs/do/export.md` documents
//! the files, and a test compares the document with them. The exports are a separate crate, so that compiling the
//! other crates does not wait for the Parquet library.

mod csv;
mod dataset;
mod error;
mod export;
mod figures;
mod files;
mod jsonl;
mod layout;
mod parquet;
mod row;
mod rows;
mod staging;
mod tables;
#[cfg(test)]
mod tests;

pub use dataset::{DatasetOptions, Grown, GrownRun, Volume, grow_dataset, read_history};
pub use error::ExportError;
pub use export::{Exported, Format, Options, export};
pub use figures::{
    FigureFormat, FigureOptions, FiguresExported, LeftOutRun, WhyLeftOut, export_figures, plain_name,
};
pub use files::{Files, write_file};
