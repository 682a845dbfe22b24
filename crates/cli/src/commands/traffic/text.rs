//! A traffic file as text: at most 40 lines, or everything.

use std::fmt::Write as _;
use std::path::Path;

use dyno_printable::printable;
use dyno_report::trouble_words;
use dyno_traffic::{DigestRow, LogFormat, RateRow, Summary};
use indicatif::HumanCount;

use super::words::{duration, plural, time};
use crate::commands::read::results::words::{bytes, moment, table};

/// Largest numbers of rows that are shown, by kind of row.
pub(super) struct Room {
    pub(super) digests: usize,
    /// Number of time intervals for rates.
    pub(super) parts: usize,
    logs: usize,
    gaps: usize,
    troubles: usize,
    /// Whether digests are cut at the end of the line.
    cuts: bool,
}

impl Room {
    pub(super) const SHORT: Self = Self { digests: 10, parts: 6, logs: 3, gaps: 2, troubles: 5, cuts: true };
    pub(super) const FULL: Self = Self {
        digests: usize::MAX,
        parts: 60,
        logs: usize::MAX,
        gaps: usize::MAX,
        troubles: usize::MAX,
        cuts: false,
    };
}

/// The contents of a traffic file. If digests are cut, their lines have at most `width` columns.
pub(super) fn text(path: &Path, summary: &Summary, room: &Room, width: usize) -> String {
    let mut out = head(path, summary);
    out += &logs(summary, room);
    out += &sessions(summary);
    out += &digests(summary, room, width);
    out += &rates(summary);
    out += &gaps(summary, room);
    out += &troubles(summary, room);
    out
}

/// A number from the file. It is negative only if the file was edited.
fn count(number: i64) -> HumanCount {
    HumanCount(number.max(0) as u64)
}

fn counted(number: i64, noun: &str) -> String {
    plural(count(number), number.max(0) as u64, noun)
}

fn seconds(at_s: i64) -> String {
    moment(at_s.saturating_mul(1000))
}

fn head(path: &Path, summary: &Summary) -> String {
    let product = match summary.dialect.as_str() {
        "mysql" => "MySQL or MariaDB",
        _ => "PostgreSQL",
    };
    let mut out = format!(
        "{}: {} in {} from {}, {product}\n",
        printable(&path.display().to_string()),
        counted(summary.statements, "statement"),
        duration(summary.seconds),
        moment(summary.began_at_us / 1000),
    );
    let values = if summary.is_redacted { "only the lengths of values" } else { "the values in statements" };
    let users = if summary.has_user_names { "the names of users" } else { "hashes of the names of users" };
    let _ = writeln!(out, "It has {values}, and {users}.");
    out
}

fn logs(summary: &Summary, room: &Room) -> String {
    let mut out = String::new();
    for source in summary.sources.iter().take(room.logs) {
        let packed =
            if source.compression == "none" { String::new() } else { format!(", {}", source.compression) };
        let is_capture = LogFormat::named(&source.format).is_some_and(LogFormat::is_capture);
        let _ = writeln!(
            out,
            "  {}: {}{packed}, {}, {}, {}",
            printable(&source.name),
            printable(&source.format),
            bytes(source.bytes.max(0) as u64),
            counted(source.lines, if is_capture { "packet" } else { "line" }),
            counted(source.statements, "statement"),
        );
    }
    more(&mut out, summary.sources.len(), room.logs, "logs");
    out
}

/// Adds a line on the rows that are not shown, if there are any.
fn more(out: &mut String, all: usize, shown: usize, noun: &str) {
    if all > shown {
        let _ = writeln!(out, "  and {} more {noun} (--full)", all - shown);
    }
}

