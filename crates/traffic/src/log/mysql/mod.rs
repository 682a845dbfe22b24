//! Logs of MySQL, MariaDB and Percona Server, and of ProxySQL in front of them.

mod general;
mod headers;
mod parameters;
mod proxysql;
mod slow;

pub(super) use self::general::{General, is_general};
pub(crate) use self::parameters::{with_literals, write_string};
pub(super) use self::proxysql::{Proxysql, is_proxysql};
pub(super) use self::slow::Slow;

/// Whether a line is the first of the three lines that a server writes when it opens a log:
/// `/usr/sbin/mysqld, Version: 10.11.6-MariaDB (Debian 12). started with:`.
fn is_opening(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"started with:") && memchr::memmem::find(line, b", Version: ").is_some()
}

/// Whether a line is the second or third line that a server writes when it opens a log.
fn is_of_opening(line: &[u8]) -> bool {
    let is_columns = line.starts_with(b"Time") && line.trim_ascii_end().ends_with(b"Argument");
    let is_port =
        line.len() > 4 && line[..4].eq_ignore_ascii_case(b"tcp ") && line[4..].starts_with(b"port: ")
            || line.starts_with(b"TCP Port: ");
    is_columns || is_port
}
