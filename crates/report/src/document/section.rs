//! A section of a document.

use super::Table;

/// A title, paragraphs, remarks, tables and texts.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What it shows and how to read it.
    pub(crate) paragraphs: Vec<String>,
    pub(crate) items: Vec<String>,
    /// Items beyond those that everybody should read. Text counts them, and a page shows them when it is asked.
    pub(crate) more_items: Vec<String>,
    pub(crate) tables: Vec<Table>,
    pub(crate) listings: Vec<Listing>,
}

/// Texts of several lines, side by side.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) title: String,
    /// Each with whose it is.
    pub(crate) texts: Vec<(String, String)>,
}
