//! Charts as SVG. The same drawing serves pages, whose style sheet colours it, and files, which contain their own
//! style.

mod axis;
mod bars;
pub(crate) mod charts;
mod file;
mod flame;
mod heat;
mod lines;
mod ratios;

use maud::{Markup, html};

pub(crate) use axis::Axis;
pub(crate) use bars::{Group, bars};
pub use file::ChartFile;
pub(crate) use file::stand_alone;
pub(crate) use flame::FlameGraph;
pub(crate) use heat::{cut, heat};
pub(crate) use lines::{Line, LineChart};
pub(crate) use ratios::ratios;

/// A drawing with its title.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The content of the `svg` element.
    pub(crate) body: Markup,
}

impl Chart {
    /// The chart as an element of a page.
    pub(crate) fn inline(&self) -> Markup {
        let view_box = format!("0 0 {} {}", self.width, self.height);
        html! { svg.chart viewBox=(view_box) role="img" aria-label=(self.title) { (self.body) } }
    }
}

/// Number of colours for series. The ninth system has the first colour again.
pub(crate) const COLOURS: usize = 8;

pub(crate) fn colour(series: usize) -> String {
    format!("s{}", series % COLOURS)
}

/// Formats a coordinate to a tenth of a pixel.
pub(crate) fn px(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded}")
}
