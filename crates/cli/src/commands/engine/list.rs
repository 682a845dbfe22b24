//! `dyno engine list`: what is in the catalogue, what is here, what runs.

use std::fmt::Write as _;

use clap::Args;
use dyno_engine::{Cache, Catalogue, Entry, Installation, Running};
use indicatif::HumanBytes;

use crate::output;

/// List the engines that Dyno can run, and those that run now
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno engine list")]
pub(super) struct List {}

impl List {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let Self {} = self;
        let cache = Cache::default_location();
        let mut text = String::new();
        for entry in Catalogue::builtin().entries() {
            let name = entry.to_string();
            let storage_engines = entry.storage_engines.join(", ");
            let _ = writeln!(text, "{name:20} {:24} {storage_engines}", place(entry, &cache));
        }
        let running = Running::new(&cache).list()?;
        if !running.is_empty() {
            text.push_str("\nrunning:\n");
        }
        for server in running {
            let _ = writeln!(text, "{:20} process {}", server.name.to_string(), server.access.pid);
        }
        output::print(&text)
    }
}

/// Where an engine is, or what it takes to have it here.
fn place(entry: &Entry, cache: &Cache) -> String {
    if !entry.family.has_server() {
        return "built in".to_owned();
    }
    match Installation::find(entry, cache) {
        Some(installation) => format!("fetched ({})", installation.exact_version),
        None => format!("{} to fetch", HumanBytes(entry.download_bytes)),
    }
}
