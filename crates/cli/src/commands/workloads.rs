//! `dyno workloads`: the workloads that are built in.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dyno_load::{builtin_workload, builtin_workloads};

use crate::output;

/// List the built-in workloads, or print one to start a workload of your own from
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno workloads
  dyno workloads oltp_point_select > mine.lua")]
pub(crate) struct Workloads {
    /// Workload to print
    workload: Option<String>,
}

impl Workloads {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = self.workload else {
            output::print(&list())?;
            return Ok(ExitCode::SUCCESS);
        };
        match builtin_workload(&name) {
            Some(source) => output::print(source)?,
            None => bail!("there is no built-in workload `{name}`; `dyno workloads` lists them"),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Each workload with its first sentence. Scripts without an event function are libraries of others.
fn list() -> String {
    let describe = |name: &str| {
        let source = builtin_workload(name).filter(|source| source.contains("function event("))?;
        let comment = source.lines().next()?.trim_start_matches("--").trim();
        let sentence = comment.split_inclusive(". ").next()?.trim();
        Some(format!("{name:24} {sentence}\n"))
    };
    builtin_workloads().into_iter().filter_map(describe).collect()
}
