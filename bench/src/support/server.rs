//! Starts the servers on which Dyno and other tools are compared.

use std::collections::BTreeMap;

use anyhow::Context;
use dyno_engine::{Access, Cache, Catalogue, Server, StartOptions, SystemName, fetch};

/// Starts a MariaDB with enough memory for the tables and thousands of connections, and with `settings`.
pub(crate) fn start(settings: &BTreeMap<&str, &str>) -> anyhow::Result<Server> {
    let base = [("innodb_buffer_pool_size", "512M"), ("max_connections", "12000"), ("back_log", "4096")];
    start_engine("mariadb@10.11/innodb", base.iter().copied().chain(settings.iter().map(|(&n, &v)| (n, v))))
}

/// Starts a PostgreSQL with enough memory for the tables, and for a few hundred connections.
pub(crate) fn start_postgres() -> anyhow::Result<Server> {
    start_postgres_with(&[])
}

/// As [`start_postgres`], with `settings`.
pub(crate) fn start_postgres_with(settings: &[(&str, &str)]) -> anyhow::Result<Server> {
    let base = [("shared_buffers", "256MB"), ("max_connections", "600")];
    start_engine("postgres@18.4", base.iter().chain(settings).copied())
}

/// Starts a server of the catalogue with settings.
pub(crate) fn start_engine<'a>(
    name: &str,
    settings: impl Iterator<Item = (&'a str, &'a str)>,
) -> anyhow::Result<Server> {
    let name: SystemName = name.parse()?;
    let catalogue = Catalogue::builtin();
    let installation = fetch(&catalogue.find(&name)?, &Cache::default_location(), &mut |_| {})?;
    let mut options = StartOptions::new(std::env::temp_dir());
    options.storage_engine.clone_from(&name.storage_engine);
    options.settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(dyno_engine::start(&installation, options)?)
}

/// Returns the CPU time that a server with a single process has used, in µs.
pub(crate) fn cpu_us(access: &Access) -> anyhow::Result<u64> {
    process_cpu_us(access.pid)
}

/// Returns the CPU time that a process has used, in µs (`proc_pid_stat(5)`).
pub(crate) fn process_cpu_us(pid: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{pid}/stat");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The name, in parentheses, may contain any character. User and system time are fields 14 and 15.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    // SAFETY: sysconf takes no pointers.
    let ticks_a_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    Ok(ticks * 1_000_000 / ticks_a_second)
}
