//! The numbers of a trial or a sample. Each number is a field of a struct and a column of a table, with the same
//! name.

/// A struct that is read by the positions of its columns, which is cheaper than reading by their names.
pub(crate) trait ByPlace: Sized {
    /// Reads a row that has the struct's columns from position `first` on.
    fn from_row_at(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Self>;
}

/// A struct whose fields are columns of the results file, all of one type.
macro_rules! columns {
    ($(#[$about:meta])* $name:ident: $kind:ty { $($(#[$field_about:meta])* $field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_about])* pub $field: $kind,)*
        }

        impl $name {
            /// The columns, in the order of [`Self::values`].
            pub(crate) const COLUMNS: &[&str] = &[$(stringify!($field)),*];

            /// The values, in the order of [`Self::COLUMNS`].
            pub(crate) fn values(&self) -> impl Iterator<Item = rusqlite::types::Value> {
                [$(sql_value(self.$field)),*].into_iter()
            }

            /// Reads a row that has a column with each field's name.
            pub(crate) fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                Ok(Self { $($field: row.get(stringify!($field))?,)* })
            }

            /// Combines two values field by field with the function `of`.
            #[must_use]
            pub fn with(&self, other: &Self, of: impl Fn($kind, $kind) -> $kind) -> Self {
                Self { $($field: of(self.$field, other.$field),)* }
            }
        }

        impl ByPlace for $name {
            fn from_row_at(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Self> {
                let mut places = first..;
                Ok(Self { $($field: row.get(places.next().unwrap_or(first))?,)* })
            }
        }
    };
}

columns! {
    /// Numbers of operations, events, queries, errors and reconnects in an interval.
    CountsRecord: u64 {
        /// Operations that the step's rate counts: queries, transactions or rows.
        operations,
        /// Finished events (transactions).
        events,
        /// Queries that returned rows.
        reads,
        /// Queries that changed rows.
        writes,
        /// Other queries.
        others,
        /// Errors that the load ignored. After each error, the load began the event again.
        errors,
        /// Reconnects.
        reconnects,
        /// Events that failed with their connection and were not repeated.
        failed,
    }
}

columns! {
    /// Resource usage in an interval. `None` means "not measured", which is not 0.
    Usage: Option<u64> {
        /// The server's CPU time in user space; for an in-process engine, that of the load process.
        server_user_cpu_us,
        /// The server's CPU time in the kernel; for an in-process engine, that of the load process.
        server_system_cpu_us,
        /// The server's context switches, voluntary and not.
        server_context_switches,
        /// The load process's CPU time in user space; `None` for an in-process engine.
        client_user_cpu_us,
        /// The load process's CPU time in the kernel; `None` for an in-process engine.
        client_system_cpu_us,
        /// The load process's context switches, voluntary and not.
        client_context_switches,
        /// The CPU time of the system's connection pooler in user space; `None` without one.
        pooler_user_cpu_us,
        /// The pooler's CPU time in the kernel.
        pooler_system_cpu_us,
        /// Bytes that the server's process read from storage.
        process_read_bytes,
        /// Bytes that the server's process wrote to storage.
        process_write_bytes,
        /// Reads that the device under the data completed, for all processes.
        device_reads,
        /// Bytes of the reads that the device completed.
        device_read_bytes,
        /// Writes that the device completed.
        device_writes,
        /// Bytes of the writes that the device completed.
        device_write_bytes,
        /// Cache flushes that the device completed. An fsync causes such a flush.
        device_flushes,
        /// The host's CPU time in user space, over all CPUs.
        host_user_cpu_us,
        /// The host's CPU time in the kernel.
        host_system_cpu_us,
        /// The host's CPU time spent waiting for storage.
        host_iowait_cpu_us,
        /// CPU time that the hypervisor gave to other guests.
        host_steal_cpu_us,
        /// The host's idle CPU time.
        host_idle_cpu_us,
    }
}

columns! {
    /// Resident memory during a measurement. `None` means "not measured".
    Memory: Option<u64> {
        /// Largest memory of the server's processes; for an in-process engine, of the load process.
        server_memory_peak_bytes,
        /// Mean memory of the server's processes; for an in-process engine, of the load process.
        server_memory_mean_bytes,
        /// The load process's largest memory; `None` for an in-process engine.
        client_memory_peak_bytes,
    }
}

columns! {
    /// How much of the host's CPU time neighbours used during a measurement. Neighbours are processes outside the run,
    /// and other guests of the hypervisor. `None` means "not measured".
    Neighbours: Option<u64> {
        /// Length of the interval in which the CPU time of neighbours was measured, in µs.
        watched_us,
        /// Number of the host's CPUs.
        watched_cpus,
        /// CPU time of processes outside the run, without kernel threads and interrupts.
        neighbour_cpu_us,
        /// CPU time that the hypervisor gave to other guests.
        neighbour_steal_us,
    }
}

impl Usage {
    /// Returns the usage of two intervals together. A field is `None` if it was not measured in one of the intervals.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, |a, b| Some(a?.saturating_add(b?)))
    }

    /// Returns the usage multiplied by `share`.
    #[must_use]
    pub fn times(&self, share: f64) -> Self {
        self.with(self, |value, _| value.map(|value| (value as f64 * share).round() as u64))
    }
}

/// Converts a count to SQLite's signed integers. Counts are always far below their maximum.
fn sql_value(number: impl Into<Option<u64>>) -> rusqlite::types::Value {
    number.into().map(|number| i64::try_from(number).unwrap_or(i64::MAX)).into()
}
