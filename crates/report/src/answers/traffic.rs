//! The contents of a traffic file, as a document.

use dyno_store::utc_text;
use dyno_traffic::{DigestRow, LogFormat, RateRow, SourceRow, Summary};
use serde::Serialize;

use crate::document::{Column, Document, Fact, Line, Section, Shown, Table};
use crate::format::Report;
use crate::wording::number::{bytes, counted, percent, three_digits};
use crate::wording::words::time;

/// The contents of a traffic file, with the file's name.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct TrafficContents<'a> {
    #[serde(skip)]
    pub name: &'a str,
    pub summary: &'a Summary,
}

impl Report for TrafficContents<'_> {
    fn documents(&self) -> Vec<Document> {
        let Self { name, summary } = self;
        let sections = [digests(summary), rates(summary), Some(logs(summary)), Some(troubles(summary))];
        vec![Document {
            title: format!("Traffic of {name}"),
            facts: facts(summary),
            sections: sections.into_iter().flatten().collect(),
            ..Document::default()
        }]
    }
}

/// Explains a kind of trouble by its name in the traffic file. An unknown name is returned as it is.
pub fn trouble_words(kind: &str) -> &str {
    match kind {
        "cut" => "cut off: no end of the entry",
        "too_long" => "longer than 16 MiB",
        "not_recognised" => "not part of an entry",
        "no_time" => "no time in the entry",
        "no_session" => "no session in the entry (thread id, %c or %p)",
        "damaged" => "the compressed log or the capture is damaged from here on",
        "encrypted" => "an encrypted or compressed session of a capture",
        "packets_missing" => "packets of a session were not captured",
        "packet_cut" => "the snap length cut off the end of a packet",
        "unclosed" => "imported, but a string or comment has no end",
        "not_utf8" => "imported, but names are not UTF-8",
        "clock_back" => "the clock steps back",
        "no_zone" => "times without a known zone were taken as UTC",
        "restarted" => "the server restarted or opened its log anew; sessions end",
        "other_server" => "the log continues with another server; sessions end",
        "other_user" => "the session continues with another user; imported as a new session",
        other => other,
    }
}

/// Converts a count of a traffic file. The file may be damaged, so a negative number becomes 0.
fn whole(number: i64) -> u64 {
    number.max(0) as u64
}

fn moment(at_s: i64) -> String {
    utc_text(at_s.saturating_mul(1000)).replace('T', " ").replace('Z', " UTC")
}

fn latency(us: f64) -> String {
    format!("{} ms", three_digits(us / 1e3))
}

fn share(part: i64, all: i64) -> String {
    percent(whole(part) as f64 / whole(all).max(1) as f64)
}

fn facts(summary: &Summary) -> Vec<Fact> {
    let product = if summary.dialect == "mysql" { "MySQL or MariaDB" } else { "PostgreSQL" };
    let sessions = &summary.sessions;
    let kinds = summary
        .kinds
        .iter()
        .map(|kind| format!("{} {}", kind.kind, share(kind.statements, summary.statements)));
    let values = if summary.is_redacted { "only their lengths" } else { "kept" };
    let users = if summary.has_user_names { "names" } else { "hashes of their names" };
    vec![
        Fact::new("server", product),
        Fact::new("begin", moment(summary.began_at_us / 1_000_000)),
        Fact::new("duration", time(whole(summary.seconds) as f64)),
        Fact::new("statements", counted(whole(summary.statements), "statement")),
        Fact::new("kinds", kinds.collect::<Vec<_>>().join(", ")),
        Fact::new(
            "sessions",
            format!(
                "{}; {} began before the log, {} have no end in it",
                counted(whole(sessions.sessions), "session"),
                whole(sessions.without_begin),
                whole(sessions.without_end)
            ),
        ),
        Fact::new("transactions", whole(sessions.transactions).to_string()),
        Fact::new("databases", whole(sessions.databases).to_string()),
        Fact::new("values in statements", values),
        Fact::new("users", format!("{}, as {users}", counted(whole(sessions.users), "user"))),
    ]
}

