//! Steps of plans that several tests use.

/// A load of one table, then updates of it.
pub(crate) const UPDATES: &str = r#"
[[step]]
id = "load"
group = "load"
command = "prepare"
workload = "oltp_update_index"
operation = "row"
clients = [1]

[[step]]
id = "update"
group = "writes"
workload = "oltp_update_index"
operation = "query"
"#;
