//! Histories of runs as documents.

use dyno_judge::{History, HistoryRegression, LevelChange, TestHistory};
use dyno_store::utc_text;

use crate::document::{Column, Document, Line, Section, Table};
use crate::format::Report;
use crate::wording::number::{counted, ratio, three_digits};

/// The histories of a plan. Each history covers runs under the same conditions, and shows its changed tests first.
impl Report for [History] {
    fn documents(&self) -> Vec<Document> {
        let document = |history: &History| Document {
            title: history.circumstances.clone(),
            paragraphs: vec![summary(history), what_is_followed(history)],
            sections: ordered(history).into_iter().map(|test| section(history, test)).collect(),
            ..Document::default()
        };
        self.iter().map(document).collect()
    }
}

fn section(history: &History, test: &TestHistory) -> Section {
    let lines = test.points.iter().map(|point| {
        let version = point.engine_version.as_deref().unwrap_or("–");
        let mark = if is_change(test, point.run) { "← change" } else { "" };
        let cells = [point.run.to_string(), three_digits(point.value), version.to_owned(), mark.to_owned()];
        Line::plain(started(point.started_at_ms), cells)
    });
    let columns = vec![
        Column::of("run"),
        Column::of(history.quantity.name()),
        Column::of_words("version"),
        Column::of_words(""),
    ];
    let table = Table { head: "started".to_owned(), ..Table::of("", columns, lines.collect()) };
    Section { title: title(test), paragraphs: sentences(test), tables: vec![table], ..Section::default() }
}

/// The number of tests that changed.
fn summary(history: &History) -> String {
    let tests = counted(history.tests.len() as u64, "test");
    let changed = history.tests.iter().filter(|test| !test.changes.is_empty()).count();
    let runs = history.tests.iter().map(|test| test.points.len()).max().unwrap_or(0);
    let runs = counted(runs as u64, "run");
    let verb = if changed == 1 { "changes" } else { "change" };
    format!("Over {runs}, {changed} of {tests} {verb} in {}.", history.quantity.name())
}

/// States whether figures are multiples of the anchor's figures, or absolute figures, which also depend on the host.
fn what_is_followed(history: &History) -> String {
    match &history.anchor {
        Some(anchor) => {
            let version =
                anchor.engine_version.as_ref().map(|version| format!(" ({version})")).unwrap_or_default();
            format!(
                "Figures are multiples of those of the anchor {}{version} in the same rounds: what the host does to both is not \
                 in them.",
                anchor.system
            )
        }
        None => "Figures are absolute, so they include changes of the host. An `anchor` in the plan would remove these."
            .to_owned(),
    }
}

/// Orders tests: those with the largest changes first, then those whose newest run is an outlier, then the rest in
/// run order.
fn ordered(history: &History) -> Vec<&TestHistory> {
    let mut tests: Vec<&TestHistory> = history.tests.iter().collect();
    let size = |test: &TestHistory| {
        let changes = test.changes.iter().map(|change| change.ratio.ln().abs()).fold(0.0, f64::max);
        (changes, test.newest.map_or(0.0, |newest| newest.significance))
    };
    tests.sort_by(|a, b| {
        let ((a_changes, a_newest), (b_changes, b_newest)) = (size(a), size(b));
        b_changes.total_cmp(&a_changes).then(b_newest.total_cmp(&a_newest))
    });
    tests
}

/// A regression in one line.
pub fn render_regression(found: &HistoryRegression) -> String {
    let HistoryRegression { system, step, clients, change } = found;
    format!("{}, with {}", name(system, step, *clients), words(change))
}

/// One line about a test that has no figure in the newest run.
pub fn render_dropped_out(test: &TestHistory) -> String {
    format!("{}: the newest run has no figure", title(test))
}

fn title(test: &TestHistory) -> String {
    name(&test.system, &test.step, test.clients)
}

fn name(system: &str, step: &str, clients: u32) -> String {
    format!("{system}: {step} at {}", counted(u64::from(clients), "client"))
}

fn is_change(test: &TestHistory, run: i64) -> bool {
    test.changes.iter().any(|change| change.run == run)
}

