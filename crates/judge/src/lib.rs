//! From runs to findings, as data: what got better or worse, how noisy and how steady the trials were, how a system
//! scales, when a history changed, which claims hold. `dyno-report` turns findings into text.

mod check;
mod comparison;
mod disturbance;
mod evidence;
mod latency;
mod noise;
mod quantity;
mod rule;
#[cfg(test)]
mod sample;
mod trials;

pub use check::{Little, LittleVerdict, TrialCheck, check_trial, throughput_series};
pub use comparison::{
    Comparison, Difference, Finding, GateOutcome, GroupMean, Judgement, Side, Subject, TestComparison,
    compare,
};
pub use disturbance::{Disturbance, Limits, disturbance};
pub use quantity::{Quantity, throughput};
pub use rule::{Correction, Rule};