fn sessions(summary: &Summary) -> String {
    let sessions = &summary.sessions;
    let mut out = format!(
        "\n{}: {} began before the log, {} without an end; {}, {}, {}\n",
        counted(sessions.sessions, "session"),
        count(sessions.without_begin),
        count(sessions.without_end),
        counted(sessions.users, "user"),
        counted(sessions.databases, "database"),
        counted(sessions.transactions, "transaction"),
    );
    let share = |statements: i64| 100.0 * statements as f64 / summary.statements.max(1) as f64;
    let kinds =
        summary.kinds.iter().map(|kind| format!("{} {:.1}%", printable(&kind.kind), share(kind.statements)));
    let _ = writeln!(out, "statements: {}", kinds.collect::<Vec<_>>().join(", "));
    out
}

fn digests(summary: &Summary, room: &Room, width: usize) -> String {
    let shown = summary.digests.len();
    let by = if summary.timed == 0 { "; the log has no latencies" } else { "" };
    let mut out = match count(summary.digests_total) {
        all if shown as i64 == summary.digests_total => format!("\n{all} digests{by}\n"),
        all => format!("\n{shown} of {all} digests (--full){by}\n"),
    };
    let rows = summary.digests.iter().map(|digest| row(digest, summary.latency_us));
    let figures =
        table(&["  time", "statements", "mean", "longest", "errors", "digest"], rows, &[0, 1, 2, 3, 4]);
    for line in figures.lines() {
        out += &if room.cuts { cut(line, width) } else { line.to_owned() };
        out.push('\n');
    }
    out
}

fn row(digest: &DigestRow, all_us: i64) -> Vec<String> {
    let is_timed = digest.timed > 0;
    let timed = |text: String| if is_timed { text } else { String::new() };
    let mean_us = digest.latency_us as f64 / digest.timed.max(1) as f64;
    vec![
        timed(format!("{:.1}%", 100.0 * digest.latency_us as f64 / all_us.max(1) as f64)),
        count(digest.statements).to_string(),
        timed(time(mean_us)),
        timed(time(digest.latency_us_max as f64)),
        if digest.errors > 0 { count(digest.errors).to_string() } else { String::new() },
        digest.text.clone(),
    ]
}

/// Cuts a line to a number of characters.
fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

fn rates(summary: &Summary) -> String {
    let rows = summary.rates.iter().map(|rate| {
        let &RateRow { at_s, seconds: length, statements, reads, writes, latency_us, .. } = rate;
        let a_second = |number: i64| format!("{:.1}", number as f64 / length.max(1) as f64);
        // The mean number of statements in execution at the same time (Little's law).
        let at_once = format!("{:.2}", latency_us as f64 / 1e6 / length.max(1) as f64);
        let at_once = if summary.timed == 0 { String::new() } else { at_once };
        vec![seconds(at_s), a_second(statements), a_second(reads), a_second(writes), at_once]
    });
    let header = ["from", "statements/s", "reads/s", "writes/s", "at once"];
    format!("\n{}\n", table(&header, rows, &[1, 2, 3, 4]))
}

fn gaps(summary: &Summary, room: &Room) -> String {
    let mut out = String::new();
    for gap in summary.gaps.iter().take(room.gaps) {
        let _ = writeln!(out, "no statement for {} from {}", duration(gap.seconds), seconds(gap.at_s));
    }
    out
}

fn troubles(summary: &Summary, room: &Room) -> String {
    if summary.troubles.is_empty() {
        return "\nEverything could be read.\n".to_owned();
    }
    let mut out = "\nnot read, or not with certainty\n".to_owned();
    for row in summary.troubles.iter().take(room.troubles) {
        let lines: Vec<String> =
            row.lines.iter().take(5).map(|line| format!("{}:{line}", row.source)).collect();
        let rest = if row.entries > lines.len() as i64 { ", …" } else { "" };
        let places = printable(&lines.join(", ")).into_owned();
        let _ = writeln!(out, "  {}× {}: {places}{rest}", count(row.entries), trouble_words(&row.kind));
    }
    more(&mut out, summary.troubles.len(), room.troubles, "kinds");
    out
}
