//! Percentiles as text.

/// `95`, `99.9`: as a user would write it.
pub(super) fn number(percentile: f64) -> String {
    percentile.to_string()
}

/// `95%`, or `50%/99%`: the names of percentiles in a line of progress.
pub(super) fn names(percentiles: &[f64]) -> String {
    let names: Vec<String> = percentiles.iter().map(|&percentile| number(percentile) + "%").collect();
    if names.is_empty() { "0%".to_owned() } else { names.join("/") }
}
