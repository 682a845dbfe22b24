//! Writes a comparison for a terminal, a page, a program, or a continuous integration server.

mod junit;
mod lines;
mod markdown;
mod sentences;
#[cfg(test)]
mod tests;
mod text;

use dyno_judge::Judgement;

use crate::RenderOptions;
use crate::format::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareFormat {
    Text,
    /// For a page on GitHub or similar, such as the summary of a job.
    Markdown,
    /// For programs: the judgement as it is.
    Json,
    /// For continuous integration servers: `JUnit` XML, one test case per test.
    Junit,
}

/// Writes a comparison. `options` only affects the text format.
pub fn render_judgement(judgement: &Judgement, format: CompareFormat, options: &RenderOptions) -> String {
    match format {
        CompareFormat::Text => text::render(judgement, options),
        CompareFormat::Markdown => markdown::render(judgement),
        CompareFormat::Json => json::text(judgement),
        CompareFormat::Junit => junit::render(judgement),
    }
}
