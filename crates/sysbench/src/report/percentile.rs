//! Percentiles as text.

/// Formats a percentile as a user would write it: `95`, `99.9`.
pub(super) fn number(percentile: f64) -> String {
    percentile.to_string()
}

/// Names the percentiles in a line of progress: `95%`, or `50%/99%`.
pub(super) fn names(percentiles: &[f64]) -> String {
    let names: Vec<String> = percentiles.iter().map(|&percentile| number(percentile) + "%").collect();
    if names.is_empty() { "0%".to_owned() } else { names.join("/") }
}
