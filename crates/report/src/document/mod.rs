//! A report as data, which every format renders.

mod section;
pub(crate) mod table;
mod transpose;

pub(crate) use section::{Listing, Section};
pub(crate) use table::{Column, Line, Shown, Table, Tint};

/// A document: its subject, its answer, and sections.
#[derive(Debug, Default)]
pub struct Document {
    /// Empty if the first paragraph says the same.
    pub(crate) title: String,
    /// The subject, as labelled facts. A blank line separates the paragraphs below.
    pub(crate) facts: Vec<Fact>,
    pub(crate) paragraphs: Vec<String>,
    pub(crate) code: Option<Code>,
    pub(crate) sections: Vec<Section>,
    /// Footnotes of cells.
    pub(crate) notes: Vec<String>,
}

impl Document {
    /// The title, or the first paragraph if there is no title.
    pub(crate) fn name(&self) -> &str {
        let first = self.paragraphs.first().map_or("", String::as_str);
        if self.title.is_empty() { first } else { &self.title }
    }
}

/// A fact with its label.
#[derive(Debug)]
pub(crate) struct Fact {
    /// Empty if the fact continues the previous one.
    pub(crate) label: String,
    pub(crate) text: String,
}

impl Fact {
    pub(crate) fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into() }
    }
}

/// Text to copy.
#[derive(Debug)]
pub(crate) struct Code {
    /// Its language, as Markdown names it.
    pub(crate) language: &'static str,
    pub(crate) text: String,
}
