//! A small plan for tests.

use std::path::Path;

use dyno_engine::Catalogue;

use super::{Plan, PlanError};

/// A plan with three systems, two steps, two numbers of clients and four rounds.
pub(crate) const TEXT: &str = r#"name = "small"
title = "A small plan"
base = "a"
rounds = 4
clients = [1, 4]
seconds = 2
warmup_seconds = 0.5

[data]
tables = 2
rows = 100

[[system]]
id = "a"
engine = "mysql@5.6.24/innodb"
settings = { innodb_buffer_pool_size = "64M", innodb_doublewrite = 1 }

[[system]]
id = "b"
engine = "mariadb@10.11/rocksdb"

[[system]]
id = "c"
engine = "sqlite"
settings = { journal_mode = "WAL" }

[[step]]
id = "load"
group = "load"
command = "prepare"
workload = "oltp_read_write"
operation = "row"

[[step]]
id = "read-write"
group = "write-heavy"
workload = "oltp_read_write"
operation = "transaction"
options = { range_size = 10, skip_trx = true }
"#;

/// Parses a plan's text. Errors name the file `plan.toml`, and paths are relative to the current folder.
pub(crate) fn parse(text: &str) -> Result<Plan, PlanError> {
    Plan::parse(text, "plan.toml", Path::new(""), &Catalogue::builtin())
}

/// Parses [`TEXT`].
pub(crate) fn plan() -> Plan {
    parse(TEXT).unwrap()
}
