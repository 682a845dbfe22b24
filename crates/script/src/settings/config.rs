//! The configuration of a script.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::data::random::UniqueCounters;
use crate::lua::MemoryLimit;

/// A script with the options of its run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The script's name in errors: its path, or the name of a built-in workload.
    pub name: String,
    pub source: String,
    /// Folders that `require` and `dofile` search, in order.
    pub search_path: Vec<PathBuf>,
    /// Finds the text of a module that is built into the program, by the argument of `require`.
    pub builtin: fn(&str) -> Option<&'static str>,
    /// The command line, without the program's name (`sysbench.cmdline.argv`).
    pub arguments: Vec<String>,
    /// Values of the script's own options as text (`table-size` or `table_size` → `10000`).
    pub options: BTreeMap<String, String>,
    /// Values of sysbench's general and database options as text (`threads`, `rand-type`, `mysql-host`).
    pub globals: BTreeMap<String, String>,
    /// The version of sysbench that the script sees in `sysbench.version`.
    pub sysbench_version: String,
    /// The database driver's name: `mysql`, `pgsql` or `sqlite`.
    pub driver: String,
    /// The command to run: `prepare`, `run`, `cleanup`, or one that the script defines.
    pub command: String,
    /// Number of tasks of the whole run, in all runtimes together.
    pub threads: u32,
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// Counters of the unique numbers, shared by all runtimes of a run.
    pub unique: UniqueCounters,
    /// The memory that scripts may use. All runtimes of a process share it.
    pub memory: MemoryLimit,
    /// Whether [`Host::call`](crate::Host::call) answers requests at once. Otherwise a request yields to the caller
    /// of [`Runtime::resume`](crate::Runtime::resume).
    pub blocking: bool,
    /// Whether the functions that Lua calls are marked as a [`Stage`](crate::Stage), for a profile.
    pub marks_functions: bool,
}
