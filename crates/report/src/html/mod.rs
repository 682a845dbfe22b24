//! The report as one HTML file that needs no network. Without its script, only drill-downs and hints are missing.
//!
//! [`Details::load`] reads the data of drill-downs. [`render_html`] makes the page from the run and this data, as a
//! pure function. The page has its content for every base ([`views`]), and the script shows one of them.

mod address;
mod assets;
mod drill_down;
mod page;
mod parts;
#[cfg(test)]
mod tests;

use dyno_judge::Analysis;
use dyno_printable::printable_html;
use dyno_store::Run;

use crate::model::why::Reasons;

pub use drill_down::details::{Details, TrialDetails};
pub(crate) use drill_down::quantiles::distribution;
pub(crate) use parts::banner::grave;
pub(crate) use parts::eventful::charts as event_charts;
pub(crate) use parts::joined::charts as joined_charts;
pub use parts::scaling::ScalingCurve;
pub(crate) use parts::scaling::chart as scaling_chart;
pub(crate) use parts::views::{View, absolute, cost, relative};

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

/// A page as text, with control characters made visible.
fn text(page: &maud::Markup) -> String {
    printable_html(&page.0).into_owned()
}

pub fn render_html(input: &PageInput<'_>) -> String {
    text(&parts::contents::Page::new(*input).document())
}

/// A page of a server, without data or script, in the style of reports.
pub fn simple_page(title: &str, body: &maud::Markup) -> String {
    text(&page::simple(title, true, body))
}

/// The same page, as a file.
pub(crate) fn plain_page(title: &str, body: &maud::Markup) -> String {
    text(&page::simple(title, false, body))
}
