//! Runs `dyno upgrade` on the files of a folder.

use std::path::Path;

use super::bed::{AFTER, DATA, TRAFFIC};
use super::planted::Upgrade;
use crate::support::program::Program;

/// The exit status of `dyno upgrade` if it ends with an error, without an answer.
const ERROR: i32 = 2;

/// The arguments of `dyno upgrade`.
pub(super) struct Upgrading<'a> {
    pub(super) from: &'a str,
    pub(super) to: String,
    is_reloaded: bool,
    /// Whether the new version executes statements that change its data (`--after`).
    is_changed: bool,
    pub(super) rounds: u32,
}

impl<'a> Upgrading<'a> {
    /// The upgrade with the planted regressions.
    pub(super) fn planted(upgrade: &'a Upgrade, rounds: u32) -> Self {
        let (from, to) = (upgrade.from.as_str(), upgrade.target());
        Self { from, to, is_reloaded: upgrade.reload, is_changed: true, rounds }
    }

    /// An upgrade of the old version to itself.
    pub(super) fn equal(upgrade: &'a Upgrade, rounds: u32) -> Self {
        let (from, to) = (upgrade.from.as_str(), upgrade.from.clone());
        Self { from, to, is_reloaded: false, is_changed: false, rounds }
    }

    /// Runs `dyno upgrade`. Its report goes to a file in the folder. Returns false if the user stopped it.
    pub(super) fn run(&self, folder: &Path, report: &str, program: &Program) -> anyhow::Result<bool> {
        let rounds = self.rounds.to_string();
        let mut arguments = vec!["upgrade", self.from, &self.to, "--traffic", TRAFFIC, "--data", DATA];
        if self.is_reloaded {
            arguments.push("--reload");
        }
        if self.is_changed {
            arguments.extend(["--after", AFTER]);
        }
        arguments.extend(["--rounds", &rounds, "--no-html", "--format", "json"]);
        let status = program.run(folder, &arguments, report)?;
        if program.is_stopped() {
            return Ok(false);
        }
        anyhow::ensure!(
            status.code().is_some_and(|code| code != ERROR),
            "dyno upgrade failed ({status}); see {}",
            folder.join("dyno.log").display()
        );
        Ok(true)
    }
}
