//! Bars in groups: one group for each test, with a bar for each series. Each test has its own scale.

use maud::{Markup, html};

use super::heat::cut;
use super::{Chart, colour, px};

const LABEL: f64 = 190.0;
const WIDTH: f64 = 760.0;
const VALUE: f64 = 70.0;
const BAR: f64 = 14.0;
const GAP: f64 = 10.0;

/// Values of a test by series; `None` for a missing value.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
}

/// Draws the bars. `write` formats the values beside the bars. `None` if there is no value.
///
/// The longest bar of each test has the same length, because values of different tests differ too much for one
/// scale.
pub(crate) fn bars(title: String, groups: &[Group], write: impl Fn(f64) -> String) -> Option<Chart> {
    let mut height = 0.0;
    let mut drawn: Vec<Markup> = Vec::new();
    for group in groups {
        let values: Vec<(usize, f64)> =
            group.values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
        let greatest = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        if greatest > 0.0 {
            drawn.push(html! {
                text.name x="0" y=(px(height + 11.0)) { (cut(&group.name, 30)) }
                @for (place, (series, value)) in values.iter().enumerate() {
                    @let top = height + place as f64 * BAR;
                    @let length = value / greatest * (WIDTH - LABEL - VALUE);
                    rect class={ "bar " (colour(*series)) } x=(LABEL) y=(px(top + 1.0)) width=(px(length)) height=(px(BAR - 2.0)) {}
                    text.name x=(px(LABEL + length + 6.0)) y=(px(top + 11.0)) { (write(*value)) }
                }
            });
            height += values.len() as f64 * BAR + GAP;
        }
    }
    let body = html! { @for group in &drawn { (group) } };
    (height > 0.0).then_some(Chart { title, width: WIDTH, height: height - GAP, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_each_test_is_as_long_and_what_is_unknown_has_no_bar() {
        let group = |values: &[Option<f64>]| Group { name: "t".to_owned(), values: values.to_vec() };
        let groups = [group(&[Some(2.0), None, Some(1.0)]), group(&[None; 3]), group(&[Some(500.0)])];
        let svg = bars(String::new(), &groups, |value| format!("${value}")).unwrap().body.into_string();
        assert_eq!(svg.matches("<rect").count(), 3);
        assert_eq!(svg.matches("width=\"500\"").count(), 2, "{svg}");
        assert!(svg.contains("width=\"250\"") && svg.contains("class=\"bar s2\"") && svg.contains("$500"));
        assert!(bars(String::new(), &groups[1..2], |value| value.to_string()).is_none());
    }
}
