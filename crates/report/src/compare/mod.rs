//! Writes a comparison for a terminal, a page, a program, or a continuous integration server.

mod json;
mod junit;
mod lines;
mod markdown;
mod sentences;
#[cfg(test)]
mod tests;
mod text;

use dyno_judge::Judgement;

use crate::RenderOptions;

/// How a comparison is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareFormat {
    Text,
    /// For a page on GitHub or the like, such as the summary of a job.
    Markdown,
    /// For programs: the judgement as it stands.
    Json,
    /// For continuous integration servers: `JUnit`'s XML, a test case a test.
    Junit,
}

/// Writes a comparison. Options are of text; the other formats take none.
pub fn render_judgement(judgement: &Judgement, format: CompareFormat, options: &RenderOptions) -> String {
    match format {
        CompareFormat::Text => text::render(judgement, options),
        CompareFormat::Markdown => markdown::render(judgement),
        CompareFormat::Json => json::render(judgement),
        CompareFormat::Junit => junit::render(judgement),
    }
}
