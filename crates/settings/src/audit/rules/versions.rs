//! Rules on defaults that changed between versions.

use crate::audit::rule::Advice::Do;
use crate::audit::rule::{Rule, Severity, differ, each};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "dive-limit-differs",
        severity: Severity::Warning,
        about: "systems that differ in the length of IN list up to which they look up each value in the index while planning",
        advice: Do("set eq_range_index_dive_limit = 10; it is 200 since MySQL 5.7 and MariaDB 10.4"),
        look: |scene| {
            differ(
                scene,
                |system| system.number("eq_range_index_dive_limit").map(|limit| limit as u64),
                |limit| match limit {
                    0 => "plans each IN list by dives into the index".to_owned(),
                    limit => format!("plans IN lists of fewer than {limit} values by dives into the index"),
                },
            )
        },
    },
    Rule {
        id: "adaptive-hash-differs",
        severity: Severity::Warning,
        about: "some systems keep a hash index in memory",
        advice: Do("set innodb_adaptive_hash_index alike; it is OFF since MySQL 8.4 and MariaDB 10.5"),
        look: |scene| {
            differ(
                scene,
                |system| if system.is_innodb() { system.is_on("innodb_adaptive_hash_index") } else { None },
                |on| if *on { "adaptive hash index on" } else { "adaptive hash index off" }.to_owned(),
            )
        },
    },
    Rule {
        id: "change-buffering-differs",
        severity: Severity::Warning,
        about: "some systems postpone changes to secondary indexes, which saves reads now and costs them later",
        advice: Do("set innodb_change_buffering = none, all that MariaDB 11 has"),
        look: |scene| {
            differ(
                scene,
                |system| if system.is_innodb() { system.word("innodb_change_buffering") } else { None },
                |what| format!("change buffering {}", if what == "0" { "none" } else { what }),
            )
        },
    },
    Rule {
        id: "io-capacity-differs",
        severity: Severity::Note,
        about: "systems whose background writes aim at different rates",
        advice: Do(
            "set innodb_io_capacity and innodb_io_capacity_max alike; 200 before MySQL 8.4, 10000 since",
        ),
        look: |scene| {
            differ(
                scene,
                |system| {
                    if system.is_innodb() {
                        system.number("innodb_io_capacity").map(|rate| rate as u64)
                    } else {
                        None
                    }
                },
                |rate| format!("aims at {rate} background writes a second"),
            )
        },
    },
    Rule {
        id: "flush-neighbors-differs",
        severity: Severity::Note,
        about: "some systems write the neighbours of a dirty page with it",
        advice: Do("set innodb_flush_neighbors = 0"),
        look: |scene| {
            differ(
                scene,
                |system| {
                    if system.is_innodb() {
                        system.word("innodb_flush_neighbors").map(|how| how != "0")
                    } else {
                        None
                    }
                },
                |on| if *on { "writes neighbours too" } else { "writes single pages" }.to_owned(),
            )
        },
    },
    Rule {
        id: "jit-differs",
        severity: Severity::Warning,
        about: "some systems compile costly queries to machine code",
        advice: Do("set jit = off"),
        look: |scene| {
            differ(
                scene,
                |system| system.is_on("jit"),
                |on| if *on { "compiles queries" } else { "does not compile queries" }.to_owned(),
            )
        },
    },
    Rule {
        id: "parallel-query-differs",
        severity: Severity::Warning,
        about: "systems that use different numbers of processes for one query",
        advice: Do("set max_parallel_workers_per_gather alike; 0 means one core per query, as in MySQL"),
        look: |scene| {
            differ(
                scene,
                |system| {
                    let helpers = system.number("max_parallel_workers_per_gather");
                    // MySQL and SQLite run a query on one core.
                    Some(helpers.unwrap_or(0.0) as u64)
                },
                |helpers| format!("up to {} cores a query", helpers + 1),
            )
        },
    },
    Rule {
        id: "autovacuum-off",
        severity: Severity::Warning,
        about: "a system that does not remove old row versions: its tables grow as the test goes on",
        advice: Do("set autovacuum = on"),
        look: |scene| {
            each(scene, |system| {
                let is_off = system.is_on("autovacuum") == Some(false);
                is_off.then(|| "does not vacuum".to_owned())
            })
        },
    },
];
