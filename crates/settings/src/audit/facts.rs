//! Facts about a system, in terms common to all families.

use std::collections::BTreeMap;

use dyno_engine::Family;
use serde::{Deserialize, Serialize};

use crate::facts::product::Product;
use crate::facts::value::{bytes, is_on, normal};
use crate::files::knowledge::knowledge;
use crate::in_force::in_place_of;
use crate::translation::fixed_value;

/// The known facts about a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemFacts {
    pub id: String,
    pub product: Product,
    /// The system's variables as the server reports them. For SQLite, these are its pragmas.
    pub variables: BTreeMap<String, String>,
    /// The settings with which the system was started, by the server's own names.
    pub asked: BTreeMap<String, String>,
    /// The limits of the system's server on the host, if known.
    pub limits: Option<SystemLimits>,
}

/// The limits of a server on its host, as the plan requests them and as the kernel applies them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemLimits {
    /// The requested limits, as name and value. Empty if the server may use the whole host.
    pub asked: BTreeMap<String, String>,
    /// The limits whose values in the kernel differ from the request, one line for each limit.
    pub differences: Vec<String>,
    /// The resources that the host cannot limit, one line for each resource.
    pub not_limited: Vec<String>,
}

impl SystemLimits {
    /// Formats the limits as `memory_bytes 268435456, write_iops 500`.
    pub(super) fn words(&self) -> String {
        let limits: Vec<String> = self.asked.iter().map(|(name, value)| format!("{name} {value}")).collect();
        if limits.is_empty() { "the whole host".to_owned() } else { limits.join(", ") }
    }
}

