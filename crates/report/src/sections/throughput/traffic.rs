//! Replays of a server's traffic: each digest of statements on each system.

use dyno_judge::{Answers, DigestFigures, DigestTest, Finding, ReplayedSystem, ReplayedTest};

use crate::document::{Column, Line, Section, Shown, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};
use crate::wording::phrases;
use crate::wording::words;

/// A table shows this many digests whatever their verdicts, namely those that take the most time. Of the other digests,
/// it shows only those that are slower, faster or failed, and at most [`WITH_VERDICT_MAX`] of them.
const BY_TIME_MAX: usize = 20;
const WITH_VERDICT_MAX: usize = 50;

/// The section, with a table for each replay. `None` if nothing was replayed.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let base = phrases::base_id(reports);
    (!reports.replays.is_empty()).then(|| Section {
        title: "Statements of the traffic".to_owned(),
        paragraphs: paragraphs(reports, base),
        items: reports.replays.iter().flat_map(|test| items(test, base)).collect(),
        tables: reports.replays.iter().map(|test| table(test, base)).collect(),
        ..Section::default()
    })
}

fn paragraphs(reports: &Reports, base: &str) -> Vec<String> {
    let about = format!(
        "Those that took the longest on {base} first, with their share of its time. Milliseconds are means from when a \
         statement was sent until its answer, medians over rounds; multiples are of {base}, with the 95% interval over rounds \
         in brackets. Verdicts are corrected for all digests together. Rows read are those of one example, counted after a trial. \
         Errors are counted, and are not part of the times."
    );
    let found = reports.replays.iter().flat_map(|test| {
        let candidates = (0..test.systems.len()).filter(|at| test.systems[*at].system != base);
        candidates.map(move |at| summary(test, at))
    });
    [about].into_iter().chain(found).collect()
}

/// A system's digests by verdict: `mine: of 214 digests on new: 6 slower (31% of the time), …`
fn summary(test: &ReplayedTest, system: usize) -> String {
    let with = |wanted: Finding| {
        let is_it = move |digest: &&DigestTest| finding(&digest.systems[system]) == Some(wanted);
        let digests: Vec<&DigestTest> = test.digests.iter().filter(is_it).collect();
        let share: f64 = digests.iter().filter_map(|digest| digest.time_share).sum();
        (digests.len(), share)
    };
    let part = |wanted: Finding, words: &str| {
        let (digests, share) = with(wanted);
        (digests > 0).then(|| format!("{digests} {words} ({} of the time)", number::percent(share)))
    };
    let parts = [
        part(Finding::Regressed, "slower"),
        part(Finding::Failed, "with errors of its own"),
        part(Finding::Improved, "faster"),
        part(Finding::Same, "the same"),
    ];
    let differ = test.digests.iter().filter(|it| it.systems[system].answers == Some(Answers::Differ)).count();
    let differ = (differ > 0).then(|| format!("{differ} with other answers"));
    let is_unclear = |it: &&DigestTest| it.systems[system].answers == Some(Answers::NotDetermined);
    let unclear = test.digests.iter().filter(is_unclear).count();
    let unclear = (unclear > 0)
        .then(|| format!("{unclear} whose answers say nothing, because they change from round to round"));
    let parts: Vec<String> = parts.into_iter().chain([differ, unclear]).flatten().collect();
    let decided = if parts.is_empty() { "none is decided".to_owned() } else { parts.join(", ") };
    let digests = counted(test.digests.len() as u64, "digest");
    format!("{}: of {digests} on {}: {decided}.", test.step, test.systems[system].system)
}

fn finding(figures: &DigestFigures) -> Option<Finding> {
    figures.against_base.map(|ratio| ratio.finding)
}

/// Lines on each system's sessions, on digests that failed, and on digests with other answers than the base's.
fn items(test: &ReplayedTest, base: &str) -> Vec<String> {
    let of_systems = test.systems.iter().map(|system| sessions(test, system));
    let failed = test.digests.iter().flat_map(|digest| {
        let is_it = |figures: &&DigestFigures| {
            figures.system != base
                && !figures.error_codes.is_empty()
                && finding(figures) == Some(Finding::Failed)
        };
        digest.systems.iter().filter(is_it).map(|figures| {
            format!(
                "{} fails on {}: {}",
                digest.statement,
                figures.system,
                words::error_codes(&figures.error_codes)
            )
        })
    });
    let answers_otherwise = test.digests.iter().flat_map(|digest| {
        let is_it = |figures: &&DigestFigures| figures.answers == Some(Answers::Differ);
        digest.systems.iter().filter(is_it).map(|figures| {
            format!("{} answers otherwise than {base}, in every round: {}", figures.system, digest.statement)
        })
    });
    of_systems.chain(failed.take(WITH_VERDICT_MAX)).chain(answers_otherwise.take(WITH_VERDICT_MAX)).collect()
}

/// A system's replay: `old, mine: 120 statements of 4 sessions in 6 rounds; 2 sessions were closed by the server …;
/// …`
fn sessions(test: &ReplayedTest, system: &ReplayedSystem) -> String {
    let mut parts = vec![format!(
        "{} of {} in {}",
        counted(system.statements, "statement"),
        counted(system.sessions, "session"),
        counted(system.rounds as u64, "round")
    )];
    let mut tell = |number: u64, words: &str| {
        if number > 0 {
            parts.push(format!("{number} {words}"));
        }
    };
    tell(system.errors, "ended with an error");
    tell(system.sessions_refused, "sessions were refused by the server");
    tell(system.sessions_lost, "sessions were closed by the server before their end");
    tell(system.out_of_order, "were sent before a commit that they followed in the log");
    for (why, statements) in &system.not_sent {
        tell(*statements, &format!("not sent: {}", reason(why)));
    }
    if let Some(late_us) = system.late_p99_us {
        parts.push(format!("99% were sent at most {} ms late", number::three_digits(late_us / 1e3)));
    }
    format!("{}, {}: {}.", system.system, test.step, parts.join("; "))
}

