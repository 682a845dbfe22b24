//! Reads plans and runs them.
//!
//! A [`Plan`] is read from a TOML file. [`blocks`] and [`trials`] return the order of its trials. [`run`] runs the
//! plan.
//!
//! # Why
//!
//! - Rounds are the replicates. The speed of a server differs by chance from start to start, and stays the same until
//!   the server stops. If two servers are started once and measured often, their difference may only be a chance
//!   difference between two starts. So each round starts fresh instances of all systems. A start takes a second or two,
//!   so a run has many short rounds.
//! - Loads are measured in the first round. The other rounds restore the loaded data from snapshots, because loading
//!   takes longest. With `load = "every-round"`, every round measures the loads, so that loads get verdicts too.
//! - A round begins to measure when its servers are at rest (`run/system/settle.rs`). All systems are started together,
//!   their processes in random order. A random order alone would not be enough: servers that have just started are
//!   slower, and with a random order this bias would become noise.
//! - Systems take turns in slices, because the speed of a virtual machine drifts within seconds. Cycles come in pairs
//!   of opposite order, so that a steady drift cancels out of the ratio. The first round finds the length of slices and
//!   of their leads (the unmeasured beginnings of slices), which then stay the same for all systems. The order depends
//!   only on the seed, the block, the round and the cycle, so a resumed run has the same order. All servers of a round
//!   run at the same time. If servers were started for each trial, the starts would take much time, while an idle
//!   server disturbs the others only a little.
//! - The lab, not the load process, freezes and thaws servers that rest, because the lab orders the slices and learns
//!   when they end. Moreover, a load process may have given up the rights to freeze and thaw servers.
//! - `--resume` replaces incomplete rounds. It does not complete the last round, because the missing trials would run
//!   on other instances. Failed trials stay in the results file. For each round with a failed trial, one more round is
//!   run.
//! - Idle cores are kept awake if that is allowed. With few clients, waking a halted core takes most of the time of a
//!   short query and causes most of its noise. `dyno history` does not compare runs in which cores were kept awake to
//!   runs in which they were not.
//! - A claim is an expression on one line and not a TOML table, so that it reads like a sentence.

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
