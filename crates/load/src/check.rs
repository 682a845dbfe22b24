//! Checks a job against its script's declarations, before connecting.

use dyno_script::ScriptInfo;

use crate::job::Job;

/// Most edits of a near miss.
const NEAR: usize = 3;

/// Why a job does not fit its script.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum JobError {
    #[error("{script} has no option '{option}'{hint}; it has {known}")]
    UnknownOption { script: String, option: String, hint: String, known: String },
    #[error("{script} has no command '{command}'{hint}; it has {known}")]
    UnknownCommand { script: String, command: String, hint: String, known: String },
    #[error("{script} cannot be run: it defines no function 'event'")]
    NotRunnable { script: String },
    #[error("a job needs at least one connection")]
    NoConnections,
    #[error(
        "a job in slices runs events, as fast as they come: leave out its rate, warm-up, seconds and command"
    )]
    NotSliceable,
}

/// Refuses unknown options and commands.
pub(crate) fn job(job: &Job, info: &ScriptInfo) -> Result<(), JobError> {
    let script = job.script.name.clone();
    if job.connections == 0 {
        return Err(JobError::NoConnections);
    }
    let is_timed = job.rate.is_some() || job.warmup_seconds > 0.0 || job.seconds.is_some();
    if job.sliced && (is_timed || job.command != "run") {
        return Err(JobError::NotSliceable);
    }
    let options: Vec<&str> = info.options.iter().map(|option| option.name.as_str()).collect();
    for option in job.options.keys().filter(|_| !info.any_options) {
        let name = option.replace('-', "_");
        if !options.contains(&name.as_str()) {
            let (hint, known) = (near_miss(&name, &options), list(&options));
            return Err(JobError::UnknownOption { script, option: option.clone(), hint, known });
        }
    }
    if job.command == "run" {
        return if info.is_runnable() { Ok(()) } else { Err(JobError::NotRunnable { script }) };
    }
    let commands: Vec<&str> = info.commands.iter().map(|command| command.name.as_str()).collect();
    if !commands.contains(&job.command.as_str()) {
        let (hint, known) = (near_miss(&job.command, &commands), list(&commands));
        return Err(JobError::UnknownCommand { script, command: job.command.clone(), hint, known });
    }
    Ok(())
}

fn near_miss(name: &str, known: &[&str]) -> String {
    let nearest =
        known.iter().map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate)).min();
    match nearest {
        Some((distance, candidate)) if distance <= NEAR => format!(" (did you mean '{candidate}'?)"),
        _ => String::new(),
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