fn sentences(test: &TestHistory) -> Vec<String> {
    let mut sentences: Vec<String> = test.changes.iter().map(change).collect();
    if sentences.is_empty() {
        sentences.push("No change of level.".to_owned());
    }
    if test.autocorrelation >= ALIKE_FROM {
        sentences.push(format!(
            "Neighbouring runs resemble each other (correlation {:.1}), so more runs are needed to recognise a change.",
            test.autocorrelation
        ));
    }
    if let Some(newest) = test.newest.filter(dyno_stats::Fence::is_crossed) {
        sentences.push(format!("The newest run stands out: {} times the one before.", ratio(newest.ratio)));
    }
    sentences
}

/// Smallest correlation of successive runs that the report mentions.
const ALIKE_FROM: f64 = 0.3;

fn change(change: &LevelChange) -> String {
    format!("With {}.", words(change))
}

fn words(change: &LevelChange) -> String {
    let versions = match (&change.version_before, &change.engine_version) {
        (Some(before), Some(after)) if before != after => format!(", from {before} to {after}"),
        _ => String::new(),
    };
    format!(
        "run {}{versions}: {} times the level before (p {:.3})",
        change.run,
        ratio(change.ratio),
        change.p
    )
}

/// A time as `2026-11-21 23:28`, UTC.
fn started(at_ms: i64) -> String {
    utc_text(at_ms)[..16].replace('T', " ")
}

#[cfg(test)]
mod tests {
    use dyno_judge::{HistoryPoint, Quantity};

    use super::*;
    use crate::{Format, RenderOptions, render};

    fn test(system: &str, changed: bool) -> TestHistory {
        let point = |run: i64| HistoryPoint {
            run,
            started_at_ms: 1_795_289_000_000 + run * 86_400_000,
            engine_version: Some(if run < 3 { "1.0" } else { "1.1" }.to_owned()),
            value: if changed && run >= 3 { 900.0 } else { 1000.0 },
        };
        let change = LevelChange {
            run: 3,
            engine_version: Some("1.1".to_owned()),
            version_before: Some("1.0".to_owned()),
            ratio: 0.9,
            p: 0.001,
        };
        TestHistory {
            system: system.to_owned(),
            step: "point-query".to_owned(),
            clients: 4,
            points: (1..=4).map(point).collect(),
            changes: if changed { vec![change] } else { Vec::new() },
            autocorrelation: 0.0,
            newest: None,
        }
    }

    fn history() -> Vec<History> {
        let history = |circumstances: &str, tests| History {
            quantity: Quantity::Throughput,
            circumstances: circumstances.to_owned(),
            anchor: None,
            runs: (1..=4).collect(),
            tests,
        };
        vec![
            history("2 × a CPU, scale 1, plan of run 4", vec![test("steady", false), test("slower", true)]),
            history("2 × a CPU, scale 0.5, plan of run 2", vec![test("steady", false)]),
        ]
    }

    #[test]
    fn what_changed_comes_first_with_run_and_version() {
        let text = render(&*history(), Format::Text, &RenderOptions::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "2 × a CPU, scale 1, plan of run 4");
        assert_eq!(lines[1], "Over 4 runs, 1 of 2 tests changes in throughput.");
        assert!(lines[2].starts_with("Figures are absolute, so they include changes of the host."), "{text}");
        assert_eq!(lines[6], "slower: point-query at 4 clients");
        assert_eq!(lines[7], "With run 3, from 1.0 to 1.1: 0.90 times the level before (p 0.001).");
        assert_eq!(lines[9], "started             run  throughput  version");
        assert_eq!(lines[12], "  2026-11-24 19:23    3         900  1.1      ← change");
        assert!(text.contains("steady: point-query at 4 clients\nNo change of level."), "{text}");
    }

    #[test]
    fn markdown_and_json_say_the_same() {
        let markdown = render(&*history(), Format::Markdown, &RenderOptions::default());
        assert!(markdown.contains("| 2026-11-24 19:23 | 3 | 900 | 1.1 | ← change |"), "{markdown}");
        assert!(markdown.contains("\n# 2 × a CPU, scale 0.5, plan of run 2\n"), "{markdown}");
        let json = render(&*history(), Format::Json, &RenderOptions::default());
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value[0]["tests"][1]["changes"][0]["run"], 3);
    }
}
