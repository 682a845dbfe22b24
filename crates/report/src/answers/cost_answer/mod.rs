//! Writes which system is the cheapest for a load: the answer first, then the candidates, then how good predictions are.

mod hardware_priced;
mod sentences;
mod tables;
#[cfg(test)]
mod tests;

use dyno_judge::{CostAnswer, LeftOutTest};

use crate::format::json;
use crate::format::markdown::{self, escaped};
use crate::format::text::Lines;
use crate::sections::left_out;
use crate::sections::section::Section;
use crate::{Format, RenderOptions};

/// Writes the answer. `options` only affects the text format.
pub fn render_cost(answer: &CostAnswer, format: Format, options: &RenderOptions) -> String {
    match format {
        Format::Text => text(answer, options),
        Format::Markdown => {
            let mut blocks: Vec<String> = sentences::answer(answer).iter().map(|it| escaped(it)).collect();
            blocks.extend(sections(answer).iter().flat_map(markdown::section));
            blocks.join("\n\n") + "\n"
        }
        Format::Json => document(answer),
    }
}

fn sections(answer: &CostAnswer) -> Vec<Section> {
    let asked = answer.forecasts.iter().filter(|it| !it.predictions.is_empty() && !it.left_out.is_empty());
    let tested: Vec<LeftOutTest> = asked.map(|it| LeftOutTest::of(&answer.step, it)).collect();
    let mut sections = vec![tables::candidates(answer)];
    sections.extend(left_out::section(&tested));
    sections
}

fn text(answer: &CostAnswer, options: &RenderOptions) -> String {
    let mut out = Lines::new(options);
    for sentence in sentences::answer(answer) {
        out.paragraph(&sentence);
    }
    for section in sections(answer) {
        out.section(&section);
    }
    out.text
}

fn document(answer: &CostAnswer) -> String {
    let mut document = serde_json::to_value(answer).expect("every key is text");
    document["answer"] = sentences::answer(answer).into();
    document["cheapest"] = serde_json::to_value(answer.cheapest_of_all()).expect("every key is text");
    json::text(&document)
}
