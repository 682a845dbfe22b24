//! The names of functions and threads in each family of engines. A new family needs a new [`Patterns`].

use crate::catalogue::entry::Family;

/// Names of a family. Function names have neither arguments nor template arguments. A pattern that ends in `*` fits all
/// names that begin with the text before the `*`.
pub(super) struct Patterns {
    /// Kinds of threads. A thread is of the first kind in this list that fits.
    pub(super) kinds: &'static [Kind],
    /// Functions in which a thread waits for its client's next request.
    pub(super) client_waits: &'static [&'static str],
    /// Functions that only wait or lock. The function that calls them is shown as the function of the stack.
    pub(super) waits: &'static [&'static str],
}

/// A kind of thread.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Functions that show the kind. A thread is of this kind if one of them is in its stack.
    pub(super) functions: &'static [&'static str],
    /// Names of threads (`comm`) that show the kind. They are used only if no function in the thread's stack shows a
    /// kind.
    pub(super) threads: &'static [&'static str],
}

/// The kind of a thread that fits no other.
pub(super) const OTHER: &str = "other";

const fn kind(
    name: &'static str,
    functions: &'static [&'static str],
    threads: &'static [&'static str],
) -> Kind {
    Kind { name, functions, threads }
}

static MYSQL: Patterns = Patterns {
    kinds: &[
        kind(
            "connection",
            &[
                "handle_one_connection",
                "do_handle_one_connection",
                "handle_connection",
                "dispatch_command",
                "threadpool_process_request",
            ],
            &["connection"],
        ),
        kind("page cleaner", &["buf_flush_page_cleaner*", "buf_flush_page_coordinator*"], &["ib_pg_flush*"]),
        kind(
            "I/O",
            &[
                "io_handler_thread",
                "fil_aio_wait",
                "tpool::aio_linux*",
                "aio_linux*",
                "aio_uring*",
                "os_aio_handler",
            ],
            &["ib_io_*"],
        ),
        kind(
            "redo log",
            &[
                "log_writer*",
                "log_flusher*",
                "log_write_notifier*",
                "log_flush_notifier*",
                "log_checkpointer*",
            ],
            &["ib_log_*"],
        ),
        kind(
            "purge",
            &["srv_purge_coordinator*", "srv_worker_thread", "trx_purge*", "purge_*"],
            &["ib_srv_purge", "ib_srv_wkr*"],
        ),
        kind(
            "monitor",
            &["srv_master_*", "srv_monitor*", "srv_error_monitor*", "lock_wait_timeout_*"],
            &["ib_src_main", "ib_srv_*"],
        ),
        kind(
            "statistics and dumps",
            &["dict_stats_*", "buf_dump_*", "fts_optimize_*", "buf_resize_*"],
            &["ib_dict_*", "ib_fts_*", "ib_buf_*"],
        ),
        kind("RocksDB", &["rocksdb::ThreadPoolImpl*", "myrocks::*"], &["rocksdb:*"]),
        kind("task pool", &["tpool::thread_pool_generic*", "tpool::*"], &[]),
        kind("signals", &["signal_hand"], &["sig_handler"]),
        kind(
            "listener",
            &[
                "handle_connections_sockets",
                "Mysqld_socket_listener::*",
                "Connection_acceptor*",
                "mysqld_main",
            ],
            &[],
        ),
    ],
    client_waits: &[
        "vio_io_wait",
        "vio_socket_io_wait",
        "my_net_read*",
        "net_read_raw_loop",
        "net_read_packet*",
        "one_thread_per_connection_end",
        "block_until_new_connection",
        "Per_thread_connection_handler::block_until_new_connection",
    ],
    waits: &[
        "os_event*",
        "os_thread_sleep",
        "os_aio_linux_collect",
        "os_file_flush*",
        "os_file_fsync*",
        "ib_wqueue_timedwait",
        "ib_wqueue_wait",
        "my_sync",
        "sync_array_*",
        "mutex_spin_wait",
        "mutex_enter_*",
        "rw_lock_*",
        "pfs_rw_lock_*",
        "TTASEventMutex::*",
        "TTASMutex::*",
        "PolicyMutex::*",
        "IB_mutex*",
        "ssux_lock*",
        "srw_lock*",
        "srw_mutex*",
        "ut_delay",
        "my_cond_*",
        "my_mutex_*",
        "my_rw_*",
        "my_sleep",
        "my_timed_*",
        "native_cond_*",
        "native_mutex_*",
        "safe_mutex_*",
        "safe_cond_*",
        "inline_mysql_*",
        "psi_*",
        "mysql_mutex_*",
        "mysql_cond_*",
        "std::*",
        "__gthread*",
    ],
};

static POSTGRES: Patterns = Patterns {
    kinds: &[
        kind("parallel worker", &["ParallelWorkerMain"], &[]),
        kind("connection", &["PostgresMain", "BackendMain"], &[]),
        kind("checkpointer", &["CheckpointerMain"], &[]),
        kind("background writer", &["BackgroundWriterMain"], &[]),
        kind("WAL writer", &["WalWriterMain"], &[]),
        kind("autovacuum", &["AutoVac*", "StartAutoVac*"], &[]),
        kind("I/O worker", &["IoWorkerMain"], &[]),
        kind("replication", &["ApplyLauncherMain", "ApplyWorkerMain", "WalSnd*", "WalReceiverMain"], &[]),
        kind("background worker", &["BackgroundWorkerMain", "StartBackgroundWorker"], &[]),
        kind("statistics and archive", &["Pgstat*", "pgstat_start", "PgArchiver*", "SysLogger*"], &[]),
        kind("startup", &["StartupProcessMain", "StartupXLOG"], &[]),
        kind("postmaster", &["PostmasterMain"], &[]),
    ],
    client_waits: &[
        "secure_read",
        "pq_recvbuf",
        "pq_getbyte",
        "pq_startmsgread",
        "SocketBackend",
        "ReadCommand",
    ],
    waits: &[
        "WaitEventSetWait*",
        "WaitLatch*",
        "PGSemaphoreLock",
        "pg_usleep",
        "perform_spin_delay",
        "s_lock",
        "LWLockAcquire*",
        "LWLockWait*",
        "ConditionVariable*",
        "ProcWaitForSignal",
    ],
};

impl Patterns {
    /// The patterns of a family. `None` for a family without a server.
    pub(super) fn of(family: Family) -> Option<&'static Self> {
        match family {
            Family::Mysql | Family::Mariadb => Some(&MYSQL),
            Family::Postgres => Some(&POSTGRES),
            Family::Sqlite => None,
        }
    }
}

/// Whether a name fits one of the patterns.
pub(super) fn fits(name: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    })
}