fn reason(why: &str) -> &str {
    match why {
        "redacted" => "their values were not kept",
        "client_data" => "they read data of the client, which no log has",
        "server" => "they change more than their database",
        "database" => "they choose a database, and all sessions use the same one",
        "disconnected" => "their session was closed or refused",
        other => other,
    }
}

fn table(test: &ReplayedTest, base: &str) -> Table {
    let ids = || test.systems.iter().map(|system| system.system.as_str());
    let has_base = ids().any(|id| id == base);
    let candidates: Vec<usize> =
        (0..test.systems.len()).filter(|at| has_base && test.systems[*at].system != base).collect();
    let mut columns = vec![Column::of("time"), Column::of("statements")];
    columns.extend(ids().map(|id| Column::of(format!("{id} ms"))));
    columns.extend(candidates.iter().map(|at| Column::of(format!("{} × {base}", test.systems[*at].system))));
    let has_rows = test.digests.iter().flat_map(|it| &it.systems).any(|it| it.rows_examined.is_some());
    if has_rows {
        columns.extend(ids().map(|id| Column::of(format!("{id} rows read"))));
    }
    columns.push(Column::of("errors"));
    columns.push(Column::of_words("statement"));
    let shown: Vec<&DigestTest> = shown(&test.digests);
    let left_out = test.digests.len() - shown.len();
    let mut lines: Vec<Line> = shown.into_iter().map(|digest| line(digest, &candidates, has_rows)).collect();
    if left_out > 0 {
        lines.push(Line::group(format!("and {left_out} more, which --format json has")));
    }
    let title = format!("{} at {}", test.step, counted(u64::from(test.clients), "session"));
    Table { head: "digest".to_owned(), ..Table::of(title, columns, lines) }
}

/// The digests that a table shows, in their original order.
fn shown(digests: &[DigestTest]) -> Vec<&DigestTest> {
    let is_decided = |digest: &DigestTest| {
        let is_it = |found| matches!(found, Finding::Regressed | Finding::Failed | Finding::Improved);
        digest.systems.iter().filter_map(finding).any(is_it)
    };
    let (first, others) = digests.split_at(digests.len().min(BY_TIME_MAX));
    first.iter().chain(others.iter().filter(|digest| is_decided(digest)).take(WITH_VERDICT_MAX)).collect()
}

fn line(digest: &DigestTest, candidates: &[usize], has_rows: bool) -> Line {
    let dash = || "–".to_owned();
    let ms = |us: Option<f64>| us.map_or_else(dash, |us| number::three_digits(us / 1e3));
    let statements: u64 = digest.systems.iter().map(|figures| figures.statements).sum();
    let errors: u64 = digest.systems.iter().flat_map(|figures| figures.error_codes.values()).sum();
    let mut cells = vec![
        Shown::plain(digest.time_share.map_or_else(dash, number::percent)),
        Shown::plain(statements.to_string()),
    ];
    cells.extend(digest.systems.iter().map(|figures| Shown::plain(ms(figures.mean_us))));
    cells.extend(candidates.iter().map(|at| ratio(&digest.systems[*at])));
    if has_rows {
        let rows = |rows: Option<u64>| Shown::plain(rows.map_or_else(dash, |rows| rows.to_string()));
        cells.extend(digest.systems.iter().map(|figures| rows(figures.rows_examined)));
    }
    cells.push(Shown::plain(errors.to_string()));
    cells.push(Shown::plain(&digest.statement));
    Line::of(digest.digest.chars().take(8).collect::<String>(), cells)
}

fn ratio(figures: &DigestFigures) -> Shown {
    let Some(found) = figures.against_base else { return Shown::plain("–") };
    let text = found.ratio.map_or_else(|| "–".to_owned(), |ratio| words::ratio_in(ratio, found.interval));
    Shown {
        tint: words::tint(found.finding),
        note: format!(" {}", words::mark(found.finding)),
        ..Shown::plain(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_slower_digest_stands_below_those_that_take_longer_with_its_ratio() {
        let found = section(&reports(&sample::replayed_run())).expect("a section");
        let summary = &found.paragraphs[1];
        assert!(
            summary.contains("of 2 digests on maria: 1 slower (4.8% of the time), 1 the same"),
            "{summary}"
        );
        assert!(summary.ends_with("1 with other answers."), "{summary}");
        let items = found.items.join("\n");
        assert!(items.contains("8 sessions were closed by the server before their end"), "{items}");
        assert!(
            items.contains("maria answers otherwise than mysql56, in every round: SELECT b FROM t"),
            "{items}"
        );
        let table = &found.tables[0];
        let cells = |line: &Line| match line {
            Line::Test { cells, .. } => cells.clone(),
            Line::Group { name, .. } => panic!("{name}"),
        };
        let slower = cells(&table.lines[1]);
        assert!(slower[2].text.starts_with("0.50"), "{:?}", slower[2]);
        assert_eq!(slower[3].text, "1.00");
        assert!(slower[4].text.starts_with("2.00 [") && slower[4].note == " −", "{:?}", slower[4]);
        assert_eq!(cells(&table.lines[0])[4].note, " =");
        let rows = |line: &Line| cells(line)[5..7].iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
        assert_eq!(rows(&table.lines[0]), ["–", "–"]);
        assert_eq!(rows(&table.lines[1]), ["500", "1000"]);
    }

    #[test]
    fn a_run_without_a_replay_has_no_section() {
        assert!(section(&reports(&sample::run(1))).is_none());
    }
}
