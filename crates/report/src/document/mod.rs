//! A report as data, which every format renders.

mod section;
pub(crate) mod table;
mod transpose;

pub(crate) use section::{Listing, Section};
pub(crate) use table::{Column, Line, Shown, Table, Tint};

/// A document: its subject, its answer, and sections.
#[derive(Debug, Default)]
pub struct Document {
    /// The title; empty if the first paragraph already names the subject.
    pub(crate) title: String,
    /// Labelled facts about the subject. A blank line separates them from the paragraphs.
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
    /// The label; empty if the fact continues the previous fact.
    pub(crate) label: String,
    pub(crate) text: String,
}

impl Fact {
    pub(crate) fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into() }
    }
}

/// Text that readers may copy, such as a part of a plan.
#[derive(Debug)]
pub(crate) struct Code {
    /// The language's name in Markdown, such as `toml`.
    pub(crate) language: &'static str,
    pub(crate) text: String,
}
