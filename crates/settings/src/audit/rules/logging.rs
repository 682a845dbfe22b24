//! Rules on logs and instrumentation.

use crate::audit::facts::SystemFacts;
use crate::audit::rule::Advice::{Do, Set};
use crate::audit::rule::{Rule, Severity, differ, each};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "binlog-differs",
        severity: Severity::Warning,
        about: "some systems write a binlog, a second log that each commit writes",
        advice: Do("set log_bin alike; it is ON by default since MySQL 8.0, and OFF in MariaDB"),
        look: |scene| {
            differ(
                scene,
                |system| if system.product.is_mysqld() { system.is_on("log_bin") } else { None },
                |on| if *on { "writes a binlog" } else { "writes no binlog" }.to_owned(),
            )
        },
    },
    Rule {
        id: "binlog-format-differs",
        severity: Severity::Note,
        about: "systems whose binlogs have different contents",
        advice: Do("set binlog_format = ROW"),
        look: |scene| {
            differ(
                scene,
                |system| if system.is_on("log_bin")? { system.word("binlog_format") } else { None },
                |format| format!("binlog of {format}s"),
            )
        },
    },
    Rule {
        id: "statement-log",
        severity: Severity::Warning,
        about: "a system that writes every statement to a log",
        advice: Set(
            &[
                (SystemFacts::is_mysqld, "general_log = OFF"),
                (SystemFacts::is_postgres, "log_statement = none, log_min_duration_statement = -1"),
            ],
            "",
        ),
        look: |scene| {
            each(scene, |system| {
                logs_statements(system).then(|| "writes every statement to a log".to_owned())
            })
        },
    },
    Rule {
        id: "performance-schema-differs",
        severity: Severity::Warning,
        about: "some systems instrument themselves, which costs CPU at each statement and wait",
        advice: Do("set performance_schema alike; it is ON by default since MySQL 5.6, and OFF in MariaDB"),
        look: |scene| {
            differ(
                scene,
                |system| system.is_on("performance_schema"),
                |on| if *on { "performance_schema on" } else { "performance_schema off" }.to_owned(),
            )
        },
    },
    Rule {
        id: "query-cache",
        severity: Severity::Warning,
        about: "a system that answers repeated queries from memory, behind one lock",
        advice: Do("set query_cache_type = OFF and query_cache_size = 0"),
        look: |scene| {
            each(scene, |system| {
                let has_memory = system.bytes("query_cache_size").is_some_and(|bytes| bytes > 0);
                let is_on = system.word("query_cache_type").is_some_and(|kind| kind != "0");
                (is_on && has_memory).then(|| "may answer from its query cache".to_owned())
            })
        },
    },
];

fn logs_statements(system: &SystemFacts) -> bool {
    let slow = system.is_on("slow_query_log") == Some(true)
        && system.word("long_query_time").is_some_and(|limit| limit == "0");
    let postgres = system.word("log_statement").is_some_and(|what| what == "all")
        || system.word("log_min_duration_statement").is_some_and(|limit| limit == "0" || limit == "0ms");
    system.is_on("general_log") == Some(true) || slow || postgres
}
