//! Lists the status variables that are gauges, because servers do not say which are. All other variables only grow.

use super::name::CounterKind;

/// Beginnings of the names of gauges, in lower case.
const BEGINNINGS: [&str; 26] = [
    "acl_",
    "binlog_snapshot_",
    "error_log_",
    "global_connection_memory",
    "innodb_buffer_pool_bytes_",
    "innodb_buffer_pool_resize_",
    "innodb_checkpoint_",
    "innodb_ibuf_free",
    "innodb_ibuf_seg",
    "innodb_mem_",
    "innodb_onlineddl_",
    "innodb_undo_tablespaces_",
    "key_blocks_",
    "last_query_",
    "memory_used",
    "open_",
    "qcache_free_",
    "replica_",
    "slave_",
    "slaves_",
    "ssl_ctx_",
    "ssl_verify_",
    "threadpool_",
    "uptime_since",
    "wsrep",
    "rpl_semi_sync_master_clients",
];

/// Ends of the names of gauges, in lower case.
const ENDS: [&str; 26] = [
    "_age",
    "_avg",
    "_avg_wait_time",
    "_blocks_not_flushed",
    "_blocks_unused",
    "_blocks_used",
    "_capacity_resized",
    "_current_waits",
    "_estimated_iops",
    "_history_len",
    "_length",
    "_logical_size",
    "_longest_seen",
    "_max",
    "_num_open_files",
    "_page_size",
    "_physical_size",
    "_pool_size",
    "_running",
    "_sessions",
    "_slots_cached",
    "_slots_used",
    "_timeout",
    "_total_blocks",
    "_undo_logs",
    "_uuid",
];

/// Whole names of other gauges, in lower case.
const NAMES: [&str; 28] = [
    "delayed_insert_threads",
    "ibuf_size",
    "innodb_current_row_locks",
    "innodb_descriptors_memory",
    "innodb_ibuf_size",
    "innodb_oldest_view_low_limit_trx_id",
    "innodb_purge_undo_no",
    "innodb_read_views_memory",
    "max_used_connections",
    "not_flushed_delayed_rows",
    "ongoing_anonymous_transaction_count",
    "os_pending_reads",
    "os_pending_writes",
    "prepared_stmt_count",
    "qcache_queries_in_cache",
    "rocksdb_memtable_total",
    "rocksdb_memtable_unflushed",
    "rocksdb_num_iterators",
    "ssl_session_cache_size",
    "ssl_used_session_cache_entries",
    "stack_usage",
    "subquery_cache_size",
    "table_open_cache_active_instances",
    "tc_log_max_pages_used",
    "threads_cached",
    "threads_connected",
    "lock_threads_waiting",
    "file_num_open_files",
];

/// The states of pages in InnoDB's buffer pool. A variable that counts the pages in a state is a gauge. Counters of
/// page operations have similar names.
const PAGES: [&str; 7] = ["data", "dirty", "free", "latched", "misc", "old", "total"];

/// The kind of a variable of `SHOW GLOBAL STATUS`.
pub(super) fn status(name: &str) -> CounterKind {
    let name = name.to_ascii_lowercase();
    let is_gauge = NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDS.iter().any(|end| name.ends_with(end))
        || name.contains("_pending_")
        || name.split_once("buffer_pool_pages_").is_some_and(|(_, pages)| PAGES.contains(&pages));
    if is_gauge { CounterKind::Gauge } else { CounterKind::Counter }
}

/// The kind of an InnoDB metric. The type that the server gives is not reliable: it is `value` for a few counters
/// too, and `counter` for a few gauges.
pub(super) fn innodb_metric(name: &str, server_says: Option<&str>) -> CounterKind {
    let is_known_counter = ["lock_deadlocks", "lock_timeouts"].contains(&name);
    if server_says == Some("value") && !is_known_counter { CounterKind::Gauge } else { status(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_something_is_told_from_what_grows() {
        for gauge in [
            "Threads_running",
            "Threads_connected",
            "Innodb_buffer_pool_pages_dirty",
            "Innodb_buffer_pool_bytes_data",
            "Innodb_data_pending_reads",
            "Innodb_row_lock_time_max",
            "Innodb_history_list_length",
            // This is a gauge: the value is the number of a record within a transaction, and it begins anew with each
            // purged transaction.
            "Innodb_purge_undo_no",
            "Open_tables",
            "Rocksdb_memtable_total",
            "Rocksdb_manual_compactions_running",
            "Max_used_connections",
        ] {
            assert_eq!(status(gauge), CounterKind::Gauge, "{gauge}");
        }
        for counter in [
            "Com_select",
            "Handler_read_key",
            "Innodb_buffer_pool_pages_flushed",
            "Innodb_row_lock_time",
            "Innodb_row_lock_waits",
            "Opened_tables",
            "Threads_created",
            "Uptime",
            "Rocksdb_block_cache_hit",
            "Questions",
        ] {
            assert_eq!(status(counter), CounterKind::Counter, "{counter}");
        }
    }

    #[test]
    fn the_servers_word_for_a_metric_counts_but_where_it_is_wrong() {
        assert_eq!(innodb_metric("buffer_pool_size", Some("value")), CounterKind::Gauge);
        assert_eq!(innodb_metric("lock_deadlocks", Some("value")), CounterKind::Counter);
        assert_eq!(innodb_metric("os_pending_reads", Some("counter")), CounterKind::Gauge);
        assert_eq!(innodb_metric("buffer_pool_reads", Some("status_counter")), CounterKind::Counter);
    }
}
