//! Charts as standalone files: SVG with its own style, and PNG.

use maud::{PreEscaped, html};
use resvg::{tiny_skia, usvg};

use super::heat::cut;
use super::lettering::{self, LetteringError};
use super::{Chart, colour};

const STYLE: &str = include_str!("../../assets/chart-file.css");

const MARGIN: f64 = 20.0;
const HEAD: f64 = 62.0;
const LEGEND: f64 = 22.0;
const FOOT: f64 = 30.0;
/// Most letters of texts. More do not fit beside a drawing.
const TITLE_LETTERS: usize = 90;
const LEGEND_LETTERS: usize = 40;
const ORIGIN_LETTERS: usize = 130;
/// Most letters of a file's name. File systems take 255 bytes, and names get numbers and endings.
const NAME_LETTERS: usize = 200;
/// Pixels of a PNG per pixel of the SVG.
const SCALE: f32 = 2.0;

/// A chart that could not be drawn as PNG.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The SVG cannot be parsed. Dyno's own always can.
    #[error("the chart is not valid SVG: {0}")]
    Svg(#[from] usvg::Error),
    /// Its text cannot be drawn. Dyno's own always can.
    #[error("the text of the chart cannot be drawn: {0}")]
    Text(#[from] LetteringError),
    /// The picture is too large or empty.
    #[error("the chart cannot be drawn at {width} × {height} pixels")]
    Size { width: u32, height: u32 },
    /// The picture cannot be encoded.
    #[error("the chart cannot be written as PNG: {0}")]
    Png(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// The file's name without extension.
    pub name: String,
    pub svg: String,
}

impl ChartFile {
    /// The drawing as PNG, with two pixels for each of the SVG.
    ///
    /// # Errors
    /// The drawing is too large.
    pub fn png(&self) -> Result<Vec<u8>, ChartError> {
        let tree = usvg::Tree::from_str(&lettering::outlined(&self.svg)?, &usvg::Options::default())?;
        let (width, height) = ((tree.size().width() * SCALE) as u32, (tree.size().height() * SCALE) as u32);
        let mut picture = tiny_skia::Pixmap::new(width, height).ok_or(ChartError::Size { width, height })?;
        resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
        picture.encode_png().map_err(|error| ChartError::Png(error.to_string()))
    }
}

/// A chart with its title above and its source below. `legend` contains the names of series in order.
pub(crate) fn stand_alone(name: &str, chart: &Chart, legend: &[&str], origin: &str) -> ChartFile {
    let head = HEAD + if legend.is_empty() { 0.0 } else { LEGEND };
    let (width, height) = (chart.width + 2.0 * MARGIN, chart.height + head + FOOT);
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img" {
            title { (cut(&chart.title, TITLE_LETTERS)) }
            style { (PreEscaped(lettering::style())) (PreEscaped(STYLE)) }
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

/// Start of each name of a legend. Inter's letters are 6.2 pixels wide on average at this size.
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
