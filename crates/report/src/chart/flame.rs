//! Flame graphs: each function is a bar above the bar of its caller. The width of a bar is its weight.

use dyno_judge::FlameNode;
use maud::html;

use super::heat::cut;
use super::{Chart, px};

const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
/// Mean width of a letter, in pixels.
const LETTER: f64 = 6.2;
/// A name is drawn only where at least this many letters fit.
const LETTERS_MIN: usize = 4;
/// Sibling bars that are narrower than this share of the root's bar are drawn as one bar.
const SHARE_MIN: f64 = 0.003;

/// How to draw a tree.
pub(crate) struct FlameGraph<'a> {
    pub(crate) title: String,
    /// The name of the root's bar.
    pub(crate) root: &'a str,
    /// Returns the weight of a node, in any unit. The width of the node's bar is proportional to it.
    pub(crate) weight: fn(&FlameNode) -> f64,
    /// A bar's CSS class, which gives its colour.
    pub(crate) class: &'a dyn Fn(&FlameNode) -> String,
    /// The text that follows the function's name in a bar's tooltip.
    pub(crate) says: &'a dyn Fn(&FlameNode) -> String,
}

struct Bar {
    /// Position of the left edge. `left` and `width` are shares of the chart's width, from 0 to 1.
    left: f64,
    width: f64,
    depth: usize,
    name: String,
    class: String,
    says: String,
}

impl FlameGraph<'_> {
    /// Draws a tree, its root at the bottom. `None` if the tree has no weight.
    pub(crate) fn draw(self, tree: &FlameNode) -> Option<Chart> {
        let whole = (self.weight)(tree);
        if whole.is_nan() || whole <= 0.0 {
            return None;
        }
        let mut bars = Vec::new();
        self.add(tree, self.root, (0.0, 0), whole, &mut bars);
        let rows = bars.iter().map(|bar| bar.depth + 1).max().unwrap_or(0) as f64;
        let body = html! {
            @for bar in &bars {
                @let top = (rows - 1.0 - bar.depth as f64) * ROW;
                @let width = bar.width * WIDTH;
                @let letters = ((width - 6.0) / LETTER) as usize;
                g {
                    title { (bar.name) ": " (bar.says) }
                    rect class=(bar.class) x=(px(bar.left * WIDTH)) y=(px(top)) width=(px(width)) height=(px(ROW - 1.0)) {}
                    @if letters >= LETTERS_MIN {
                        text x=(px(bar.left * WIDTH + 3.0)) y=(px(top + 12.0)) { (cut(&bar.name, letters)) }
                    }
                }
            }
        };
        Some(Chart { title: self.title, width: WIDTH, height: rows * ROW, body })
    }

    /// Adds the bars of a subtree. `place` is the left edge and the depth of the subtree's root.
    fn add(&self, node: &FlameNode, name: &str, place: (f64, usize), whole: f64, bars: &mut Vec<Bar>) {
        let (mut left, depth) = place;
        let width = (self.weight)(node) / whole;
        let (class, says) = ((self.class)(node), (self.says)(node));
        bars.push(Bar { left, width, depth, name: name.to_owned(), class, says });
        let is_wide = |child: &&FlameNode| (self.weight)(child) / whole >= SHARE_MIN;
        for child in node.children.iter().filter(is_wide) {
            self.add(child, &child.function, (left, depth + 1), whole, bars);
            left += (self.weight)(child) / whole;
        }
        let narrow = || node.children.iter().filter(|child| !is_wide(child) && (self.weight)(child) > 0.0);
        let width = narrow().map(self.weight).sum::<f64>() / whole;
        if width >= SHARE_MIN {
            let name = format!("{} narrow functions", narrow().count());
            let says = "each too narrow to be drawn".to_owned();
            bars.push(Bar { left, width, depth: depth + 1, name, class: "narrow".to_owned(), says });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(function: &str, weight: f64, children: Vec<FlameNode>) -> FlameNode {
        FlameNode { function: function.to_owned(), weight, base: 0.0, children }
    }

    fn draw(tree: &FlameNode) -> Option<Chart> {
        let graph = FlameGraph {
            title: "t".to_owned(),
            root: "all",
            weight: |node| node.weight,
            class: &|_| "frame".to_owned(),
            says: &|node| node.weight.to_string(),
        };
        graph.draw(tree)
    }

    #[test]
    fn bars_are_as_wide_as_their_weight_and_narrow_ones_are_one() {
        let narrow = (0..5).map(|at| node(&format!("n{at}"), 0.02, Vec::new()));
        let children = [node("read<x>", 2.5, Vec::new())].into_iter().chain(narrow).collect();
        let chart = draw(&node("", 10.0, vec![node("run", 10.0, children)])).unwrap();
        assert!((chart.height - 3.0 * ROW).abs() < 1e-9);
        let svg = chart.body.into_string();
        assert!(
            svg.contains("<title>all: 10</title><rect class=\"frame\" x=\"0\" y=\"34\" width=\"1200\""),
            "{svg}"
        );
        assert!(svg.contains(
            "<title>read&lt;x&gt;: 2.5</title><rect class=\"frame\" x=\"0\" y=\"0\" width=\"300\""
        ));
        assert!(
            svg.contains("5 narrow functions") && svg.contains("x=\"300\" y=\"0\" width=\"12\""),
            "{svg}"
        );
        assert!(!svg.contains("n3") && svg.matches("<rect").count() == 4);
    }

    #[test]
    fn a_tree_without_weight_is_not_drawn() {
        assert!(draw(&node("", 0.0, Vec::new())).is_none());
        assert!(draw(&node("", f64::NAN, Vec::new())).is_none());
    }
}
