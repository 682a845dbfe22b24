//! The interface between reports and formats.

use serde::Serialize;

use super::json;
use crate::document::Document;

/// A report that every format can write.
pub trait Report: Serialize {
    /// Returns the report for people, as one or more documents.
    fn documents(&self) -> Vec<Document>;

    /// Returns the report for programs, as JSON.
    fn json(&self) -> String {
        json::text(self)
    }
}
