//! The report as one HTML file. It needs no network. Without the script only its drill-downs and hints are missing.
//!
//! [`Details::load`] reads the data of drill-downs. [`render_html`] is a pure function that makes the page from it and
//! the run. The page contains the content for every base ([`views`]), and the script selects it.

mod address;
mod assets;
mod banner;
mod cells;
mod checks;
mod claims;
mod contents;
mod data;
mod details;
mod explained;
mod forest;
mod joined;
mod marks;
mod matrix;
mod methods;
mod money;
mod notes;
mod pack;
mod page;
mod quantiles;
mod scaling;
pub(crate) mod sections;
mod series;
mod stacks;
#[cfg(test)]
mod tests;
mod thin;
mod undecided;
mod verdict;
mod views;
mod why;

use dyno_judge::Analysis;
use dyno_printable::printable_html;
use dyno_store::Run;

use crate::why::Reasons;

pub(crate) use banner::grave;
pub use details::{Details, TrialDetails};
pub(crate) use joined::charts as joined_charts;
pub(crate) use quantiles::distribution;
pub use scaling::ScalingCurve;
pub(crate) use scaling::chart as scaling_chart;
pub(crate) use views::{View, absolute, cost, relative};

#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    pub run: &'a Run,
    /// The analysis of the run with the details' checks.
    pub analysis: &'a Analysis,
    /// Seconds and counters of its trials.
    pub details: &'a Details,
    /// Curves fitted to throughput against concurrency.
    pub curves: &'a [ScalingCurve],
    /// Why systems differ.
    pub reasons: &'a Reasons,
    /// Whether the page is served with live updates at `/events`.
    pub is_live: bool,
}

/// A page as text that is seen as it is.
fn text(page: &maud::Markup) -> String {
    printable_html(&page.0).into_owned()
}

pub fn render_html(input: &PageInput<'_>) -> String {
    text(&contents::Page::new(*input).document())
}

/// A page without data or script, in the style of reports.
pub fn simple_page(title: &str, body: &maud::Markup) -> String {
    text(&page::simple(title, body))
}
