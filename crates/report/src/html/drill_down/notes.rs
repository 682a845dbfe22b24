//! Sentences in drill-downs that compare a cell with the base.

use std::collections::HashMap;

use serde::Serialize;

use crate::model::{Cell, Rate, Relative, Reports};
use crate::wording::number::{margin, rounds_that_decide};
use crate::wording::words;

/// The sentences on each cell, in row order. Each distinct sentence is stored once.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Notes {
    words: Vec<String>,
    /// For each cell, the indices of its sentences in `words`.
    cells: Vec<Vec<usize>>,
}

impl Notes {
    pub(crate) fn of(reports: &Reports) -> Self {
        let margin = margin(&reports.rule);
        let mut notes = Self::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (rates, ratios) in reports.absolute.rows.iter().zip(&reports.relative.rows) {
            for (rate, ratio) in rates.cells.iter().zip(&ratios.cells) {
                let place = |says: String| {
                    *places.entry(says).or_insert_with_key(|says| {
                        notes.words.push(says.clone());
                        notes.words.len() - 1
                    })
                };
                let cell = sentences(rate.value(), ratio, &margin).into_iter().map(place).collect();
                notes.cells.push(cell);
            }
        }
        notes
    }
}

fn sentences(rate: Option<&Rate>, ratio: &Cell<Relative>, margin: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(relative) = ratio.value() {
        sentences.extend(verdict(relative, margin));
        let warnings = relative.warnings.iter();
        sentences.extend(warnings.map(|warning| words::test_warning(warning, Some(relative.ratio))));
    }
    if let Some(rate) = rate {
        sentences.extend(rate.warnings.iter().map(words::cell_warning));
    }
    let mut said = std::collections::HashSet::new();
    sentences.retain(|sentence| said.insert(sentence.clone()));
    sentences
}

/// The verdict and its reasons: `slower: exact interval of 12 rounds`, `not decided: the interval holds …; about 3
/// more rounds decide`.
fn verdict(relative: &Relative, margin: &str) -> Option<String> {
    let found = words::finding(relative.finding?, margin);
    let why = relative.undecided.as_ref().map(words::undecided);
    let more = relative.more_rounds.map(rounds_that_decide);
    let rest: Vec<String> = [why, words::method(relative), more].into_iter().flatten().collect();
    Some(if rest.is_empty() { found } else { format!("{found}: {}", rest.join("; ")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn every_cell_has_its_sentences_and_each_is_kept_once() {
        let reports = reports(&sample::eventful_run());
        let notes = Notes::of(&reports);
        let cells = reports.relative.rows.iter().map(|row| row.cells.len()).sum::<usize>();
        assert_eq!(notes.cells.len(), cells);
        let mut unique = notes.words.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), notes.words.len());
        let place = |step: usize, column: usize| &notes.cells[step * 6 + column];
        assert!(place(1, 0).is_empty(), "nothing is said of the base against itself");
        let says: Vec<&str> = place(1, 2).iter().map(|at| notes.words[*at].as_str()).collect();
        assert_eq!(
            says,
            [
                "slower: exact interval of 12 rounds",
                "works between its slices: its CPU time there is 62% of that in its slices"
            ]
        );
    }
}
