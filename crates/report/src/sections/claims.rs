//! Claims with their verdicts, the measured figure beside the published one.

use std::collections::BTreeMap;

use crate::document::Section;
use crate::model::Reports;
use crate::model::claims::{Claim, ClaimVerdict};
use crate::wording::number;

/// The section; none if the plan claims nothing.
pub(super) fn section(reports: &Reports) -> Option<Section> {
    (!reports.claims.is_empty()).then(|| Section {
        title: "Claims: what the plan says will be found".to_owned(),
        paragraphs: vec![summary(&reports.claims)],
        items: reports.claims.iter().map(item).collect(),
        ..Section::default()
    })
}

/// How many claims have each verdict, and what the verdicts mean.
pub(crate) fn summary(claims: &[Claim]) -> String {
    let mut counts: BTreeMap<ClaimVerdict, usize> = BTreeMap::new();
    for claim in claims {
        *counts.entry(claim.verdict).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.iter().map(|(verdict, count)| format!("{count} {}", verdict.as_str())).collect();
    let published = if claims.iter().any(|claim| claim.published.is_some()) {
        " Reproduced: the published figure lies in the interval. Same direction: the claim holds, with another figure."
    } else {
        ""
    };
    format!("Of {}: {}.{published}", number::counted(claims.len() as u64, "claim"), counts.join(", "))
}

/// `reproduced: myrocks writes less; measured 0.61 [0.60, 0.62], published 0.615`.
fn item(claim: &Claim) -> String {
    let measured = claim.measured_text().unwrap_or_else(|| "nothing".to_owned());
    let published = claim.published_text().map_or(String::new(), |figure| format!(", published {figure}"));
    let because = claim.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    format!("{}: {}; measured {measured}{published}{because}", claim.verdict.as_str(), claim.says)
}
