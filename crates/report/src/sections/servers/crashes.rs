//! Crash tests as a table.

use dyno_store::{CrashCause, CrashRecord, CrashVerdict};

use crate::document::{Line, Section, Shown, Table, Tint};
use crate::model::Reports;
use crate::wording::number::{counted, whole};

/// The section; `None` if no system had a crash test.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let tests = &reports.crash_tests;
    (!tests.is_empty()).then(|| Section {
        title: "Crashes: whether acknowledged commits were lost".to_owned(),
        paragraphs: vec![
            "Each system was crashed under load and started again, and every transaction was checked. Lost: acknowledged but \
             missing. Torn: partly there. Resurrected: never committed but there. In doubt: not answered before the crash."
                .to_owned(),
        ],
        items: tests.iter().map(sentence).collect(),
        tables: vec![Table::plain("", &COLUMNS, tests.iter().map(line).collect())],
        ..Section::default()
    })
}

const COLUMNS: [&str; 7] =
    ["crashes", "acknowledged", "lost", "torn", "resurrected", "in doubt", "longest recovery"];

/// A crash test in a sentence: `innodb, processes killed: nothing was lost (promise: no acknowledged commit is
/// lost)`.
pub(crate) fn sentence(test: &CrashRecord) -> String {
    let kind = match test.kind {
        CrashCause::Power => "power cut",
        CrashCause::Process => "processes killed",
    };
    let verdict = match test.verdict {
        CrashVerdict::Kept => "nothing was lost".to_owned(),
        CrashVerdict::Allowed if test.lost > 0 => {
            format!("{} lost, which its settings allow", counted(test.lost, "commit"))
        }
        CrashVerdict::Allowed => "the remaining data is damaged, which its settings allow".to_owned(),
        CrashVerdict::Broken => "BROKEN: it lost more than its settings allow".to_owned(),
        CrashVerdict::None => "there was no crash".to_owned(),
    };
    let promise =
        if test.promise.is_empty() { String::new() } else { format!(" (promise: {})", test.promise) };
    let failure = test.failure.as_ref().map(|failure| format!("; {failure}")).unwrap_or_default();
    let first =
        test.findings.first().map(|finding| format!("; first finding: {finding}")).unwrap_or_default();
    format!("{}, {kind}: {verdict}{promise}{failure}{first}", test.system_id)
}

fn line(test: &CrashRecord) -> Line {
    let lost = match test.lost_age_ms_max {
        Some(ms) => format!("{}, up to {ms:.0} ms old", whole(test.lost as f64)),
        None => whole(test.lost as f64),
    };
    let recovery = test.recovery_ms_max.map_or_else(|| "–".to_owned(), |ms| format!("{:.1} s", ms / 1e3));
    let counts = [test.torn, test.resurrected, test.in_doubt_kept + test.in_doubt_gone]
        .map(|count| whole(count as f64));
    let mut texts = vec![test.crashes.to_string(), whole(test.acknowledged as f64), lost];
    texts.extend(counts);
    texts.push(recovery);
    let mut cells: Vec<Shown> = texts.into_iter().map(Shown::plain).collect();
    if test.verdict == CrashVerdict::Broken {
        for cell in &mut cells {
            cell.tint = Some(Tint::Worse);
        }
    }
    Line::of(&test.system_id, cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_run_without_crash_tests_has_no_section() {
        assert!(section(&reports(&sample::run(1))).is_none());
    }

    #[test]
    fn a_broken_promise_is_told_and_its_line_is_tinted() {
        let found = section(&reports(&sample::crashed_run())).expect("a section");
        assert_eq!(
            found.items,
            [
                "mysql56, power cut: BROKEN: it lost more than its settings allow (promise: no acknowledged commit is \
                 lost); first finding: crash 2: transaction 7 of client 1 is gone",
                "maria, power cut: 812 commits lost, which its settings allow (promise: commits of about the \
                 last second may be lost)",
            ]
        );
        let Line::Test { cells, .. } = &found.tables[0].lines[0] else { panic!("{:?}", found.tables[0]) };
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["5", "10,240", "1, up to 3 ms old", "0", "0", "18", "6.8 s"]);
        assert_eq!(cells[2].tint, Some(Tint::Worse));
    }
}
