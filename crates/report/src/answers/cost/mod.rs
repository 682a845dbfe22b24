//! The cheapest system for a load, as a document: the answer, then the candidates, then the quality of predictions.

mod hardware_priced;
mod sentences;
mod tables;
#[cfg(test)]
mod tests;

use dyno_judge::{CostAnswer, LeftOutTest};

use crate::document::{Document, Section};
use crate::format::{Report, json};
use crate::sections::left_out;

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
    let asked = answer.forecasts.iter().filter(|it| !it.predictions.is_empty() && !it.left_out.is_empty());
    let tested: Vec<LeftOutTest> = asked.map(|it| LeftOutTest::of(&answer.step, it)).collect();
    let mut sections = vec![tables::candidates(answer)];
    sections.extend(left_out::section(&tested));
    sections
}
