//! Runs plans: which trials, in what order, on which systems, into the results file.
//!
//! A [`Plan`] is read from a TOML file; [`schedule`] says in which order its trials go; [`run`] carries them out.

mod plan;
mod random;
mod run;
mod schedule;

pub use plan::{BuiltinPlan, Command, Data, Place, Plan, PlanError, Problem, Step, System, builtin_plans};
pub use run::{Ended, Event, Observer, RunError, RunOptions, SubjectError, TrialLabel, run};
pub use schedule::{Trial, schedule};
