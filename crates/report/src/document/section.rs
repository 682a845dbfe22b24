//! A section of a document.

use super::Table;

/// A title, paragraphs, remarks, tables and texts.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What the section shows, and how to read it.
    pub(crate) paragraphs: Vec<String>,
    pub(crate) items: Vec<String>,
    /// Further items, for readers who want all items. The text format only states their number. A page shows them on
    /// request.
    pub(crate) more_items: Vec<String>,
    pub(crate) tables: Vec<Table>,
    pub(crate) listings: Vec<Listing>,
}

/// Texts of several lines, side by side.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) title: String,
    /// The name of the system or version that each text belongs to, with the text.
    pub(crate) texts: Vec<(String, String)>,
}
