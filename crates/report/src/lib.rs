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

mod brief;
mod build;
mod capacities;
mod capacity_tables;
mod chart;
mod charts;
mod check_tables;
mod checks;
mod claims;
mod compare;
mod cost_answer;
mod cost_tables;
mod counter_tables;
mod counters;
mod crash_tables;
mod disk;
mod driver_tables;
mod drivers;
mod evidence;
mod explain;
mod footnotes;
mod frontier;
#[cfg(test)]
mod golden;
mod grid;
mod hardware;
mod header;
mod history;
mod host_tables;
mod html;
mod in_force;
mod joined_tables;
mod json;
mod ladder_tables;
mod left_out;
mod markdown;
mod model;
mod number;
mod phrases;
mod prices;
mod query_plans;
mod repeated;
mod repeated_tables;
#[cfg(test)]
mod sample;
mod scaling_tables;
mod section;
mod stack_tables;
mod steady_state;
mod summary;
mod sweep_tables;
mod table;
mod tables;
mod text;
mod transpose;
mod tune;
mod undecided;
mod why;
mod words;

pub use brief::{NextStep, render_brief, render_next};
pub use build::reports;
pub use chart::ChartFile;
pub use charts::{cell_charts, charts};
pub use checks::check_trials;
pub use claims::{Claim, ClaimVerdict};
pub use compare::{CompareFormat, render_judgement};
pub use cost_answer::render_cost;
pub use explain::{
    ChangedSetting, MadeProbe, ProofChange, ProofReport, STEP, render_explanations, render_proof,
};
pub use history::{render_dropped_out, render_histories, render_regression};
pub use html::{Details, PageInput, ScalingCurve, TrialDetails, render_html, simple_page};
pub use model::{
    Cell, Change, CheckedTrial, ChosenCounter, Content, Cost, CostValue, Costs, CounterValue, DiskRow,
    Evenness, Footnote, Header, Matrix, Range, Rate, Relative, Repeated, Reports, RoundCapacity, RoundRate,
    Row, System, TestCapacity, TrialWarnings, VariationRow, Verdict,
};
pub use tune::{LeftOutOfTuning, Recommendation, TriedSetting, TuneComparison, TuneReport, render_tuning};
pub use why::{ProofState, Reasons, Why};
pub use words::disturbed_tests;

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
        Format::Text => text::render(reports, options),
        Format::Markdown => markdown::render(reports),
        Format::Json => json::render(reports),
    }
}
