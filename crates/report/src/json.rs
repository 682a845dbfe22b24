//! The reports for programs: the model as it stands, under keys that `docs/report-json.md` describes.

use serde::Serialize;

use crate::model::Reports;

/// Changes when a key changes its meaning or goes away; new keys may come without a change.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    #[serde(flatten)]
    reports: &'a Reports,
}

/// Writes the reports as one JSON document.
///
/// # Panics
/// Never: the model has no map with keys that are not text.
pub(crate) fn render(reports: &Reports) -> String {
    let document = Document { format: FORMAT, reports };
    let mut text = serde_json::to_string_pretty(&document).expect("every key is text");
    text.push('\n');
    text
}
