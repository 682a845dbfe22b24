//! Reads plans and runs them.
//!
//! A [`Plan`] is read from a TOML file. [`blocks`] and [`trials`] give the order of its trials. [`run`] runs it.
//!
//! # Why
//!
//! - Rounds are the replicates. By chance, the speed of a server differs from start to start, and stays the same until
//!   it stops. If two servers are started once and measured often, their difference may only be that of two starts. So
//!   each round starts fresh instances of all systems. A start takes a second or two, so a run has many short rounds.
//! - Loads are measured in the first round and restored from snapshots in the others, because loading takes
//!   longest. With `load = "every-round"` loads get verdicts too.
//! - A round begins at rest (`run/system/settle.rs`), and systems start together, their processes in random order.
//!   Random order alone would turn the bias of young servers into noise.
//! - Systems take turns in slices, because a virtual machine drifts within seconds. Cycles come in pairs of opposite
//!   order, so that a steady drift drops out of the ratio. The length of slices and leads is found in the first round,
//!   then kept for all systems. The order follows from the seed, the block, the round and the cycle alone, so a resumed
//!   run keeps it. All servers of a round are up at once, because a start costs more than an idle server disturbs.
//! - The lab freezes and thaws resting servers, because it orders the slices and learns when they end. A load process
//!   may have given up the rights to do so.
//! - `--resume` replaces incomplete rounds. It does not complete the last one, because the missing trial would run on
//!   another instance. Failed trials stay in the results file, and for each round with a failed trial one more round is
//!   run.
//! - Idle cores are kept awake if that is allowed. With few clients, waking a halted core takes most of the time of a
//!   short query and causes most of its noise. A history does not compare runs that differ in this.
//! - A claim is an expression on one line rather than a TOML table, because it can then be read as a sentence.

mod job;
mod plan;
mod records;
mod run;
mod schedule;

pub use plan::{
    Background, BetweenSteps, BuiltinPlan, Changes, Contender, Data, DataOrigin, Decision, Endpoint,
    EventAction, Explained, Freeze, HardwareChoice, HardwareNeed, KeepCoresAwake, LeaveDecided, Measure,
    Mixture, PinThreads, Plan, PlanError, PriceList, Probed, Problem, Queries, Rounds, Scale, Script,
    SliceSeconds, Source, SourceLocation, StackSampling, Step, StepEvent, System, SystemData, SystemPooler,
    TooFewRounds, Traffic, Upgrade, Versus, builtin_plans,
};
pub use run::{
    DataError, DriverHosts, Event, Foreseen, Found, LatencyNow, NoDrivers, NotStarted, Observer, Outline,
    OutlineBlock, Pace, ReplicaLag, RunError, RunOptions, RunOutcome, ScriptMistake, Spread, SweepTooLarge,
    SystemError, Task, TokenLag, TrialLabel, audit_host, foresee, measure_lag, run, sqlite_variables,
};
pub use schedule::{Block, Trial, blocks, trials};
