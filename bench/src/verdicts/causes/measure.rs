//! Measures a planted cause: makes a run, its explanation and its proof.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::cause::{Cause, scripts};
use super::judged::{place, verdict};
use super::outcome::Outcome;
use super::plan::{self, BUILD, TEST};
use super::slow_build;
use crate::support::program::Program;

const PLAN: &str = "plan.toml";
/// A file with this name exists once the run is complete.
const HAS_RUN: &str = "has-run";
const EXPLAINED: &str = "explained.json";
const PROVEN: &str = "proven.json";

/// Limits on the length of a run and of a proof.
pub(super) struct Effort<'a> {
    pub(super) rounds: Option<u32>,
    /// Longest time of a proof, in the syntax of `dyno explain --budget`.
    pub(super) budget: &'a str,
}

/// Measures a cause in a folder, and continues an interrupted measurement. Returns `None` if the user stopped the
/// benchmark.
pub(super) fn measure(
    cause: &Cause,
    folder: &Path,
    effort: &Effort<'_>,
    program: &Program,
) -> anyhow::Result<Option<Outcome>> {
    let text = plan::text(cause, effort.rounds);
    let is_there = fs::read_to_string(folder.join(PLAN)).is_ok_and(|there| there == text);
    if is_there && let Some(outcome) = Outcome::read(folder)? {
        return Ok(Some(outcome));
    }
    if !is_there && folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let outcome = match explained(cause, folder, effort, program) {
        _ if program.is_stopped() => return Ok(None),
        Ok(outcome) => outcome,
        Err(error) => Outcome { failure: Some(format!("{error:#}")), ..Outcome::default() },
    };
    outcome.write(folder)?;
    Ok(Some(outcome))
}

fn explained(
    cause: &Cause,
    folder: &Path,
    effort: &Effort<'_>,
    program: &Program,
) -> anyhow::Result<Outcome> {
    let log = || format!("see {}", folder.join("dyno.log").display());
    prepare(cause, folder, &plan::text(cause, effort.rounds))?;
    if !folder.join(HAS_RUN).exists() {
        // An earlier run was interrupted. A new run is quicker than finding out what the earlier one lacks.
        remove(&["results.db", "results.db-wal", "results.db-shm"].map(|name| folder.join(name)))?;
        let status = program.run(folder, &["run", PLAN, "--no-html"], "run.txt")?;
        anyhow::ensure!(status.success(), "dyno run failed ({status}); {}", log());
        fs::write(folder.join(HAS_RUN), "")?;
    }
    let question = ["explain", "1", "new", "--test", TEST, "--format", "json"];
    let status = program.run(folder, &question, EXPLAINED)?;
    anyhow::ensure!(status.success(), "dyno explain failed ({status}); {}", log());
    let found = json(&folder.join(EXPLAINED))?;
    let mut outcome =
        Outcome { ratio: found[0]["ratio"].as_f64(), place: place(&found, cause), ..Outcome::default() };
    if !["improved", "regressed"].contains(&found[0]["finding"].as_str().unwrap_or_default()) {
        return Ok(outcome);
    }
    let rounds = effort.rounds.map(|rounds| rounds.to_string());
    let rounds = rounds.as_ref().map(|rounds| vec!["--rounds", rounds.as_str()]).unwrap_or_default();
    let mut proving = question.to_vec();
    proving.extend(["--prove", "--budget", effort.budget]);
    proving.extend(rounds);
    let status = program.run(folder, &proving, PROVEN)?;
    anyhow::ensure!(status.success(), "dyno explain --prove failed ({status}); {}", log());
    judge(cause, &json(&folder.join(PROVEN))?, &mut outcome);
    Ok(outcome)
}

fn judge(cause: &Cause, proof: &Value, outcome: &mut Outcome) {
    let verdict = verdict(proof, cause);
    let probes: Vec<&Value> = proof["probes"].as_array().into_iter().flatten().collect();
    outcome.ending = proof["proof"]["ending"].as_str().map(str::to_owned);
    outcome.is_proven = verdict.is_proven;
    outcome.wrong = verdict.wrong;
    outcome.probes = probes.len();
    outcome.seconds = probes.iter().filter_map(|probe| probe["seconds"].as_f64()).sum();
}

/// Writes the plan and the files that the plan names, unless the plan exists.
fn prepare(cause: &Cause, folder: &Path, text: &str) -> anyhow::Result<()> {
    let plan = folder.join(PLAN);
    if plan.exists() {
        return Ok(());
    }
    for (name, script) in scripts().filter(|(name, _)| text.contains(name)) {
        fs::write(folder.join(name), script)?;
    }
    if let Some(server) = &cause.slow_build {
        slow_build::make(&cause.engine, server, &folder.join(BUILD))
            .context("cannot make the slower build")?;
    }
    // The plan is written last. Therefore all other files exist if the plan exists.
    Ok(fs::write(&plan, text)?)
}

fn remove(files: &[std::path::PathBuf]) -> anyhow::Result<()> {
    for file in files.iter().filter(|file| file.exists()) {
        fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    Ok(())
}

fn json(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}: no JSON", path.display()))
}
