//! Formats of reports. A new format is a file here and a line in [`render`].

pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod text;

use serde::Serialize;

use crate::document::Document;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    /// For a page on GitHub or the like.
    Markdown,
    /// A page without a script. A run's page with a script comes from [`crate::render_html`].
    Html,
    /// For programs; `docs/reference/report-json.md` describes the keys of a run's report.
    Json,
}

/// Layout of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether cells are tinted with terminal colours.
    pub color: bool,
    /// Largest width of a line, in columns.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// A report that every format can write.
pub trait Report: Serialize {
    /// The report for people, as one or more documents.
    fn documents(&self) -> Vec<Document>;

    /// The report for programs.
    fn json(&self) -> String {
        json::text(self)
    }
}

/// Writes a report. `options` only affects the text format.
pub fn render(report: &(impl Report + ?Sized), format: Format, options: &RenderOptions) -> String {
    match format {
        Format::Text => text::render(&report.documents(), options),
        Format::Markdown => markdown::render(&report.documents()),
        Format::Html => html::render(&report.documents()),
        Format::Json => report.json(),
    }
}
