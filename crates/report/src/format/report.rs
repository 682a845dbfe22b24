//! What a report gives to the formats.

use serde::Serialize;

use super::json;
use crate::document::Document;

/// A report that every format can write.
pub trait Report: Serialize {
    /// The report for people, as one or more documents.
    fn documents(&self) -> Vec<Document>;

    /// The report for programs.
    fn json(&self) -> String {
        json::text(self)
    }
}
