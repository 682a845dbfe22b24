//! Detects the format of a log from its first lines.

use super::{LogFormat, moment};
use crate::log::mysql::{is_general, is_proxysql};

/// The format of a log that begins with these bytes. `None` if no line has a known format.
pub(crate) fn detect(begin: &[u8]) -> Option<LogFormat> {
    begin.split(|byte| *byte == b'\n').find_map(of_line)
}

fn of_line(line: &[u8]) -> Option<LogFormat> {
    if line.starts_with(b"# User@Host: ") || line.starts_with(b"# Time: ") {
        return Some(LogFormat::Slow);
    }
    if line.starts_with(b"{\"timestamp\":\"") {
        return Some(LogFormat::Jsonlog);
    }
    if is_proxysql(line) {
        return Some(LogFormat::Proxysql);
    }
    if is_general(line) {
        return Some(LogFormat::General);
    }
    let (_, rest) = moment::iso(line).filter(|_| line.get(10) == Some(&b' '))?;
    if rest.first() == Some(&b',') {
        return Some(LogFormat::Csvlog);
    }
    memchr::memmem::find(rest, b":  ").map(|_| LogFormat::Stderr)
}
