//! Line charts, for throughput against concurrency, for time series and for distributions.

use maud::{Markup, html};

use super::{Axis, Chart, colour, px};

const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 38.0;

#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Index of the line's colour.
    pub(crate) series: usize,
    /// A point without a finite value is a gap in the line.
    pub(crate) points: Vec<(f64, f64)>,
    /// Whether points have dots. Measured points have dots, points of a fitted curve do not.
    pub(crate) has_dots: bool,
    /// Whether the line is dashed, as fitted curves are.
    pub(crate) is_dashed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct LineChart {
    pub(crate) title: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Titles of the x axis and the y axis.
    pub(crate) units: [&'static str; 2],
    /// Ticks of the x axis; if empty, the scale chooses them.
    pub(crate) x_ticks: Vec<(f64, String)>,
    /// Labels at values of the x axis, for example for events.
    pub(crate) marks: Vec<(f64, String)>,
    pub(crate) lines: Vec<Line>,
}

impl LineChart {
    pub(crate) fn draw(&self) -> Chart {
        let body = html! {
            (self.grid())
            @for (value, name) in &self.marks { (self.mark(*value, name)) }
            @for line in &self.lines { (self.line(line)) }
        };
        Chart { title: self.title.clone(), width: self.width, height: self.height, body }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + self.x.place(x) * (self.width - LEFT - RIGHT);
        let down = TOP + (1.0 - self.y.place(y)) * (self.height - TOP - BOTTOM);
        (across, down)
    }

    fn grid(&self) -> Markup {
        let floor = self.height - BOTTOM;
        let x_ticks = if self.x_ticks.is_empty() { self.x.ticks() } else { self.x_ticks.clone() };
        let (x_start, y_start) = match (self.x, self.y) {
            (
                Axis::Linear { min: x, .. } | Axis::Log { min: x, .. },
                Axis::Linear { min: y, .. } | Axis::Log { min: y, .. },
            ) => (x, y),
        };
        let [x_unit, y_unit] = self.units;
        html! {
            text x="0" y="9" { (y_unit) }
            text x=(px((LEFT + self.width - RIGHT) / 2.0)) y=(px(self.height - 5.0)) text-anchor="middle" { (x_unit) }
            @for (value, name) in self.y.ticks() {
                @let (_, y) = self.at((x_start, value));
                path.rule d=(format!("M{LEFT} {}H{}", px(y), self.width - RIGHT)) {}
                text x=(LEFT - 6.0) y=(px(y + 3.5)) text-anchor="end" { (name) }
            }
            @for (value, name) in x_ticks {
                @let (x, _) = self.at((value, y_start));
                path.rule d=(format!("M{} {floor}v4", px(x))) {}
                text x=(px(x)) y=(px(floor + 16.0)) text-anchor="middle" { (name) }
            }
        }
    }

    fn mark(&self, value: f64, name: &str) -> Markup {
        let across = LEFT + self.x.place(value) * (self.width - LEFT - RIGHT);
        html! {
            path.join d=(format!("M{} {}V{}", px(across), TOP, self.height - BOTTOM)) {}
            text x=(px(across + 3.0)) y=(TOP + 8.0) { (name) }
        }
    }

    fn line(&self, line: &Line) -> Markup {
        let stretches: Vec<Vec<(f64, f64)>> = line
            .points
            .split(|(x, y)| !(x.is_finite() && y.is_finite()))
            .map(|stretch| stretch.iter().map(|point| self.at(*point)).collect())
            .collect();
        let path: String = stretches.iter().map(|stretch| polyline(stretch)).collect();
        let dashed = if line.is_dashed { " dashed" } else { "" };
        html! {
            path class=(format!("line {}{dashed}", colour(line.series))) d=(path) {}
            // A single point between two gaps gets a dot, because a line needs at least two points.
            @for (x, y) in stretches.iter().filter(|stretch| line.has_dots || stretch.len() == 1).flatten() {
                circle class=(format!("dot {}", colour(line.series))) cx=(px(*x)) cy=(px(*y)) r="3" {}
            }
        }
    }
}

/// Returns the attribute `d` of an SVG `path` through points.
fn polyline(points: &[(f64, f64)]) -> String {
    let places: Vec<String> = points.iter().map(|(x, y)| format!("{} {}", px(*x), px(*y))).collect();
    if places.is_empty() { String::new() } else { format!("M{}", places.join("L")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_gaps_where_there_is_no_value() {
        let values = [1.0, 2.0, f64::NAN, 3.0, f64::NAN, f64::NAN, 1.0, 1.0];
        let points = (0..).map(f64::from).zip(values).collect();
        let chart = LineChart {
            title: String::new(),
            width: 100.0,
            height: 100.0,
            x: Axis::Linear { min: 0.0, max: 7.0 },
            y: Axis::Linear { min: 0.0, max: 3.0 },
            units: ["", ""],
            x_ticks: Vec::new(),
            marks: Vec::new(),
            lines: vec![Line { series: 0, points, has_dots: false, is_dashed: false }],
        };
        let svg = chart.draw().inline().into_string();
        let path = svg.split("class=\"line s0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (3, 2), "{path}");
        assert_eq!(svg.matches("<circle").count(), 1, "the value between two gaps");
    }
}
