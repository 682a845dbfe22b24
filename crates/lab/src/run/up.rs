//! Having every system of a plan up, or knowing why one is not.

use std::sync::atomic::Ordering;

use dyno_engine::{Installation, StartError};
use dyno_store::{RunId, Store};

use super::RunOptions;
use super::error::{RunError, SubjectError};
use super::observer::{Event, Observer};
use super::place::Place;
use super::subject::{Starter, install};
use crate::plan::Plan;
use crate::records;

/// Words by which logs mark what is wrong.
const TELLING: [&str; 3] = ["ERROR", "FATAL", "PANIC"];

/// Why a system is not there in a run, which goes on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotStarted {
    /// The system's id.
    pub system: String,
    /// What its trials fail with, in a line: `did not start: …`.
    pub message: String,
    /// The last lines of its server's log, or of what was to fetch it; empty if there are none.
    pub log_tail: String,
}

/// What a system needs to be started: nothing if it is built in or runs already.
pub(crate) type Installed = Result<Option<Installation>, NotStarted>;

/// A system that came up, with its variables and their values.
pub(crate) struct Up<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) variables: Vec<(String, String)>,
}

/// Fetches what a plan's systems need, in their order.
///
/// # Errors
/// The base cannot be had, or someone stopped the run.
pub(crate) fn install_all(
    plan: &Plan,
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<Installed>, RunError> {
    let each = |position: usize| match install(&plan.systems[position], &options.cache, observer) {
        Ok(installation) => Ok(Ok(installation)),
        Err(error) => do_without(plan, position, options, error, observer).map(Err),
    };
    (0..plan.systems.len()).map(each).collect()
}

/// Starts every system of a plan, in the plan's order, and writes down what each says of itself.
///
/// # Errors
/// The base does not start, someone stopped the run meanwhile, or the results file cannot be written.
pub(crate) fn start_all<'a>(
    plan: &'a Plan,
    options: &'a RunOptions<'a>,
    installed: &'a [Installed],
    (store, run): (&mut Store, RunId),
    observer: &mut dyn Observer,
) -> Result<Vec<Result<Up<'a>, NotStarted>>, RunError> {
    let mut systems = Vec::new();
    for (position, (system, installed)) in plan.systems.iter().zip(installed).enumerate() {
        let installation = match installed {
            Ok(installation) => installation.as_ref(),
            Err(not_started) => {
                systems.push(Err(not_started.clone()));
                continue;
            }
        };
        observer.observe(&Event::Starting { system: &system.id });
        let starter = Starter { system, installation, cache: &options.cache };
        let result = starter.start(None).and_then(|subject| Ok((subject.variables()?, subject)));
        systems.push(match result {
            Ok((variables, subject)) => {
                let mut known = records::system(plan, position);
                known.engine_version = Some(subject.version());
                known.variables.clone_from(&variables);
                store.put_system(run, &known)?;
                Ok(Up { place: Place::new(starter, subject), variables })
            }
            Err(source) => {
                let error = RunError::Start { system: system.id.clone(), source };
                Err(do_without(plan, position, options, error, observer)?)
            }
        });
    }
    Ok(systems)
}

/// Lets the run go on without a system, unless it is the base, without which there is nothing to compare with.
fn do_without(
    plan: &Plan,
    position: usize,
    options: &RunOptions<'_>,
    error: RunError,
    observer: &mut dyn Observer,
) -> Result<NotStarted, RunError> {
    // ^C on a terminal reaches package managers and servers too, which then fail.
    if position == plan.base || options.stop.load(Ordering::Relaxed) {
        return Err(error);
    }
    let not_started = NotStarted::new(&plan.systems[position].id, &error);
    observer.observe(&Event::NotStarted { not_started: &not_started });
    Ok(not_started)
}

impl NotStarted {
    fn new(system: &str, error: &RunError) -> Self {
        let words = match error {
            RunError::Start {
                source: SubjectError::Server(StartError::Ended { status, log, .. }), ..
            } => {
                format!("{status}\n{}", log.join("\n"))
            }
            RunError::Start { source, .. } => source.to_string(),
            RunError::Fetch { entry, source } => format!("cannot fetch {entry}: {source}"),
            error => error.to_string(),
        };
        // What a program said stands below the sentence about it, a line each.
        let mut lines = words.lines().map(str::trim);
        let sentence = lines.next().unwrap_or_default().trim_end_matches(':');
        let log: Vec<&str> = lines.collect();
        let is_telling = |line: &&&str| TELLING.iter().any(|word| line.contains(word));
        let last_words =
            log.iter().find(is_telling).or(log.last()).map_or(String::new(), |line| format!(": {line}"));
        Self {
            system: system.to_owned(),
            message: format!("did not start: {sentence}{last_words}"),
            log_tail: log.join("\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_started(source: StartError) -> NotStarted {
        NotStarted::new("b", &RunError::Start { system: "b".to_owned(), source: source.into() })
    }

    #[test]
    fn the_line_of_the_log_that_tells_is_in_the_message() {
        let log = ["Starting", "1 [ERROR] unknown variable 'x'", "1 [ERROR] Aborting"].map(str::to_owned);
        let status = "exit status: 7".to_owned();
        let error = StartError::Ended { entry: "mariadb@10.11".to_owned(), status, log: log.to_vec() };
        let NotStarted { message, log_tail, .. } = not_started(error);
        assert_eq!(message, "did not start: exit status: 7: 1 [ERROR] unknown variable 'x'");
        assert_eq!(log_tail, log.join("\n"));
    }

    #[test]
    fn without_such_a_line_it_is_the_last_and_without_a_log_the_sentence_alone() {
        let (entry, reason) = ("e".to_owned(), "refused".to_owned());
        let error =
            StartError::Silent { entry, seconds: 9, reason, log: vec!["one".to_owned(), "two".to_owned()] };
        let NotStarted { message, log_tail, .. } = not_started(error);
        assert_eq!(message, "did not start: e did not answer within 9 s (refused); its last words: two");
        assert_eq!(log_tail, "one\ntwo");
        let NotStarted { message, log_tail, .. } =
            not_started(StartError::OwnSetting { name: "port".to_owned() });
        assert_eq!(message, "did not start: the setting 'port' is made by dyno; leave it out");
        assert_eq!(log_tail, "");
    }
}
