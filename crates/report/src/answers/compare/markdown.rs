//! A comparison for a page that renders Markdown, such as the summary of a job on GitHub.

use dyno_judge::{Comparison, Judgement};

use super::lines::{Line, lines};
use super::sentences;
use crate::format::markdown::escaped;
use crate::sections::table::Tint;
use crate::wording::in_force;

/// Writes the judgement as Markdown.
pub(super) fn render(judgement: &Judgement) -> String {
    let mut blocks = vec![format!("## {}", sentences::outcome(judgement))];
    blocks.extend(judgement.comparisons.iter().flat_map(section));
    blocks.push(sentences::how_to_read(judgement));
    blocks.join("\n\n") + "\n"
}

fn section(comparison: &Comparison) -> [String; 4] {
    let sides = [("Base", &comparison.base), ("Candidate", &comparison.candidate)];
    let sides = sides.map(|(label, side)| format!("- {label}: {}", escaped(&sentences::side(side))));
    let not_in_force = in_force::of_comparison(comparison);
    let not_in_force = not_in_force.iter().map(|sentence| format!("- {}", escaped(sentence)));
    let differences =
        comparison.differences.iter().map(|it| format!("- Differs: {}", escaped(&it.to_string())));
    let anchor = comparison.anchor.iter().map(|anchor| format!("- {}", escaped(&sentences::anchor(anchor))));
    let head = [
        "| test | clients | base | candidate | ratio | rounds | verdict |".to_owned(),
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |".to_owned(),
    ];
    [
        format!("### {}", escaped(&sentences::title(comparison))),
        sides.into_iter().chain(not_in_force).chain(differences).chain(anchor).collect::<Vec<_>>().join("\n"),
        escaped(&sentences::summary(comparison)),
        head.into_iter().chain(lines(comparison).iter().map(row)).collect::<Vec<_>>().join("\n"),
    ]
}

fn row(line: &Line<'_>) -> String {
    match line {
        Line::Group { name, mean } => {
            format!("| **{}** | | | | {} | | |", escaped(name), mean.as_deref().unwrap_or_default())
        }
        Line::Test(cells) => {
            let verdict = escaped(&cells.verdict);
            let verdict = match cells.tint {
                Some(Tint::Worse) => format!("**{verdict}**"),
                _ => verdict,
            };
            let step = escaped(cells.step);
            let [clients, base, candidate, ratio, rounds] =
                [&cells.clients, &cells.base, &cells.candidate, &cells.ratio, &cells.rounds];
            format!("| {step} | {clients} | {base} | {candidate} | {ratio} | {rounds} | {verdict} |")
        }
    }
}
