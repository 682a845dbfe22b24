//! Claims with their verdicts, and measured figures beside published ones.

use std::collections::BTreeMap;

use crate::document::{Column, Line, Section, Shown, Table};
use crate::model::Reports;
use crate::model::claims::{Claim, ClaimVerdict};
use crate::wording::number;

/// The section; `None` if the plan has no claims.
pub(super) fn section(reports: &Reports) -> Option<Section> {
    (!reports.claims.is_empty()).then(|| Section {
        title: "Claims: what the plan expects, and what was found".to_owned(),
        paragraphs: vec![summary(&reports.claims)],
        items: reports.claims.iter().map(item).collect(),
        ..Section::default()
    })
}

/// States the number of claims with each verdict, and explains the verdicts on published claims.
pub(crate) fn summary(claims: &[Claim]) -> String {
    let mut counts: BTreeMap<ClaimVerdict, usize> = BTreeMap::new();
    for claim in claims {
        *counts.entry(claim.verdict).or_default() += 1;
    }
    let counted: Vec<String> = counts.iter().map(|(verdict, count)| verdict.counted(*count)).collect();
    let meanings = [
        (ClaimVerdict::Reproduced, " Reproduced: the published figure lies in the interval."),
        (ClaimVerdict::SameDirection, " Same direction: the claim holds, but not with a published figure."),
    ];
    let meanings = meanings.into_iter().filter(|(verdict, _)| counts.contains_key(verdict));
    let meanings: String = meanings.map(|(_, says)| says).collect();
    format!("Of {} {}.{meanings}", number::counted(claims.len() as u64, "claim"), counted.join(", "))
}

/// A table with a line for each claim: the published figure if any claim has one, the measured figure, and the
/// verdict.
pub(crate) fn table(claims: &[Claim]) -> Table {
    let has_figures = claims.iter().any(|claim| claim.published.is_some());
    let published = has_figures.then(|| Column::of("published"));
    let columns = published.into_iter().chain([Column::of("here"), Column::of_words("finding")]);
    let line = |claim: &Claim| {
        let reason = claim.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
        let published = has_figures.then(|| claim.published_text().unwrap_or_default());
        let here = claim.measured_text().unwrap_or_default();
        let finding = format!("{}{reason}", claim.verdict.as_str());
        let cells = published.into_iter().chain([here, finding]).map(Shown::plain);
        Line::of(&claim.says, cells.collect())
    };
    let lines = claims.iter().map(line).collect();
    Table { head: "claim".to_owned(), ..Table::of("", columns.collect(), lines) }
}

/// A claim in a line: `reproduced: myrocks writes less; measured 0.61 [0.60, 0.62], published 0.615`.
fn item(claim: &Claim) -> String {
    let measured = claim.measured_text().unwrap_or_else(|| "nothing".to_owned());
    let published = claim.published_text().map_or(String::new(), |figure| format!(", published {figure}"));
    let because = claim.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    format!("{}: {}; measured {measured}{published}{because}", claim.verdict.as_str(), claim.says)
}
