//! Computes findings from runs, as data: improvements and regressions, noise and steadiness of trials, scaling of
//! systems, changes in a history, verdicts on claims. `dyno-report` formats findings as text.
//!
//! # Why
//!
//! - One function gives all verdicts on comparisons of systems (`judge` in `comparison/build.rs`). `analyse` calls
//!   it for reports and for the end of an `until-decided` run, and `compare` calls it for `dyno compare`. So their
//!   verdicts never disagree.
//! - The state of a search, such as a proof, is replayed and not stored. A search is a pure function from the
//!   outcomes of probes to the next probe. Each probe is a run, and the run's plan says what the probe compares.
//!   When a search starts again, it finds these runs and computes its state from their outcomes. So no extra code
//!   is needed to resume a search after ^C, after a crash of the machine, or with a larger budget.

mod analysis;
mod claim;
mod compare;
mod cost;
mod effects;
mod explain;
mod past;
#[cfg(test)]
mod sample;
mod search;
mod trial;

pub use analysis::{
    Analysis, Cell, CellWarning, CostFigure, CounterFigure, Replication, RoundValue, SteadyState, Test,
    analyse,
};
pub use claim::{Claim, ClaimError, ClaimResult, ClaimState, JudgedClaim, Problem, judge_claims};
pub use compare::anchor::SharedAnchor;
pub use compare::comparison::{
    Comparison, CostRatio, Difference, DisturbedTests, Finding, GateOutcome, GateVote, GroupMean, Judgement,
    RoundRatio, Side, TestComparison, TestWarning, Undecided, compare, compare_sessions,
};
pub use compare::rule::{Rule, rounds_for_family, tests_sharing};
pub use compare::sessions::Replicates;
pub use cost::forecast::{
    ERROR_MAX, Forecast, Hardware, LeftOut, Predicted, Prediction, Resource, Unpredicted, Used,
    WantedHardware, forecasts,
};
pub use cost::price::{
    Answer, Basis, Candidate, CostAnswer, Frontier, LatencyFigure, Offer, PriceDifference, Priced, Standing,
    Target, cheapest, dollars_per_million,
};
pub use dyno_settings::NotInForce;
pub use dyno_stats::Method;
pub use effects::events::{
    EventEffect, EventQuantity, EventSecond, EventfulSystem, EventfulTest, Outage, PlannedEvent,
    longest_outage,
};
pub use effects::family::{EffectFigure, EffectRatio};
pub use effects::hosts::{Host, HostRatio, HostTest, Hosts, LostAttempt, host_differences};
pub use effects::joins::{JoinedSecond, JoinedSystem, JoinedTest, Stretch, StretchRatio, StretchRound};
pub use effects::ladder::{Ladder, Rung, RungRatio, RungTest, SettingChange};
pub use effects::lags::{LagQuantity, LagTest, ReplicatedSystem};
pub use effects::replays::{Answers, DigestFigures, DigestRatio, DigestTest, ReplayedSystem, ReplayedTest};
pub use effects::scaling::{Scaling, ScalingPoint, scalings};
pub use effects::sensitivity::{
    BestLevel, Effect, FactorSensitivity, Interaction, LevelSensitivity, Sensitivity, Turn,
};
pub use effects::upgrade::{DigestSet, Safety, SessionLosses, UpgradeFound, upgrade_found};
pub use explain::answer::first_difference;
pub use explain::query_plans::{QueryPlans, SharedPlan, query_plans};
pub use explain::stacks::{
    CONNECTION, FlameNode, FlameThreads, FunctionChange, FunctionShare, StackSummary, ThreadSummary, flame,
    flame_difference, function_changes, stack_summaries, stacks_of,
};
pub use explain::{
    Access, AccessChange, AmountChange, Counters, Explanation, PlanChange, PlanEvidence, Plans, Question,
    RefusedPlan, SettingDifference, Suspect, TrialEvidence, explain,
};
pub use past::gate::{HistoryGate, HistoryRegression};
pub use past::history::{
    History, HistoryAnchor, HistoryPoint, HistoryRule, LevelChange, TestHistory, histories,
};
pub use search::bisect::{Bisection, BisectionStep, VersionVerdict};
pub use search::capacity::{Capacity, capacity};
pub use search::prove::{
    Cause, Probe, ProbeEffect, ProbeLength, ProbeOutcome, Proof, ProofEnding, ProofQuestion, ProofStep,
    Proving, Relation, rounds_again, rounds_for,
};
pub use search::tune::{
    MeasuredSet, TUNE_ALPHA, TuneEnding, TuneProbe, TuneReach, TuneSize, TuneStep, Tuned, Tuning, ValueSet,
    Worth, WorthVerdict, candidates,
};
pub use trial::check::{
    Little, LittleVerdict, TrialCheck, TrialChecks, check_trial, check_trials, throughput_series,
};
pub use trial::disturbance::{Disturbance, DisturbanceLimits, DisturbedRounds, disturbance};
pub use trial::drivers::{Doubt, DriverDoubt, driver_doubts, too_late_seconds};
pub use trial::in_force::SystemNotInForce;
pub use trial::latency::{Latencies, LatencyUs};
pub use trial::member::ComparedSystem;
pub use trial::own_steal::OwnSteal;
pub use trial::quantity::{Quantity, throughput};
pub use trial::stall::{Stall, stalled_at_end_seconds};
