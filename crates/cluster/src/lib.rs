//! Runs the rounds of a plan on several hosts.
//!
//! A round is a task: `dyno task PLAN --round N`, with all systems on one host. [`conduct`] lets a [`Site`] run the
//! tasks, and joins the results file of each task. Sites are [`Slurm`] and [`Ssh`]. [`SshDrivers`] are hosts that
//! only generate load, for a run whose rounds are on this host.
//!
//! # Why
//!
//! Rounds are the unit of distribution. A host runs all systems of a round, so the host's speed cancels out in the
//! ratios between systems. A task is the same program with the same plan and seed, which runs one round and
//! delivers a results file of its own. There is no protocol between hosts besides that file. The commands of the
//! scheduler and the user (`sbatch`, `ssh`) are started as programs, not through a library. Each start of a task
//! leaves a file, so repetitions that the scheduler starts by itself are detected.

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
