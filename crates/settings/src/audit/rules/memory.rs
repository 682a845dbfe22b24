//! Rules on sizes of caches and logs.

use crate::audit::facts::SystemFacts;
use crate::audit::rule::Advice::{Do, Set};
use crate::audit::rule::{Hit, Rule, Scene, Severity, differ};

/// Two sizes count as equal if their ratio is at most this.
const ALIKE: f64 = 1.1;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cache-differs",
        severity: Severity::Warning,
        about: "systems whose caches differ in size by more than a tenth",
        advice: Set(
            &[
                (SystemFacts::is_innodb, "innodb_buffer_pool_size"),
                (SystemFacts::is_rocksdb, "rocksdb_block_cache_size"),
                (SystemFacts::is_postgres, "shared_buffers"),
                (SystemFacts::is_sqlite, "cache_size"),
            ],
            " alike",
        ),
        look: |scene| sizes_differ(scene, SystemFacts::cache_bytes, "cache"),
    },
    Rule {
        id: "cache-warm",
        severity: Severity::Note,
        about: "some systems fill their cache at the start with the pages that it held at shutdown",
        advice: Do("set innodb_buffer_pool_load_at_startup = OFF"),
        look: |scene| {
            differ(
                scene,
                |system| {
                    if system.is_innodb() { system.is_on("innodb_buffer_pool_load_at_startup") } else { None }
                },
                |on| if *on { "fills its cache at the start" } else { "starts cold" }.to_owned(),
            )
        },
    },
    Rule {
        id: "double-cache-differs",
        severity: Severity::Warning,
        about: "some systems use the operating system's page cache in addition to their own",
        advice: Set(
            &[
                (SystemFacts::is_innodb, "innodb_flush_method = O_DIRECT"),
                (SystemFacts::is_rocksdb, "rocksdb_use_direct_reads = ON"),
            ],
            "; or limit the memory of all",
        ),
        look: |scene| {
            differ(scene, SystemFacts::is_direct, |direct| {
                if *direct {
                    "bypasses the system's page cache"
                } else {
                    "has the system's page cache on top"
                }
                .to_owned()
            })
        },
    },
    Rule {
        id: "log-size-differs",
        severity: Severity::Warning,
        about: "systems whose logs differ in size by more than a tenth: with the smaller log, checkpoints come sooner",
        advice: Set(
            &[
                (SystemFacts::is_innodb, "innodb_redo_log_capacity"),
                (SystemFacts::is_postgres, "max_wal_size"),
            ],
            " alike",
        ),
        look: |scene| sizes_differ(scene, SystemFacts::log_bytes, "log"),
    },
];

fn sizes_differ(scene: &Scene<'_>, size: fn(&SystemFacts) -> Option<u64>, what: &str) -> Vec<Hit> {
    let sizes: Vec<u64> = scene.systems.iter().filter_map(size).collect();
    let (Some(least), Some(most)) = (sizes.iter().min(), sizes.iter().max()) else { return Vec::new() };
    if *most as f64 <= *least as f64 * ALIKE {
        return Vec::new();
    }
    differ(scene, size, |bytes| format!("{what} of {} MB", bytes >> 20))
}
