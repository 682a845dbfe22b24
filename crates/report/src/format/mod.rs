//! Formats of reports. To add a format, add a file to this folder and a line to [`render`].

pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
mod report;
pub(crate) mod text;

pub use self::report::Report;
pub use self::text::RenderOptions;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    /// Markdown, for example for a page on GitHub.
    Markdown,
    /// A page without a script. A run's page with a script comes from [`crate::render_html`].
    Html,
    /// JSON, for programs. `docs/reference/report-json.md` describes the keys of a run's report.
    Json,
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
