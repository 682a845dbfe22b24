//! Renders a comparison as a document, and as `JUnit` XML for a continuous integration server.

mod junit;
mod sentences;
mod tables;
#[cfg(test)]
mod tests;

use dyno_judge::{Comparison, Judgement};

use crate::document::{Document, Section};
use crate::format::Report;
use crate::wording::in_force;

pub use junit::render as render_junit;

impl Report for Judgement {
    fn documents(&self) -> Vec<Document> {
        let how_to_read = Section {
            title: "How to read this".to_owned(),
            paragraphs: vec![sentences::how_to_read(self)],
            ..Section::default()
        };
        vec![Document {
            title: sentences::outcome(self),
            sections: self.comparisons.iter().map(section).chain([how_to_read]).collect(),
            ..Document::default()
        }]
    }
}

/// A table of the comparison's tests. Above the table are the mean of the tests and the compared systems.
fn section(comparison: &Comparison) -> Section {
    let sides = [("Base", &comparison.base), ("Candidate", &comparison.candidate)];
    let sides = sides.map(|(label, side)| format!("{label}: {}", sentences::side(side)));
    let differences = comparison.differences.iter().map(|it| format!("Differs: {it}"));
    let items = sides.into_iter().chain(in_force::of_comparison(comparison)).chain(differences);
    Section {
        title: sentences::title(comparison),
        paragraphs: vec![sentences::summary(comparison)],
        items: items.chain(comparison.anchor.iter().map(sentences::anchor)).collect(),
        tables: vec![tables::tests(comparison)],
        ..Section::default()
    }
}
