//! Fetches what systems need, and starts an instance of each for a round.

use std::sync::atomic::Ordering;
use std::time::Instant;

use dyno_engine::{Installation, StartError};
use dyno_store::InstanceRecord;

use super::error::{RunError, SubjectError};
use super::loads::initial_loads;
use super::observer::{Event, Observer};
use super::place::Place;
use super::session::Session;
use super::subject::{Starter, install};
use super::{RunOptions, record};
use crate::plan::Plan;
use crate::records;

/// Words by which logs mark what is wrong.
const TELLING: [&str; 3] = ["ERROR", "FATAL", "PANIC"];

/// Why a system is not there, in a run or in a round, which goes on without it.
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

/// Fetches what a plan's systems need, in their order.
///
/// # Errors
/// The base cannot be fetched, or the run was stopped.
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

impl<'a> Session<'a> {
    /// Starts an instance of every system for a round, in the plan's order, and writes each down. A server that Dyno
    /// does not start goes on as it is.
    ///
    /// # Errors
    /// In the session's first round: the base does not start, or the run was stopped. The results file cannot be written.
    pub(crate) fn start_instances(
        &mut self,
        round: u32,
    ) -> Result<Vec<Result<Place<'a>, NotStarted>>, RunError> {
        (0..self.plan.systems.len()).map(|position| self.start_instance(position, round)).collect()
    }

    fn start_instance(
        &mut self,
        position: usize,
        round: u32,
    ) -> Result<Result<Place<'a>, NotStarted>, RunError> {
        let (plan, options) = (self.plan, self.options);
        let system = &plan.systems[position];
        let installation = match &self.installed[position] {
            Ok(installation) => installation.as_ref(),
            Err(not_started) => return Ok(Err(not_started.clone())),
        };
        if let Some(not_started) = &self.not_started[position] {
            return Ok(Err(not_started.clone()));
        }
        let mut instance = InstanceRecord {
            system_id: system.id.clone(),
            round,
            started_at_ms: record::now_ms(),
            is_fresh: system.source.is_started_by_dyno() || self.carried[position].is_none(),
            ..InstanceRecord::default()
        };
        if let Some(place) = self.carried[position].take() {
            self.store.put_instance(self.run, &instance)?;
            return Ok(Ok(place));
        }
        self.observer.observe(&Event::Starting { system: &system.id });
        let began = Instant::now();
        let starter = Starter { system, installation, cache: &options.cache };
        match self.start_on_its_data(starter, position, round) {
            Ok(mut place) => {
                instance.start_seconds = began.elapsed().as_secs_f64();
                self.store.put_instance(self.run, &instance)?;
                place.instance = instance;
                Ok(Ok(place))
            }
            Err(source) => {
                let error = RunError::Start { system: system.id.clone(), source };
                if self.is_audited {
                    // Later rounds may have it again.
                    return Ok(Err(NotStarted::new(&system.id, &error)));
                }
                let not_started = do_without(plan, position, options, error, self.observer)?;
                self.not_started[position] = Some(not_started.clone());
                self.ended.not_started.push(not_started.clone());
                Ok(Err(not_started))
            }
        }
    }

    /// Starts a system on the data that was kept after its first load, or on none.
    fn start_on_its_data(
        &mut self,
        starter: Starter<'a>,
        position: usize,
        round: u32,
    ) -> Result<Place<'a>, SubjectError> {
        let plan = self.plan;
        let loads = initial_loads(plan);
        let may_be_kept =
            !loads.is_empty() && !plan.load_every_round && (round > self.load_round || plan.reuse_data);
        let kept = may_be_kept.then(|| starter.kept(plan, &loads)).flatten();
        let is_kept = kept.is_some();
        let subject = starter.start(kept)?;
        if !self.is_audited {
            let mut known = records::system(plan, position);
            known.engine_version = Some(subject.version());
            known.variables = subject.variables()?;
            self.known[position] = Some(known);
        }
        let mut place = Place::new(starter, subject);
        if is_kept {
            place.loads.replace(&loads);
        }
        Ok(place)
    }
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
