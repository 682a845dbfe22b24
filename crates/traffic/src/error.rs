//! Errors of traffic files and their import.

use std::path::PathBuf;

use crate::log::LogFormat;

/// Why an import failed, or why a traffic file cannot be read. A failed import leaves no file behind.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A log cannot be opened or read.
    #[error("{name}: cannot be read ({reason}); check the path and its permissions")]
    Unreadable { name: String, reason: String },
    /// A log is compressed in a way that is not supported.
    #[error("{name}: is compressed with {with}; decompress it, or compress it with gzip, zstd or xz")]
    Packed { name: String, with: &'static str },
    /// The format of a log is unknown.
    #[error(
        "{name}: its beginning does not look like a log that Dyno reads; name the format with --log-format, or see docs/do/traffic.md"
    )]
    Unknown { name: String },
    /// No packet at the start of a capture belongs to a known product.
    #[error(
        "{name}: is a capture, but no packet at its beginning is of a server on its default port, or opens a session; name the product with --log-format pcap-mysql or pcap-postgresql"
    )]
    NoServer { name: String },
    /// The logs of one import come from both MySQL and PostgreSQL.
    #[error(
        "{name}: is {format}, but the logs before it are of another product; import each product into a file of its own"
    )]
    Mixed { name: String, format: LogFormat },
    /// The logs contain no statement.
    #[error(
        "the logs contain no statement{told}; see docs/do/traffic.md for the settings that make a server log them"
    )]
    Nothing {
        /// How many entries could not be read and where the first of them is, as the end of the message. Empty if all
        /// entries could be read.
        told: String,
    },
    /// The file exists already.
    #[error("{}: exists already; name another file with --out, or overwrite it with --force", path.display())]
    Exists { path: PathBuf },
    /// The file cannot be written.
    #[error("{}: cannot be written ({reason}); check its folder and free space, or name another file with --out", path.display())]
    Unwritable { path: PathBuf, reason: String },
    /// The caller asked to stop.
    #[error("stopped; nothing was imported")]
    Stopped,
    /// The file does not exist.
    #[error("{}: no such traffic file; make one with `dyno traffic import LOG --out FILE`", path.display())]
    NotFound { path: PathBuf },
    /// The file has another format.
    #[error("{}: not a traffic file; make one with `dyno traffic import LOG --out FILE`", path.display())]
    Foreign { path: PathBuf },
    /// The file was written by another version of Dyno.
    #[error("{}: has traffic format {found}, this Dyno reads format {} only; import the logs again", path.display(), crate::file::VERSION)]
    OtherVersion { path: PathBuf, found: i64 },
    /// The file's contents are damaged.
    #[error("{}: cannot be read ({source}); import the logs again", path.display())]
    Damaged { path: PathBuf, source: rusqlite::Error },
    /// The traffic has too many commits to keep their order.
    #[error("{}: has more than {most} commits, too many to keep their order; replay it without `order`, or import a part of the logs", path.display())]
    TooManyCommits { path: PathBuf, most: u64 },
    /// The table of digests is too large to be read.
    #[error("{}: is larger than {most_mib} MiB; export fewer digests, such as those with the most calls", path.display())]
    TooLarge { path: PathBuf, most_mib: u64 },
    /// The file contains no table of digests.
    #[error("{}: neither a traffic file nor a table of digests with the columns query and calls (pg_stat_statements) or digest_text and count_star (events_statements_summary_by_digest)", path.display())]
    NoDigests { path: PathBuf },
    /// The traffic contains no statement that a mix can execute.
    #[error("{}: holds no statement that a mix can execute; `dyno traffic show` lists what it holds", path.display())]
    Unmixed { path: PathBuf },
}