fn digests(summary: &Summary) -> Option<Section> {
    let heads =
        ["time", "statements", "mean", "longest", "errors", "rows sent", "rows examined", "rows changed"];
    let lines = summary.digests.iter().map(|digest| digest_line(digest, summary.latency_us)).collect();
    let table = Table { head: "digest".to_owned(), ..Table::plain("", &heads, lines) };
    let mut paragraphs = vec![
        "A digest is a statement without its values. `time` is its share of the latencies of all statements."
            .to_owned(),
    ];
    let shown = summary.digests.len() as u64;
    if whole(summary.digests_total) > shown {
        paragraphs.push(format!("{shown} of {} are shown.", counted(whole(summary.digests_total), "digest")));
    }
    if summary.timed == 0 {
        paragraphs.push("The logs have no latencies.".to_owned());
    }
    let section =
        Section { title: "Digests".to_owned(), paragraphs, tables: vec![table], ..Section::default() };
    (shown > 0).then_some(section)
}

fn digest_line(digest: &DigestRow, all_us: i64) -> Line {
    let timed = |text: String| if digest.timed > 0 { text } else { String::new() };
    let mean_us = digest.latency_us as f64 / digest.timed.max(1) as f64;
    let cells = [
        timed(share(digest.latency_us, all_us)),
        whole(digest.statements).to_string(),
        timed(latency(mean_us)),
        timed(latency(whole(digest.latency_us_max) as f64)),
        if digest.errors > 0 { digest.errors.to_string() } else { String::new() },
        whole(digest.rows_sent).to_string(),
        whole(digest.rows_examined).to_string(),
        whole(digest.rows_affected).to_string(),
    ];
    Line::plain(digest.text.clone(), cells)
}

fn rates(summary: &Summary) -> Option<Section> {
    let heads = ["statements/s", "reads/s", "writes/s", "at once", "errors"];
    let line = |rate: &RateRow| {
        let per_second = |number: i64| three_digits(whole(number) as f64 / rate.seconds.max(1) as f64);
        let at_once = whole(rate.latency_us) as f64 / 1e6 / rate.seconds.max(1) as f64;
        let cells = [
            per_second(rate.statements),
            per_second(rate.reads),
            per_second(rate.writes),
            if summary.timed > 0 { three_digits(at_once) } else { String::new() },
            if rate.errors > 0 { rate.errors.to_string() } else { String::new() },
        ];
        Line::plain(moment(rate.at_s), cells)
    };
    let table = Table {
        head: "from".to_owned(),
        ..Table::plain("", &heads, summary.rates.iter().map(line).collect())
    };
    let gap = |gap: &dyno_traffic::Gap| {
        format!("no statement for {} from {}", time(whole(gap.seconds) as f64), moment(gap.at_s))
    };
    let section = Section {
        title: "Rates over time".to_owned(),
        paragraphs: vec![
            "`at once` is the mean number of statements in execution at the same time (Little's law)."
                .to_owned(),
        ],
        items: summary.gaps.iter().map(gap).collect(),
        tables: vec![table],
        ..Section::default()
    };
    (!summary.rates.is_empty()).then_some(section)
}

fn logs(summary: &Summary) -> Section {
    let columns = vec![
        Column::of_words("format"),
        Column::of_words("compression"),
        Column::of("size"),
        Column::of(if summary.sources.iter().any(is_capture) { "lines, packets" } else { "lines" }),
        Column::of("statements"),
    ];
    let line = |source: &SourceRow| {
        let cells = [
            source.format.clone(),
            source.compression.clone(),
            bytes(whole(source.bytes)),
            whole(source.lines).to_string(),
            whole(source.statements).to_string(),
        ];
        Line::of(source.name.clone(), cells.map(Shown::plain).to_vec())
    };
    let table = Table {
        head: "log".to_owned(),
        ..Table::of("", columns, summary.sources.iter().map(line).collect())
    };
    let skipped = summary.skipped.iter().map(|row| format!("{} × {}", whole(row.entries), row.command));
    let mut section = Section { title: "Logs".to_owned(), tables: vec![table], ..Section::default() };
    if !summary.skipped.is_empty() {
        let skipped = skipped.collect::<Vec<_>>().join(", ");
        section.paragraphs.push(format!("Entries that execute no statement: {skipped}."));
    }
    section
}

/// Whether the positions in a log are packet numbers, as in a network capture, and not line numbers.
fn is_capture(source: &SourceRow) -> bool {
    LogFormat::named(&source.format).is_some_and(LogFormat::is_capture)
}

