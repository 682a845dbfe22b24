//! Charts as standalone files: SVG with its own style.

use maud::{PreEscaped, html};

use super::heat::cut;
use super::{Chart, colour};

const STYLE: &str = include_str!("../../assets/chart-file.css");

const MARGIN: f64 = 20.0;
const HEAD: f64 = 62.0;
const LEGEND: f64 = 22.0;
const FOOT: f64 = 30.0;
/// How many letters of the title, of a name in the legend and of the source fit into the image.
const TITLE_LETTERS: usize = 90;
const LEGEND_LETTERS: usize = 40;
const ORIGIN_LETTERS: usize = 130;
/// Longest file name, in letters. File systems allow 255 bytes, and names get numbers and extensions.
const NAME_LETTERS: usize = 200;

/// A chart as a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// The file's name without extension.
    pub name: String,
    pub svg: String,
}

/// A chart with its title above and its source below. `legend` contains the names of series in order.
pub(crate) fn stand_alone(name: &str, chart: &Chart, legend: &[&str], origin: &str) -> ChartFile {
    let head = HEAD + if legend.is_empty() { 0.0 } else { LEGEND };
    let (width, height) = (chart.width + 2.0 * MARGIN, chart.height + head + FOOT);
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img" {
            title { (cut(&chart.title, TITLE_LETTERS)) }
            style { (PreEscaped(STYLE)) }
            rect width=(width) height=(height) fill="#ffffff" {}
            text.title x=(MARGIN) y="34" { (cut(&chart.title, TITLE_LETTERS)) }
            @for (at, (x, name)) in places(legend).into_iter().enumerate() {
                g transform=(format!("translate({} 60)", MARGIN + x)) {
                    path class=(format!("line {}", colour(at))) d="M0 -4h16" {}
                    text.name x="22" { (name) }
                }
            }
            g transform=(format!("translate({MARGIN} {head})")) { (chart.body) }
            text x=(MARGIN) y=(height - 12.0) { (cut(origin, ORIGIN_LETTERS)) }
        }
    };
    ChartFile { name: file_name(name), svg: svg.into_string() }
}

/// Horizontal position of each name in a legend, in pixels. In the legend's font size, letters of common sans-serif
/// fonts are 6.2 pixels wide on average.
fn places(legend: &[&str]) -> Vec<(f64, String)> {
    let mut next = 0.0;
    let mut place = |name: &&str| {
        let (here, name) = (next, cut(name, LEGEND_LETTERS));
        next += 42.0 + 6.2 * name.chars().count() as f64;
        (here, name)
    };
    legend.iter().map(&mut place).collect()
}

/// A name of letters, digits, `-`, `_` and `.` that cannot refer to another folder.
fn file_name(name: &str) -> String {
    let safe =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let letters = name.trim_start_matches('.').chars().take(NAME_LETTERS);
    letters.map(safe).collect()
}
