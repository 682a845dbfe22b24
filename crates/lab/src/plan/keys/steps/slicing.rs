//! The plan keys `slice_seconds` and `freeze`.

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

use crate::plan::keys::steps::command::Command;
use crate::plan::keys::steps::find::Beside;
use crate::plan::keys::steps::measure::{Measure, SliceSeconds};
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::At;

/// Range of the length of slices, in seconds. In shorter slices, most events would cross an edge of a slice. With
/// longer slices, systems would hardly take turns.
const SECONDS_MIN: f64 = 0.02;
const SECONDS_MAX: f64 = 60.0;

/// How trials are cut into slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "lowercase")]
pub(in crate::plan) enum Slicing {
    /// As short as the workload allows, from 0.02 s.
    #[default]
    Auto,
    /// No slices: the systems' trials run one after the other.
    Whole,
    /// Slices of this many seconds.
    #[serde(rename = "a number", deserialize_with = "seconds")]
    #[cfg_attr(test, schemars(untagged))]
    Seconds(#[cfg_attr(test, schemars(range(min = SECONDS_MIN, max = SECONDS_MAX)))] f64),
}

impl From<Slicing> for Measure {
    fn from(slicing: Slicing) -> Self {
        match slicing {
            Slicing::Auto => Self::Sliced(SliceSeconds::Auto),
            Slicing::Whole => Self::Whole,
            Slicing::Seconds(seconds) => Self::Sliced(SliceSeconds::Fixed(seconds)),
        }
    }
}

/// Whether the processes of a server are frozen while another system has its slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(transparent)]
pub struct Freeze(pub bool);

impl Default for Freeze {
    fn default() -> Self {
        Self(true)
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    if (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) {
        return Ok(seconds);
    }
    let wanted = format!("from {SECONDS_MIN} to {SECONDS_MAX}");
    Err(D::Error::invalid_value(Unexpected::Float(seconds), &wanted.as_str()))
}

const ONE_AT_A_TIME: &str = "with `one_at_a_time` no other system runs at the same time";

/// Reads the plan's `slice_seconds`.
pub(in crate::plan) fn of_plan(own: Option<At<Slicing>>, one_at_a_time: bool) -> Result<Slicing, Mistake> {
    match own {
        None if one_at_a_time => Ok(Slicing::Whole),
        None => Ok(Slicing::default()),
        Some(own) if one_at_a_time && *own != Slicing::Whole => Err(own
            .wrong(format!("trials cannot be cut into slices: {ONE_AT_A_TIME}; leave `slice_seconds` out"))),
        Some(own) => Ok(*own),
    }
}

/// Facts about a step that may rule out slices. [`Beside`] has further such facts.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) struct Rest {
    /// Whether the step searches for a rate.
    pub(in crate::plan) has_find: bool,
    /// Whether the step's load comes from other hosts.
    pub(in crate::plan) has_drivers: bool,
    /// Whether a trial ends after a number of events.
    pub(in crate::plan) is_counted: bool,
    /// Whether the step has events that are done to the system at certain times.
    pub(in crate::plan) has_step_events: bool,
    /// Whether a system has replicas.
    pub(in crate::plan) has_replicas: bool,
}

/// Returns why a step's trials cannot be cut into slices, or `None` if they can.
pub(in crate::plan) fn why_whole(step: &Beside, rest: Rest, one_at_a_time: bool) -> Option<&'static str> {
    match () {
        () if step.command == Command::Prepare => Some("a load ends by itself"),
        () if step.has_rate => Some("events of an open loop are due all the time"),
        () if rest.has_find => Some("a search has probes of its own"),
        () if step.has_background => Some("its background loads run all the time"),
        () if rest.has_drivers => Some("its drivers run all the time"),
        () if rest.has_step_events => Some("its load continues through events"),
        () if rest.has_replicas => Some("replicas follow all the time"),
        () if rest.is_counted => Some("it ends after its events"),
        () if one_at_a_time => Some(ONE_AT_A_TIME),
        () => None,
    }
}

/// Returns a step's slicing: its own, or else that of the plan. It is [`Slicing::Whole`] if the step cannot be cut.
pub(in crate::plan) fn of_step(
    own: Option<&At<Slicing>>,
    plan: Slicing,
    whole: Option<&'static str>,
) -> Result<Slicing, Mistake> {
    match (own, whole) {
        (None, None) => Ok(plan),
        (None, Some(_)) => Ok(Slicing::Whole),
        (Some(own), None) => Ok(**own),
        (Some(own), Some(why)) => Err(own.wrong(Problem::Other(format!(
            "this step cannot be cut into slices: {why}; leave `slice_seconds` out"
        )))),
    }
}
