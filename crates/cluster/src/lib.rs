//! Runs the rounds of a plan on several hosts.
//!
//! A round is a task: `dyno task PLAN --round N`, with all systems on one host. [`conduct`] has a [`Site`] run the tasks,
//! and joins the file of each with the results. Sites are [`Slurm`] and [`Ssh`]. [`SshDrivers`] are hosts from which the
//! load of a run on this host comes.
//!
//! # Why
//!
//! A round is what is spread. A host runs all systems of a round, so its speed drops out of ratios. A task is the
//! same program with the same plan and seed, which runs one round and delivers its own results file. There is no
//! protocol between hosts except that file. The scheduler's and the user's own commands (`sbatch`, `ssh`) are
//! started; no library speaks for them. Each start of a task leaves a file, so an attempt that a scheduler repeats by
//! itself is seen.

mod conduct;
mod error;
mod folder;
mod notice;
mod site;
mod slurm;
mod ssh;
mod task;
mod tool;

pub use conduct::{ATTEMPTS_MAX, conduct};
pub use error::ClusterError;
pub use folder::Folder;
pub use notice::Notice;
pub use site::{Site, TaskEvent};
pub use slurm::{Slurm, SlurmOptions};
pub use ssh::{RemoteDyno, Ssh, SshDrivers};
pub use task::TaskCommand;
