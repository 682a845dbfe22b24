//! Computes findings from runs, as data: improvements and regressions, noise and steadiness of trials, scaling of
//! systems, changes in a history, verdicts on claims. `dyno-report` formats findings as text.
//!
//! # Why
//!
//! - One function gives all verdicts (`judge` in `comparison/build.rs`). `analyse` calls it for reports and for the
//!   end of an `until-decided` run, `compare` for `dyno compare`. They can therefore never disagree.
//! - A proof is replayed, not stored. A search is a pure function from the outcomes of probes to the next probe, and
//!   each probe is a run whose plan says what it compares. A second start finds these runs and replays the search, so
//!   ^C, a killed machine and a larger budget need no code of their own.

mod analysis;
mod anchor;
mod answer;
mod bisect;
mod capacity;
mod check;
mod claim;
mod comparison;
mod disturbance;
mod done;
mod drivers;
mod evidence;
mod explain;
mod forecast;
mod history;
mod history_gate;
mod hosts;
mod in_force;
mod joins;
mod ladder;
mod latency;
mod noise;
mod pair;
mod price;
mod prove;
mod quantity;
mod query_plans;
mod rule;
#[cfg(test)]
mod sample;
mod scaling;
mod sensitivity;
mod sessions;
mod stacks;
mod stall;
mod trials;
mod tune;

pub use analysis::{
    Analysis, Cell, CellWarning, CostFigure, CounterFigure, Replication, RoundValue, SteadyState, Test,
    analyse,
};
pub use anchor::SharedAnchor;
pub use answer::first_difference;
pub use bisect::{Bisection, BisectionStep, VersionVerdict};
pub use capacity::{Capacity, capacity};
pub use check::{Little, LittleVerdict, TrialCheck, TrialChecks, check_trial, throughput_series};
pub use claim::{Claim, ClaimError, ClaimResult, ClaimState, JudgedClaim, Problem, judge_claims};
pub use comparison::{
    ComparedSystem, Comparison, CostRatio, Difference, DisturbedTests, Finding, GateOutcome, GateVote,
    GroupMean, Judgement, RoundRatio, Side, TestComparison, TestWarning, Undecided, compare,
    compare_sessions,
};
pub use disturbance::{Disturbance, DisturbanceLimits, DisturbedRounds, disturbance};
pub use drivers::{Doubt, DriverDoubt, driver_doubts, too_late_seconds};
pub use dyno_settings::NotInForce;
pub use dyno_stats::Method;
pub use explain::{
    Access, AccessChange, AmountChange, Counters, Explanation, PlanChange, PlanEvidence, Plans, Question,
    RefusedPlan, SettingDifference, Suspect, TrialEvidence, explain,
};
pub use forecast::{
    ERROR_MAX, Forecast, Hardware, LeftOut, LeftOutTest, Predicted, Prediction, Resource, Unpredicted, Used,
    WantedHardware, forecasts,
};
pub use history::{Change, History, HistoryAnchor, HistoryPoint, HistoryRule, TestHistory, histories};
pub use history_gate::{HistoryGate, HistoryRegression};
pub use hosts::{Host, HostRatio, HostTest, Hosts, LostAttempt, host_differences};
pub use in_force::SystemNotInForce;
pub use joins::{JoinedSecond, JoinedSystem, JoinedTest, Stretch, StretchRatio, StretchRound};
pub use ladder::{Ladder, Rung, RungRatio, RungTest, SettingChange};
pub use latency::{Latencies, LatencyUs};
pub use price::{
    Answer, Basis, Candidate, CostAnswer, Frontier, LatencyFigure, Offer, PriceDifference, Priced, Standing,
    Target, cheapest, dollars_per_million,
};
pub use prove::{
    Cause, Probe, ProbeEffect, ProbeLength, ProbeOutcome, Proof, ProofEnding, ProofQuestion, ProofStep,
    Proving, Relation, rounds_again, rounds_for,
};
pub use quantity::{Quantity, throughput};
pub use query_plans::{QueryPlans, SharedPlan, query_plans};
pub use rule::Rule;
pub use scaling::{Scaling, ScalingPoint, scalings};
pub use sensitivity::{
    BestLevel, Effect, FactorSensitivity, Interaction, LevelSensitivity, Sensitivity, Turn,
};
pub use sessions::Replicates;
pub use stacks::{
    CONNECTION, FlameNode, FlameThreads, FunctionChange, FunctionShare, StackSummary, ThreadSummary, flame,
    flame_difference, function_changes, stack_summaries, stacks_of,
};
pub use stall::{Stall, stalled_at_end_seconds};
pub use tune::{
    MeasuredSet, TUNE_ALPHA, TuneEnding, TuneProbe, TuneReach, TuneSize, TuneStep, Tuned, Tuning, ValueSet,
    Worth, WorthVerdict, candidates,
};
