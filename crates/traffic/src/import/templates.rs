//! Templates of frequent statements. They split further statements of the same kind quickly.

use std::hash::BuildHasher as _;

use foldhash::quality::RandomState;

use super::shapes::Known;
use crate::sql::{Dialect, Normalized, Normalizer, Template, literal_begin};

/// Number of sets, and number of templates in each set. All templates together usually take a few MB, and never more
/// than 40 MB.
const SETS: usize = 1024;
const WAYS: usize = 8;

/// Templates in sets. A hash of a statement's beginning selects the set. Each use moves a template one position forward
/// in its set, so templates that are used often come first.
#[derive(Debug)]
pub(super) struct Templates {
    dialect: Dialect,
    hasher: RandomState,
    sets: Vec<Vec<(Template, Known)>>,
}

impl Templates {
    pub(super) fn new(dialect: Dialect) -> Self {
        let sets = (0..SETS).map(|_| Vec::new()).collect();
        Self { dialect, hasher: RandomState::default(), sets }
    }

    /// Splits a statement if its template is known.
    pub(super) fn part<'a>(
        &'a mut self,
        normalizer: &'a mut Normalizer,
        text: &[u8],
        bound: &[Option<Vec<u8>>],
    ) -> Option<(Normalized<'a>, Known)> {
        let set = self.set(text);
        let set = &mut self.sets[set];
        let found = set.iter().position(|(template, _)| normalizer.has(template, text))?;
        let place = found.saturating_sub(1);
        set.swap(found, place);
        let (template, known) = &set[place];
        Some((normalizer.of_template(template, bound), *known))
    }

    /// Keeps the template of a statement. If the set is full, the template replaces the last one in the set.
    pub(super) fn keep(&mut self, text: &[u8], template: Template, known: Known) {
        let set = self.set(text);
        let set = &mut self.sets[set];
        if set.len() == WAYS {
            set.pop();
        }
        set.push((template, known));
    }

    fn set(&self, text: &[u8]) -> usize {
        let text = text.trim_ascii_start();
        self.hasher.hash_one(&text[..literal_begin(text, self.dialect)]) as usize % SETS
    }
}
