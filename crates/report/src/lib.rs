//! Reports as text, Markdown, HTML and JSON: the report on a run, and answers to other questions.
//!
//! [`reports`] builds the model from the result of `dyno_judge::analyse`, and makes no decisions. The model has three
//! matrices of the same shape: rows are steps in run order, columns are systems at each client count. A [`Report`] can
//! be turned into JSON for programs, and into [`Document`]s for people. [`render`] writes a report in one of the
//! formats. Each format has a file, and so has each section of a run's report. [`render_html`] makes the page of a run,
//! with drill-downs.
//!
//! # Why
//!
//! - An HTML page is complete without its script and without a network. Rust writes tables, verdicts and small charts
//!   as HTML and SVG. Rust also writes the numbers against every base, and the script only chooses the numbers to
//!   show. So statistics and number formats have one implementation. Data that only drill-downs need is deflated, in
//!   one block per step. The script reads a block when a drill-down opens.
//! - Long series are thinned for display, but extremes stay. Statistics use all data.
//! - A content security policy allows only the page's own script, by the script's hash, and no network. So a name in a
//!   results file could do no harm even if it were not escaped.

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
pub use answers::traffic::{TrafficContents, trouble_words};
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
pub use model::upgrade::{DigestPlans, Refusal, UpgradeReport, UpgradedSystem};
pub use model::why::{ProofState, Reasons, Why};
pub use model::{
    Cell, CheckedTrial, ChosenCounter, Content, Cost, CostValue, Costs, CounterValue, DiskRow, Evenness,
    Footnote, Header, Matrix, Range, Rate, Relative, Repeated, RepeatedRatio, Reports, RoundCapacity,
    RoundRate, Row, System, TestCapacity, TrialWarnings, VariationRow, VerdictCounts,
};
pub use wording::words::{disturbed_tests, ratio_in};
