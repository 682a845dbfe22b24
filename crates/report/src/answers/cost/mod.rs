//! The cheapest system for a load, as a document: the answer, then the candidates, then the quality of predictions.

mod hardware_priced;
mod left_out;
mod sentences;
mod tables;
#[cfg(test)]
mod tests;

use dyno_judge::CostAnswer;

use crate::document::{Document, Section};
use crate::format::{Report, json};

impl Report for CostAnswer {
    fn documents(&self) -> Vec<Document> {
        vec![Document {
            paragraphs: sentences::answer(self),
            sections: sections(self),
            ..Document::default()
        }]
    }

    fn json(&self) -> String {
        let mut document = serde_json::to_value(self).expect("every key is text");
        document["answer"] = sentences::answer(self).into();
        document["cheapest"] = serde_json::to_value(self.cheapest_of_all()).expect("every key is text");
        json::text(&document)
    }
}

fn sections(answer: &CostAnswer) -> Vec<Section> {
    let mut sections = vec![tables::candidates(answer)];
    sections.extend(left_out::section(&answer.step, &answer.forecasts));
    sections
}
