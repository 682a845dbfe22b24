//! The report as one HTML file that needs no network. Without its script, only drill-downs and hints are missing.
//!
//! [`Details::load`] reads the data of drill-downs. [`render_html`] is a pure function that makes the page from the run
//! and this data. The page contains the numbers against every base ([`views`]), and the script shows the numbers
//! against one base.

mod address;
mod assets;
mod drill_down;
mod input;
mod page;
mod parts;
pub(crate) mod shell;
#[cfg(test)]
mod tests;

use self::shell::text;
pub use drill_down::details::{Details, TrialDetails};
pub(crate) use drill_down::quantiles::distribution;
pub use input::PageInput;
pub(crate) use parts::eventful::charts as event_charts;
pub(crate) use parts::joined::charts as joined_charts;
pub use parts::scaling::ScalingCurve;
pub(crate) use parts::scaling::chart as scaling_chart;
pub(crate) use parts::verdicts::banner::grave;
pub(crate) use parts::views::{View, absolute, cost, relative};
pub use shell::simple_page;

pub fn render_html(input: &PageInput<'_>) -> String {
    text(&parts::contents::Page::new(*input).document())
}
