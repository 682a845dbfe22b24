//! The text format of metrics.
//!
//! The output is valid in two formats, because it has only gauges and ends with a comment: OpenMetrics 1.0
//! (<https://prometheus.io/docs/specs/om/open_metrics_spec/>) and the older text format of Prometheus
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
//!
//! The crate `prometheus-client` is not used. It does not escape labels (as of version 0.25), and its registry is for
//! values that a program counts itself. This server reads the values from a file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dyno_printable::printable;

/// Longest value of a label, in characters. Longer values are cut.
const LETTERS_MAX: usize = 120;

/// Names and values of a sample's labels, in order.
pub(super) type Labels = Vec<(&'static str, String)>;

/// Families of metrics as text. A family is a metric with all its samples.
#[derive(Default)]
pub(super) struct Exposition {
    text: String,
}

impl Exposition {
    /// Writes a family, unless it has no samples. If several samples have the same labels, only the first is
    /// written, because readers refuse a scrape with duplicates.
    pub(super) fn gauge(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Labels, f64)>) {
        let mut seen = BTreeSet::new();
        for (labels, value) in samples {
            let labels: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            if seen.is_empty() {
                let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} gauge");
            }
            let series = format!("{name}{labels}");
            if !seen.contains(&series) {
                let _ = writeln!(self.text, "{series} {}", number(value));
                seen.insert(series);
            }
        }
    }

    /// Returns the whole text.
    pub(super) fn end(self) -> String {
        self.text + "# EOF\n"
    }
}

/// Returns a label's value, shortened and escaped. Control characters are shown as escapes.
fn escaped(text: &str) -> String {
    let text = printable(text);
    let mut escaped = String::new();
    for (at, letter) in text.chars().enumerate() {
        match letter {
            _ if at == LETTERS_MAX => {
                escaped.push('…');
                break;
            }
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            other => escaped.push(other),
        }
    }
    escaped
}

fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_samples_once_with_labels_escaped() {
        let mut exposition = Exposition::default();
        exposition.gauge("none", "Nothing.", []);
        let labels = || vec![("plan", "a\"b\\c\nd\u{1b}".to_owned()), ("step", "x".to_owned())];
        exposition.gauge("rate", "A rate.", [(labels(), 0.1), (labels(), 0.2)]);
        exposition.gauge("up", "Whether it is up.", [(Vec::new(), f64::INFINITY)]);
        let expected = r#"# HELP rate A rate.
# TYPE rate gauge
rate{plan="a\"b\\c\\nd\\u{1b}",step="x"} 0.1
# HELP up Whether it is up.
# TYPE up gauge
up +Inf
# EOF
"#;
        assert_eq!(exposition.end(), expected);
    }

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(escaped(&"ä".repeat(500)).chars().count(), LETTERS_MAX + 1);
    }
}
