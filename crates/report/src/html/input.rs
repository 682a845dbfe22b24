//! What the page of a run is made from.

use dyno_judge::Analysis;
use dyno_store::Run;

use super::drill_down::details::Details;
use super::parts::scaling::ScalingCurve;
use crate::model::why::Reasons;

#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    pub run: &'a Run,
    /// The analysis of the run with the details' checks.
    pub analysis: &'a Analysis,
    /// Seconds and counters of its trials.
    pub details: &'a Details,
    /// Curves fitted to throughput against concurrency.
    pub curves: &'a [ScalingCurve],
    /// Why systems differ.
    pub reasons: &'a Reasons,
    /// Whether the page is served with live updates at `/events`.
    pub is_live: bool,
}
