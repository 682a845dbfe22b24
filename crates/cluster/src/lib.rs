//! Runs the rounds of a plan on several hosts.
//!
//! A round is a task: `dyno run PLAN --round N`, with all systems on one host. [`conduct`] has a [`Site`] run the tasks,
//! and joins the file of each with the results. Sites are [`Slurm`] and [`Ssh`]. [`SshDrivers`] are hosts from which the
//! load of a run on this host comes.

mod conduct;
mod error;
mod folder;
mod kubernetes;
mod notice;
mod quote;
mod site;
mod slurm;
mod ssh;
mod task;
mod tool;

pub use conduct::{ATTEMPTS_MAX, conduct};
pub use error::ClusterError;
pub use folder::Folder;
pub use kubernetes::{Kubernetes, manifest};
pub use notice::Notice;
pub use site::{Site, TaskEvent};
pub use slurm::{Slurm, SlurmOptions};
pub use ssh::{RemoteDyno, Ssh, SshDrivers};
pub use task::TaskCommand;
