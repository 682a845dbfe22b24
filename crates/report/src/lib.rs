//! The three reports on a run, as text, Markdown, HTML and JSON.
//!
//! [`reports`] builds the model from the result of `dyno_judge::analyse` and makes no decisions. The model has three
//! matrices of one shape: rows are steps in run order, columns are client counts × systems. [`render`] writes it in a
//! format. Each format has its own file.
//!
//! # Why
//!
//! - An HTML page is complete without its script and without a network. Tables, verdicts and small charts are HTML
//!   and SVG that Rust wrote. The script only exchanges numbers, which Rust wrote too, for every base, so that
//!   statistics and number formats exist once. What only drill-downs need is deflated, one block per step, and read
//!   when one opens.
//! - Long runs are thinned for display (extremes stay), never for statistics.
//! - A content security policy allows that one script by its hash and no network. A name in a results file could do
//!   no harm even if it were not escaped.

mod answers;
mod brief;
mod build;
mod chart;
mod format;
#[cfg(test)]
mod golden;
mod html;
mod model;
#[cfg(test)]
mod sample;
mod sections;
mod wording;

pub use answers::compare::{CompareFormat, render_judgement};
pub use answers::cost_answer::render_cost;
pub use answers::explain::{
    ChangedSetting, MadeProbe, ProofChange, ProofReport, STEP, render_explanations, render_proof,
};
pub use answers::history::{render_dropped_out, render_histories, render_regression};
pub use answers::tune::{
    LeftOutOfTuning, Recommendation, TriedSetting, TuneComparison, TuneReport, render_tuning,
};
pub use brief::{NextStep, render_brief, render_next};
pub use build::reports;
pub use chart::ChartFile;
pub use chart::charts::{cell_charts, charts};
pub use html::{Details, PageInput, ScalingCurve, TrialDetails, render_html, simple_page};
pub use model::claims::{Claim, ClaimVerdict};
pub use model::why::{ProofState, Reasons, Why};
pub use model::{
    Cell, Change, CheckedTrial, ChosenCounter, Content, Cost, CostValue, Costs, CounterValue, DiskRow,
    Evenness, Footnote, Header, Matrix, Range, Rate, Relative, Repeated, Reports, RoundCapacity, RoundRate,
    Row, System, TestCapacity, TrialWarnings, VariationRow, Verdict,
};
pub use wording::words::disturbed_tests;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    /// For a page on GitHub or the like.
    Markdown,
    /// For programs; `docs/reference/report-json.md` describes the keys.
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

/// Writes the reports. `options` only affects the text format.
pub fn render(reports: &Reports, format: Format, options: &RenderOptions) -> String {
    match format {
        Format::Text => format::text::render(reports, options),
        Format::Markdown => format::markdown::render(reports),
        Format::Json => format::json::render(reports),
    }
}
