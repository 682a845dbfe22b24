//! Reads plans and runs them.
//!
//! A [`Plan`] is read from a TOML file. [`blocks`] and [`trials`] give the order of its trials. [`run`] runs it.

mod job;
mod plan;
mod records;
mod run;
mod schedule;

pub use plan::{
    Background, BetweenSteps, BuiltinPlan, Changes, Command, Data, Decision, Explained, Freeze,
    HardwareChoice, HardwareNeed, KeepCoresAwake, Mixture, PinThreads, Plan, PlanError, PriceList, Probed,
    Problem, Queries, Rounds, Scale, Slicing, Source, SourceLocation, StackSampling, Step, System,
    TooFewRounds, Version, builtin_plans,
};
pub use run::{
    DriverHosts, Event, Foreseen, Found, LatencyNow, NoDrivers, NotStarted, Observer, Outline, OutlineBlock,
    Pace, RunError, RunOptions, RunOutcome, ScriptMistake, Spread, SweepTooLarge, SystemError, Task,
    TrialLabel, audit_host, foresee, run, sqlite_variables,
};
pub use schedule::{Block, Trial, blocks, trials};
