//! `dyno workloads`: lists the built-in workloads.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dyno_load::{builtin_workload, builtin_workloads};
use dyno_report::json_text;
use serde::Serialize;

use crate::options::TextOrJson;
use crate::output;

/// List the built-in workloads, or print one as a start for your own
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno workloads
  dyno workloads --format json
  dyno workloads oltp_point_select > mine.lua")]
pub(crate) struct Workloads {
    /// Workload to print
    workload: Option<String>,
    /// Output format of the list
    #[arg(long, value_enum, default_value_t = TextOrJson::Text, conflicts_with = "workload")]
    format: TextOrJson,
}

/// A workload in the list.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    /// The first sentence of the script's first comment.
    about: &'static str,
}

impl Workloads {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = self.workload else {
            output::print(&list(self.format))?;
            return Ok(ExitCode::SUCCESS);
        };
        match builtin_workload(&name) {
            Some(source) => output::print(source)?,
            None => bail!("there is no built-in workload `{name}`; `dyno workloads` lists them"),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(format: TextOrJson) -> String {
    let listed: Vec<Listed> = builtin_workloads().into_iter().filter_map(Listed::of).collect();
    match format {
        TextOrJson::Text => listed.iter().map(Listed::line).collect(),
        TextOrJson::Json => json_text(&listed),
    }
}

impl Listed {
    fn line(&self) -> String {
        format!("{:24} {}\n", self.name, self.about)
    }

    /// A built-in script as a workload. `None` if it has no event function, because it is a library for other
    /// scripts.
    fn of(name: &'static str) -> Option<Self> {
        let source = builtin_workload(name).filter(|source| source.contains("function event("))?;
        let comment = source.lines().next()?.trim_start_matches("--").trim();
        Some(Self { name, about: comment.split_inclusive(". ").next()?.trim() })
    }
}
