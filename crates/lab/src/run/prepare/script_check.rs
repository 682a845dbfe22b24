//! Checks a plan's scripts before the plan runs: whether they compile, and whether they have the options and
//! commands that the plan uses.

use std::path::Path;
use std::time::Duration;

use dyno_engine::Family;
use dyno_load::{Frame, FrameSource as _, Job, Protocol, Target, check_syntax};

use crate::job::{background, job};
use crate::plan::{Plan, System};
use crate::run::trial::{TrialAbort, start_load};
use crate::schedule::{Block, trials};

/// The longest time for which a script's top level may run.
const PATIENCE: Duration = Duration::from_secs(30);

/// A step's script does not compile, or lacks something that the plan uses.
#[derive(Debug, thiserror::Error)]
#[error("step `{step}`: {reason}")]
pub struct ScriptMistake {
    /// The id of the step, or of its background load.
    pub step: String,
    /// What is wrong, in one line.
    pub reason: String,
}

impl Plan {
    /// Checks the scripts of all steps. For a built-in workload, runs the script's top level in a load process
    /// (`program drive`) without a database, and compares the options and commands that the script declares with
    /// those that the step uses. The plan's own scripts are only compiled.
    ///
    /// # Errors
    /// Describes the first step whose script does not compile, or whose workload lacks an option or a command of
    /// the step.
    pub fn check_scripts(&self, program: &Path) -> Result<(), ScriptMistake> {
        for (number, step) in self.steps.iter().enumerate() {
            let Some(&clients) = step.clients.first() else { continue };
            let mut checked: Vec<(Protocol, Option<&str>)> = Vec::new();
            for trial in trials(self, 0, Block { number: 0, step: number, clients }, 0) {
                let system = &self.systems[trial.system];
                let kind = (protocol(system), system.source.storage_engine());
                if checked.contains(&kind) {
                    continue;
                }
                checked.push(kind);
                let target = || Target { dry_run: true, ..Target::new(kind.0, Vec::new()) };
                check(program, &step.id, job(self, &trial, step.seconds, target()))?;
                for load in &step.background {
                    check(program, &step.background_id(load), background(self, &trial, load, target()))?;
                }
            }
        }
        Ok(())
    }
}

fn check(program: &Path, step: &str, job: Job) -> Result<(), ScriptMistake> {
    let mistake = |reason: String| ScriptMistake { step: step.to_owned(), reason };
    if !job.script.search_path.is_empty() {
        return check_syntax(&job.script).map_err(mistake);
    }
    let job = Job { checks_only: true, ..job };
    let mut load = start_load(program, &job, None).map_err(|abort| mistake(reason(abort)))?;
    loop {
        match load.next_frame(PATIENCE).map_err(|error| mistake(error.to_string()))? {
            Some((_, Frame::Finished(_))) => return Ok(()),
            Some((_, Frame::Failed { message, .. })) => return Err(mistake(message)),
            Some(_) => {}
            None => return Err(mistake("the top level of its script does not end".to_owned())),
        }
    }
}

fn reason(abort: TrialAbort) -> String {
    match abort {
        TrialAbort::Failed { message, .. } => message,
        TrialAbort::Stopped | TrialAbort::Hung(_) => "its load process has ended".to_owned(),
    }
}

/// The protocol that a system speaks. The system does not have to run.
fn protocol(system: &System) -> Protocol {
    match system.source.family() {
        Family::Postgres => Protocol::Pgsql,
        Family::Sqlite => Protocol::Sqlite,
        Family::Mysql | Family::Mariadb => Protocol::Mysql,
    }
}
