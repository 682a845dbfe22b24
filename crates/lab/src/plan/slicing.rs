//! The plan key `slice_seconds`.

use super::error::Problem;
use super::table::{Mistake, Value};

/// Shorter slices are mostly edges of events; with longer ones systems hardly take turns.
const SECONDS_MIN: f64 = 0.02;
const SECONDS_MAX: f64 = 60.0;
const WANTED: &str = "\"auto\", \"whole\", or a number of seconds from 0.02 to 60";

/// How a trial is cut into slices. During a slice one system is loaded while the others rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Slicing {
    /// As short as the workload allows, from 0.02 s.
    #[default]
    Auto,
    /// Not cut: the systems' trials follow each other.
    Whole,
    /// So many seconds each.
    Seconds(f64),
}

/// `"auto"`, `"whole"`, or a number of seconds.
pub(super) fn slicing(value: Value<'_>) -> Result<Slicing, Mistake> {
    match value.finite() {
        _ if value.is_word("auto") => Ok(Slicing::Auto),
        _ if value.is_word("whole") => Ok(Slicing::Whole),
        Some(seconds) if (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) => Ok(Slicing::Seconds(seconds)),
        _ => Err(value.out_of_range(WANTED)),
    }
}

/// The reason why a step's trials cannot be cut into slices, if any.
pub(super) fn why_whole(is_prepare: bool, has_rate: bool, has_background: bool) -> Option<&'static str> {
    match () {
        () if is_prepare => Some("a load ends by itself"),
        () if has_rate => Some("events of an open loop are due all the time"),
        () if has_background => Some("its background loads run all the time"),
        () => None,
    }
}

/// A step's slicing: its own, otherwise the plan's; whole if it cannot be cut.
pub(super) fn of_step(
    own: Option<Value<'_>>,
    plan: Slicing,
    whole: Option<&'static str>,
) -> Result<Slicing, Mistake> {
    match (own, whole) {
        (None, None) => Ok(plan),
        (None, Some(_)) => Ok(Slicing::Whole),
        (Some(value), None) => slicing(value),
        (Some(value), Some(why)) => Err((
            value.span,
            Problem::Other(format!("this step cannot be cut into slices: {why}; leave `slice_seconds` out")),
        )),
    }
}