fn troubles(summary: &Summary) -> Section {
    let item = |row: &dyno_traffic::TroubleRow| {
        let lines: Vec<String> = row.lines.iter().map(i64::to_string).collect();
        let rest = if row.entries > row.lines.len() as i64 { ", …" } else { "" };
        let (entries, words) = (whole(row.entries), trouble_words(&row.kind));
        let of_capture = summary.sources.iter().any(|source| source.name == row.source && is_capture(source));
        let unit = if of_capture { "packets" } else { "lines" };
        format!("{entries} × {words}: {}, {unit} {}{rest}", row.source, lines.join(", "))
    };
    let items: Vec<String> = summary.troubles.iter().map(item).collect();
    let paragraphs = if items.is_empty() { vec!["Everything could be read.".to_owned()] } else { Vec::new() };
    Section { title: "Not read, or read with doubt".to_owned(), paragraphs, items, ..Section::default() }
}

#[cfg(test)]
mod tests {
    use dyno_traffic::{Gap, SessionCounts, Trouble, TroubleRow};

    use super::*;
    use crate::format::{Format, RenderOptions, render};

    fn summary() -> Summary {
        Summary {
            dialect: "mysql".to_owned(),
            began_at_us: 1_795_785_741_000_500,
            seconds: 61,
            statements: 7,
            is_redacted: false,
            has_user_names: false,
            sources: vec![SourceRow {
                name: "<slow>.log".to_owned(),
                format: "slow".to_owned(),
                compression: "gzip".to_owned(),
                bytes: 1234,
                lines: 20,
                statements: 7,
            }],
            sessions: SessionCounts {
                sessions: 2,
                without_begin: 1,
                without_end: 0,
                users: 1,
                databases: 1,
                transactions: 3,
            },
            kinds: Vec::new(),
            digests_total: 9,
            timed: 7,
            latency_us: 1000,
            digests: vec![DigestRow {
                hash: "aa".to_owned(),
                text: "SELECT '<b>' FROM t WHERE id = ?".to_owned(),
                kind: "read".to_owned(),
                statements: 7,
                errors: 0,
                timed: 7,
                latency_us: 500,
                latency_us_max: 300,
                rows_sent: 7,
                rows_examined: 70,
                rows_affected: 0,
            }],
            rates: vec![RateRow {
                at_s: 1_795_785_741,
                seconds: 2,
                statements: 7,
                reads: 7,
                writes: 0,
                errors: 0,
                latency_us: 1000,
            }],
            gaps: vec![Gap { at_s: 1_795_785_743, seconds: 58 }],
            troubles: vec![TroubleRow {
                source: "slow.log".to_owned(),
                kind: "cut".to_owned(),
                entries: 2,
                lines: vec![3, 17],
            }],
            skipped: Vec::new(),
        }
    }

    #[test]
    fn a_page_shows_what_the_file_holds_and_names_stay_names() {
        let summary = summary();
        let contents = TrafficContents { name: "mine.traffic", summary: &summary };
        let page = render(&contents, Format::Html, &RenderOptions::default());
        for words in [
            "Traffic of mine.traffic",
            "MySQL or MariaDB",
            "1 of 9 digests are shown.",
            "no statement for 58",
            "2 × cut off: no end of the entry: slow.log, lines 3, 17",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(!page.contains("<b>") && !page.contains("<slow>"), "{page}");
        let json: serde_json::Value =
            serde_json::from_str(&render(&contents, Format::Json, &RenderOptions::default())).unwrap();
        assert_eq!(json["digests"][0]["hash"], "aa");
    }

    #[test]
    fn places_in_a_capture_are_packets() {
        let mut summary = summary();
        summary.sources[0].format = "pcap-mysql".to_owned();
        summary.sources[0].name.clone_from(&summary.troubles[0].source);
        let contents = TrafficContents { name: "mine.traffic", summary: &summary };
        let page = render(&contents, Format::Html, &RenderOptions::default());
        for words in ["slow.log, packets 3, 17", "lines, packets"] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }

    #[test]
    fn every_trouble_has_words() {
        for kind in Trouble::ALL.map(Trouble::name) {
            assert_ne!(trouble_words(kind), kind);
        }
    }
}
