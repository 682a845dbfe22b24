//! The result of a search for better settings, as a document.

mod sections;
mod sentences;
#[cfg(test)]
mod tests;

use crate::document::{Code, Document};
use crate::format::Report;
use crate::model::tune::TuneReport;
use crate::wording::number::counted;

impl Report for TuneReport {
    fn documents(&self) -> Vec<Document> {
        vec![Document {
            title: self.title(),
            paragraphs: self.answer(),
            code: self.toml().map(|text| Code { language: "toml", text }),
            sections: self.sections(),
            ..Document::default()
        }]
    }
}

impl TuneReport {
    fn title(&self) -> String {
        let clients: Vec<String> = self.clients.iter().map(u32::to_string).collect();
        let at = match self.clients.as_slice() {
            [clients] => counted(u64::from(*clients), "client"),
            _ => format!("{} clients", clients.join(" and ")),
        };
        format!("Settings for {} ({}): {} at {at}", self.system, self.engine, self.steps.join(", "))
    }

    /// The recommended settings in the syntax of a plan.
    fn toml(&self) -> Option<String> {
        let settings = &self.recommendation.as_ref()?.settings;
        let lines = settings.iter().map(|(name, value)| format!("{} = {}\n", key(name), quoted(value)));
        Some(format!("[system.settings]\n{}", lines.collect::<String>()))
    }
}

/// A name as a TOML key, in quotes unless it is a bare key.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// A value as a TOML basic string.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
