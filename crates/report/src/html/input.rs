//! The data from which the page of a run is made.

use dyno_judge::Analysis;
use dyno_store::Run;

use super::drill_down::details::Details;
use super::parts::scaling::ScalingCurve;
use crate::model::why::Reasons;

#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    pub run: &'a Run,
    /// The run's analysis. It used the checks in `details`.
    pub analysis: &'a Analysis,
    /// Seconds and counters of the run's trials, and the checks of trials.
    pub details: &'a Details,
    /// Curves fitted to throughput against concurrency.
    pub curves: &'a [ScalingCurve],
    pub reasons: &'a Reasons,
    /// Whether the page is served with live updates at `/events`.
    pub is_live: bool,
}
