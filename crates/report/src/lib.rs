//! Reports as text, Markdown, HTML and JSON: the three on a run, and the answers to other questions.
//!
//! [`reports`] builds the model from the result of `dyno_judge::analyse` and makes no decisions. The model has three
//! matrices of one shape: rows are steps in run order, columns are client counts × systems. What can be asked is a
//! [`Report`]: its data for programs, and for people a [`Document`], which [`render`] writes in a format. Each format has
//! its own file, each section of a run's report too. [`render_html`] makes the page of a run, with its drill-downs.
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
mod document;
mod format;
#[cfg(test)]
mod golden;
mod html;
mod model;
#[cfg(test)]
mod sample;
mod sections;
mod wording;

pub use answers::compare::render_junit;
pub use answers::history::{render_dropped_out, render_regression};
pub use answers::study::render_study;
pub use brief::{NextStep, render_brief, render_next};
pub use build::reports;
pub use chart::ChartFile;
pub use chart::charts::{cell_charts, charts};
pub use document::Document;
pub use format::json::text as json_text;
pub use format::{Format, RenderOptions, Report, render};
pub use html::{Details, PageInput, ScalingCurve, TrialDetails, render_html, simple_page};
pub use model::claims::{Claim, ClaimVerdict};
pub use model::proof::{ChangedSetting, MadeProbe, ProofChange, ProofReport, STEP};
pub use model::tune::{LeftOutOfTuning, Recommendation, TriedSetting, TuneComparison, TuneReport};
pub use model::why::{ProofState, Reasons, Why};
pub use model::{
    Cell, CheckedTrial, ChosenCounter, Content, Cost, CostValue, Costs, CounterValue, DiskRow, Evenness,
    Footnote, Header, Matrix, Range, Rate, Relative, Repeated, RepeatedRatio, Reports, RoundCapacity,
    RoundRate, Row, System, TestCapacity, TrialWarnings, VariationRow, VerdictCounts,
};
pub use wording::words::disturbed_tests;
