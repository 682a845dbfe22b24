//! A comparison for a page that renders Markdown, such as the summary of a job on GitHub.

use dyno_judge::{Comparison, Judgement};

use super::lines::{Line, lines};
use super::sentences;
use crate::markdown::escaped;
use crate::table::Tint;

/// Writes the judgement as Markdown.
pub(super) fn render(judgement: &Judgement) -> String {
    let mut text = format!("## {}\n", sentences::outcome(judgement));
    for comparison in &judgement.comparisons {
        text.push_str(&section(comparison));
    }
    text.push_str(&format!("\n{}\n", sentences::how_to_read(judgement)));
    text
}

fn section(comparison: &Comparison) -> String {
    let mut text = format!("\n### {}\n\n", escaped(&sentences::title(comparison)));
    for (label, side) in [("Base", &comparison.base), ("Candidate", &comparison.candidate)] {
        text.push_str(&format!("- {label}: {}\n", escaped(&sentences::side(side))));
    }
    for difference in &comparison.differences {
        text.push_str(&format!("- Differs: {}\n", escaped(&difference.to_string())));
    }
    text.push_str(&format!("\n{}\n\n", escaped(&sentences::summary(comparison))));
    text.push_str("| test | clients | base | candidate | ratio | pairs | verdict |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for line in lines(comparison) {
        text.push_str(&row(&line));
    }
    text
}

fn row(line: &Line<'_>) -> String {
    match line {
        Line::Group { name, mean } => {
            format!("| **{}** | | | | {} | | |\n", escaped(name), mean.as_deref().unwrap_or_default())
        }
        Line::Test(cells) => {
            let verdict = match cells.tint {
                Some(Tint::Worse) => format!("**{}**", cells.verdict),
                _ => cells.verdict.clone(),
            };
            let step = escaped(cells.step);
            let [clients, base, candidate, ratio, pairs] =
                [&cells.clients, &cells.base, &cells.candidate, &cells.ratio, &cells.pairs];
            format!("| {step} | {clients} | {base} | {candidate} | {ratio} | {pairs} | {verdict} |\n")
        }
    }
}
