//! The tables of a study's page: the published claims, the run's results, and the conditions.

use crate::document::{Document, Fact, Section, Shown, Table};
use crate::format::markdown;
use crate::model::{Relative, Reports};
use crate::sections::{claims, document, events, facts, findings, matrices, table};
use crate::wording::number::{self, counted};
use crate::wording::{phrases, words};

/// If a table has more systems than this, its ratios are shown without intervals.
const SYSTEMS_WITH_INTERVALS_MAX: usize = 5;

/// Writes the tables of a page about a run as Markdown. Each client count has a separate table. A table is as wide as
/// its number of systems requires.
pub fn render_study(reports: &Reports) -> String {
    markdown::render_within(&[study(reports)], usize::MAX)
}

fn study(reports: &Reports) -> Document {
    let absolute = matrices::absolute(reports);
    let absolute = Section { tables: by_client_count(&absolute.tables), ..absolute };
    let mut sections: Vec<Section> = of_claims(reports).into_iter().collect();
    sections.extend([relative(reports), absolute]);
    sections.extend(events::section(reports));
    sections.extend(findings(reports));
    let command = [Fact::new("command", &reports.run.command)];
    let facts = command.into_iter().chain(facts(reports)).chain([trials(reports)]);
    document(reports, facts.collect(), sections)
}

/// A table of the claims, below a sentence that counts the claims with each verdict; `None` if the plan has no claims.
fn of_claims(reports: &Reports) -> Option<Section> {
    (!reports.claims.is_empty()).then(|| Section {
        title: "Claims: what was published, and what was found here".to_owned(),
        paragraphs: vec![claims::summary(&reports.claims)],
        tables: vec![claims::table(&reports.claims)],
        ..Section::default()
    })
}

fn relative(reports: &Reports) -> Section {
    if reports.systems.len() <= SYSTEMS_WITH_INTERVALS_MAX {
        let section = matrices::relative(reports);
        return Section { tables: by_client_count(&section.tables), ..section };
    }
    let ratio = |relative: &Relative| Shown {
        tint: relative.finding.and_then(words::tint),
        ..Shown::plain(number::ratio(relative.ratio))
    };
    let base = phrases::base_id(reports);
    Section {
        title: "Relative: throughput against the base".to_owned(),
        paragraphs: vec![format!(
            "Throughput as a multiple of {base}'s, {}; above 1 is faster. Bold: a verdict of faster or slower, {}.",
            phrases::ratio_kind(reports),
            phrases::error(&reports.rule)
        )],
        tables: table(reports, &reports.relative, |_, relative| ratio(relative)).by_client_count(),
        ..Section::default()
    }
}

fn by_client_count(tables: &[Table]) -> Vec<Table> {
    tables.iter().flat_map(Table::by_client_count).collect()
}

/// `2997 trials completed, none failed; from 2026-11-25 19:23:20 to 2026-11-25 19:52:16 UTC`.
fn trials(reports: &Reports) -> Fact {
    let run = &reports.run;
    let moment = |text: &str| text.replace('T', " ").replace('Z', "");
    let failed = if run.trials_failed == 0 { "none".to_owned() } else { run.trials_failed.to_string() };
    let ended = run.finished_at.as_deref().map_or(String::new(), |end| format!(" to {}", moment(end)));
    Fact::new(
        "trials",
        format!(
            "{} completed, {failed} failed; from {}{ended} UTC",
            counted(run.trials_completed, "trial"),
            moment(&run.started_at)
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::ClaimVerdict;
    use crate::golden::assert_golden;
    use crate::sample;

    #[test]
    fn claims_come_first_and_each_client_count_has_a_table() {
        assert_golden("study.md", &render_study(&sample::reports(&sample::eventful_run())));
    }

    #[test]
    fn tables_of_many_systems_are_whole_and_have_no_intervals() {
        let study = render_study(&sample::reports(&sample::run_of(6, 6, 7, &[1, 4])));
        let heads: Vec<&str> = study.lines().filter(|line| line.contains("| mysql56 |")).collect();
        assert!(heads.len() >= 4 && heads.iter().all(|head| head.contains("| mysql97 |")), "{study}");
        let relative = study.split("\n## ").find(|section| section.starts_with("Relative")).unwrap();
        assert!(relative.contains("Bold: a verdict of faster or slower"), "{relative}");
        assert!(relative.contains("| **1.13** |") && !relative.contains('['), "{relative}");
    }

    /// A row of the table of claims in a study's page.
    struct ClaimRow<'a> {
        text: &'a str,
        verdict: ClaimVerdict,
        published: Option<f64>,
        interval: Option<(f64, f64)>,
    }

    fn verdict(words: &str) -> ClaimVerdict {
        let all = [
            ClaimVerdict::Reproduced,
            ClaimVerdict::SameDirection,
            ClaimVerdict::Supported,
            ClaimVerdict::NotReproduced,
            ClaimVerdict::Refuted,
            ClaimVerdict::Undecided,
            ClaimVerdict::NotMeasured,
        ];
        let found = all.into_iter().find(|verdict| verdict.as_str() == words);
        found.unwrap_or_else(|| panic!("'{words}' is not a verdict on a claim"))
    }

    /// Parses a line of the table of claims in a study's page. `heads` is the table's head line.
    fn claim_row<'a>(line: &'a str, heads: &str) -> ClaimRow<'a> {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [.., here, finding] = cells[..] else { panic!("{line}") };
        let interval = here.split_once('[').map(|(_, interval)| {
            let (low, high) = interval.trim_end_matches(']').split_once(", ").unwrap();
            (low.parse().unwrap(), high.parse().unwrap())
        });
        let published =
            heads.contains("| published |").then(|| cells[cells.len() - 3].parse().ok()).flatten();
        ClaimRow { text: line, verdict: verdict(finding), published, interval }
    }

    fn claim_rows(page: &str) -> Vec<ClaimRow<'_>> {
        let mut lines = page.lines();
        let mut rows = Vec::new();
        while let Some(heads) = lines.find(|line| line.ends_with("| finding |")) {
            let table = lines.by_ref().skip(1).take_while(|line| line.starts_with('|'));
            rows.extend(table.map(|line| claim_row(line, heads)));
        }
        rows
    }

    #[test]
    fn counts_and_findings_of_pages_follow_from_their_rows() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/studies");
        let mut pages_with_claims = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let page = std::fs::read_to_string(&path).unwrap();
            let rows = claim_rows(&page);
            let mut counts: BTreeMap<ClaimVerdict, usize> = BTreeMap::new();
            for row in &rows {
                *counts.entry(row.verdict).or_default() += 1;
                let Some((figure, (low, high))) = row.published.zip(row.interval) else { continue };
                let has_figure = (low..=high).contains(&figure);
                match row.verdict {
                    ClaimVerdict::Reproduced => assert!(has_figure, "{}", row.text),
                    ClaimVerdict::SameDirection => assert!(!has_figure, "{}", row.text),
                    _ => {}
                }
            }
            if rows.is_empty() {
                continue;
            }
            pages_with_claims += 1;
            let counted: Vec<String> =
                counts.iter().map(|(verdict, count)| verdict.counted(*count)).collect();
            let headline = format!("Of {} claims {}", rows.len(), counted.join(", "));
            let words = page.replace('*', "").split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&headline), "{}: '{headline}'", path.display());
        }
        assert!(pages_with_claims >= 8, "{pages_with_claims}");
    }
}