impl SystemFacts {
    /// The value of a variable, by its newest name. If the version does not have or does not use the variable, the
    /// value is the one that is fixed for this version.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let aliases = knowledge(self.product.family, name).map_or(&[][..], |known| &known.aliases);
        let mut names = std::iter::once(name).chain(aliases.iter().map(String::as_str));
        in_place_of(&self.product, name)
            .or_else(|| names.find_map(|name| self.variables.get(name).cloned()))
            .or_else(|| fixed_value(&self.product, name))
    }

    /// The value of a variable in its normal form.
    pub(super) fn word(&self, name: &str) -> Option<String> {
        self.value(name).map(|value| normal(&value))
    }

    pub(super) fn is_on(&self, name: &str) -> Option<bool> {
        is_on(&self.value(name)?)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.word(name)?.parse().ok()
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<u64> {
        bytes(&self.value(name)?)
    }

    /// Whether the system's tables are in InnoDB.
    pub(super) fn is_innodb(&self) -> bool {
        self.product.keeps_tables_in("innodb")
    }

    /// Whether the system's tables are in MyRocks.
    pub(super) fn is_rocksdb(&self) -> bool {
        self.product.keeps_tables_in("rocksdb")
    }

    pub(super) fn is_postgres(&self) -> bool {
        self.is(Family::Postgres)
    }

    pub(super) fn is_sqlite(&self) -> bool {
        self.is(Family::Sqlite)
    }

    /// Whether the system is MySQL or MariaDB.
    pub(super) fn is_mysqld(&self) -> bool {
        self.product.is_mysqld()
    }

    fn is(&self, family: Family) -> bool {
        self.product.family == family
    }

    /// Size of the engine's cache in bytes. For SQLite, size of the cache of one connection.
    pub(crate) fn cache_bytes(&self) -> Option<u64> {
        if self.is_innodb() {
            self.bytes("innodb_buffer_pool_size")
        } else if self.is_rocksdb() {
            self.bytes("rocksdb_block_cache_size")
        } else if self.is(Family::Postgres) {
            self.bytes("shared_buffers")
        } else {
            let size = self.number("cache_size")?;
            let unit_bytes = if size < 0.0 { 1024.0 } else { self.number("page_size")? };
            Some((size.abs() * unit_bytes) as u64)
        }
    }

    /// Whether data survives torn pages, which are pages that a power cut left only partly written. Data survives if
    /// the server can repair such pages, or if no page is ever torn.
    pub(super) fn survives_torn_pages(&self) -> Option<bool> {
        if self.is_innodb() {
            // DETECT_ONLY detects torn pages but cannot repair them.
            self.word("innodb_doublewrite").map(|mode| mode != "0" && mode != "detect_only")
        } else if self.is_rocksdb() {
            Some(true)
        } else if self.is(Family::Postgres) {
            self.is_on("full_page_writes")
        } else {
            let (journal, level) = (self.word("journal_mode")?, self.sqlite_sync_level()?);
            Some(
                !matches!((journal.as_str(), level), ("0" | "memory", _) | (_, 0))
                    && (journal == "wal" || level > 1),
            )
        }
    }

    /// The algorithm of the pages' checksums. `none` if pages have no checksum.
    pub(super) fn checksum(&self) -> Option<String> {
        if self.is_innodb() {
            let algorithm = self.word("innodb_checksum_algorithm").or_else(|| {
                let old = self.is_on("innodb_checksums")?;
                Some(if old { "innodb" } else { "none" }.to_owned())
            })?;
            Some(algorithm.trim_start_matches("strict_").to_owned())
        } else if self.is_rocksdb() {
            // Every block of RocksDB has a checksum.
            Some("crc32c".to_owned())
        } else if self.is(Family::Postgres) {
            self.is_on("data_checksums").map(|on| if on { "fnv1a" } else { "none" }.to_owned())
        } else {
            Some("none".to_owned())
        }
    }

    /// The isolation level by the name of the SQL standard.
    pub(super) fn isolation(&self) -> Option<String> {
        match self.product.family {
            Family::Mysql | Family::Mariadb => {
                self.word("transaction_isolation").map(|level| level.replace('-', " "))
            }
            Family::Postgres => self.word("default_transaction_isolation"),
            Family::Sqlite => Some("serializable".to_owned()),
        }
    }

    /// The character set of the data.
    pub(super) fn character_set(&self) -> Option<String> {
        let name = match self.product.family {
            Family::Mysql | Family::Mariadb => "character_set_server",
            Family::Postgres => "server_encoding",
            Family::Sqlite => "encoding",
        };
        Some(match self.word(name)?.as_str() {
            "utf8" | "utf8mb3" if self.product.is_mysqld() => "utf8mb3".to_owned(),
            "utf8" | "utf-8" | "utf8mb4" => "utf-8".to_owned(),
            other => other.to_owned(),
        })
    }

    /// Whether the data files bypass the operating system's page cache.
    pub(super) fn is_direct(&self) -> Option<bool> {
        if self.is_innodb() {
            let buffered = self.is_on("innodb_data_file_buffering");
            let method = || self.word("innodb_flush_method").map(|method| method.contains("direct"));
            buffered.map(|buffered| !buffered).or_else(method)
        } else if self.is_rocksdb() {
            self.is_on("rocksdb_use_direct_reads")
        } else {
            Some(false)
        }
    }

    /// Size of the redo log in bytes.
    pub(crate) fn log_bytes(&self) -> Option<u64> {
        if self.is_innodb() {
            redo_log_bytes(|name| self.value(name))
        } else if self.is(Family::Postgres) {
            self.bytes("max_wal_size")
        } else {
            None
        }
    }

    /// Page size in bytes.
    pub(super) fn page_bytes(&self) -> Option<u64> {
        if self.is_innodb() {
            self.bytes("innodb_page_size")
        } else if self.is_rocksdb() {
            self.bytes("rocksdb_block_size")
        } else if self.is(Family::Postgres) {
            self.bytes("block_size")
        } else {
            self.bytes("page_size")
        }
    }

    /// Whether new tables are compressed by default.
    pub(super) fn is_compressed(&self) -> Option<bool> {
        if self.is_innodb() {
            Some(self.is_on("innodb_compression_default") == Some(true))
        } else if self.is_rocksdb() {
            // Unless an option turns it off, tables are compressed, because MyRocks compresses with Snappy by default.
            let options = self.value("rocksdb_default_cf_options")?;
            Some(!options.split(';').any(|option| option.trim() == "compression=kNoCompression"))
        } else {
            Some(false)
        }
    }

    /// Whether the server is a debug build.
    pub(super) fn is_debug_build(&self) -> bool {
        let says = |name| self.word(name).is_some_and(|text| text.contains("debug"));
        let mysqld = self.product.is_mysqld() && (says("version") || says("version_comment"));
        mysqld || self.is_on("debug_assertions") == Some(true)
    }
}

/// Default value of `innodb_redo_log_capacity`, in bytes.
const REDO_CAPACITY: u64 = 100 << 20;
/// Default values of `innodb_log_file_size`, in bytes, and of `innodb_log_files_in_group`.
const REDO_FILES: (u64, u64) = (48 << 20, 2);

/// Total size of InnoDB's redo log in bytes, from the variables that the version has.
///
/// Since MySQL 8.0.30, the log has `innodb_log_files_in_group` times `innodb_log_file_size` bytes if these
/// variables are set and `innodb_redo_log_capacity` is not. In this case `innodb_redo_log_capacity` still shows its
/// default (manual of MySQL 8.0, "InnoDB Startup Options and System Variables").
pub(crate) fn redo_log_bytes(value: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let bytes_of = |name: &str| bytes(&value(name)?);
    let file = bytes_of("innodb_log_file_size");
    let files = bytes_of("innodb_log_files_in_group").unwrap_or(1);
    match (bytes_of("innodb_redo_log_capacity"), file) {
        (Some(REDO_CAPACITY), Some(file)) if (file, files) != REDO_FILES => Some(file * files),
        (Some(capacity), _) => Some(capacity),
        (None, file) => Some(file? * files),
    }
}
