//! A step that replays the traffic of a server: its keys `traffic`, `pace`, `order` and `allow`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_load::Script;
use dyno_store::Operation;
use dyno_traffic::{Outline, TrafficFile};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

use super::{Pace, StepTable};
use crate::plan::context::ParseContext;
use crate::plan::keys::steps::command::Command;
use crate::plan::keys::steps::measure::Measure;
use crate::plan::keys::steps::queries::{Explained, Queries};
use crate::plan::keys::steps::step::checks::{known, not_for};
use crate::plan::keys::steps::step::{Endpoint, Step};
use crate::plan::keys::systems::source::Source;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Clients, Name};

/// The name of the workload that replays traffic.
pub(super) const WORKLOAD: &str = "traffic";

/// Range of `pace`. At less than a tenth or more than ten times the original speed, a replay says nothing about the
/// traffic.
const PACE_MIN: f64 = 0.1;
const PACE_MAX: f64 = 10.0;

/// The traffic that a step replays.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The traffic file.
    pub file: PathBuf,
    /// Speed as a multiple of the logged speed. With `None`, each session sends its next statement as soon as the
    /// previous one has ended.
    pub pace: Option<f64>,
    /// Time after which no further statement is sent, in seconds. `None` replays all statements.
    pub seconds_max: Option<f64>,
    /// Whether the replay also sends statements that change more than their own database, such as the server's accounts
    /// and settings.
    pub sends_server_statements: bool,
    /// Whether the systems' answers are compared.
    pub reads_answers: bool,
    /// Whether a statement waits for all commits, of any session, that had ended in the log before the statement
    /// began.
    pub keeps_order: bool,
}

/// How fast traffic is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::plan) enum PaceKey {
    /// Each session sends its next statement when the last one has ended.
    Closed,
    /// This many times as fast as it was logged.
    #[serde(rename = "a number", deserialize_with = "pace")]
    #[cfg_attr(test, schemars(untagged))]
    Times(#[cfg_attr(test, schemars(range(min = PACE_MIN, max = PACE_MAX)))] f64),
}

/// Which order of statements a replay keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::plan) enum OrderKey {
    /// That of each session.
    Sessions,
    /// Also the order of commits: a statement waits for all commits that had ended in the log before it began.
    Causal,
}

/// What a replay may do beyond the databases of servers that Dyno starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::plan) enum Allowed {
    /// Send statements that change more than their database: accounts, settings, other databases.
    Server,
    /// Replay on servers that run already, which changes their data.
    Dsn,
}

fn pace<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let pace = f64::deserialize(deserializer)?;
    if (PACE_MIN..=PACE_MAX).contains(&pace) {
        return Ok(pace);
    }
    let wanted = format!("from {PACE_MIN} to {PACE_MAX}");
    Err(D::Error::invalid_value(Unexpected::Float(pace), &wanted.as_str()))
}

impl StepTable {
    /// Returns an error if a step that is not a replay has keys of a replay.
    pub(super) fn check_no_traffic(&self) -> Result<(), Mistake> {
        let needs = |key: &str| format!("`{key}` is for replays; write `workload = \"{WORKLOAD}\"`");
        match self {
            Self { traffic: Some(at), .. } => Err(at.wrong(needs("traffic"))),
            Self { pace: Some(at), .. } => Err(at.wrong(needs("pace"))),
            Self { allow: Some(at), .. } => Err(at.wrong(needs("allow"))),
            Self { order: Some(at), .. } => Err(at.wrong(needs("order"))),
            _ => Ok(()),
        }
    }

    /// Reads a step that replays traffic.
    pub(super) fn read_traffic(
        self,
        earlier: &[Step],
        defaults: &Pace<'_>,
        context: &ParseContext<'_>,
    ) -> Result<Step, Mistake> {
        if let Some(key) = self.excluded_by_traffic() {
            return Err(self.workload.wrong(format!("a replay has no `{key}`; leave it out")));
        }
        let Some(traffic) = &self.traffic else {
            let problem = "a replay needs `traffic`, the file that `dyno traffic import` made".to_owned();
            return Err(self.workload.wrong(problem));
        };
        let path = context.file(traffic);
        let file = std::path::absolute(&path).unwrap_or(path);
        let outline = TrafficFile::open(&file).and_then(|file| file.outline());
        let outline = outline.map_err(|error| traffic.wrong(error.to_string()))?;
        let not_for = not_for(self.not_for, self.command, defaults.systems)?;
        let systems = defaults.systems.iter().filter(|system| !not_for.contains(&system.id));
        let allowed = self.allow.as_deref().map_or(&[][..], Vec::as_slice);
        check_running(systems, allowed).map_err(|problem| traffic.wrong(problem))?;
        let pace = self.pace.as_deref().map_or(Some(1.0), |pace| match pace {
            PaceKey::Closed => None,
            PaceKey::Times(times) => Some(*times),
        });
        let seconds_max = self.seconds.map(|seconds| seconds.0);
        let expected_seconds = (outline.seconds / pace.unwrap_or(1.0)).max(0.1);
        let repeats = self.repeats.map(|name| name.read(|name| known(name, earlier))).transpose()?;
        Ok(Step {
            id: self.id,
            group: self.group.map_or_else(|| self.command.group().to_owned(), Name::into_inner),
            measure: Measure::Traffic,
            script: Script { name: WORKLOAD.to_owned(), source: String::new(), search_path: Vec::new() },
            options: BTreeMap::from([
                ("traffic".to_owned(), (**traffic).clone()),
                ("pace".to_owned(), pace.map_or_else(|| "closed".to_owned(), |pace| pace.to_string())),
            ]),
            operation: self.operation.unwrap_or(Operation::Query),
            clients: clients(self.clients, pace, &outline)?,
            seconds: seconds_max.map_or(expected_seconds, |most| most.min(expected_seconds)),
            warmup_seconds: 0.0,
            warmup_seconds_max: 0.0,
            endpoint: Endpoint::Primary,
            drivers: Vec::new(),
            rate: None,
            traffic: Some(Traffic {
                file,
                pace,
                seconds_max,
                sends_server_statements: allowed.contains(&Allowed::Server),
                reads_answers: self.answers.as_deref().copied().unwrap_or_default(),
                keeps_order: self.order.as_deref() == Some(&OrderKey::Causal),
            }),
            queries: Queries {
                event_seconds_max: self.event_seconds_max.map(|seconds| seconds.0),
                explain: Explained::Nothing,
                answers: false,
            },
            background: Vec::new(),
            step_events: Vec::new(),
            limit_io: true,
            drain: self.drain,
            stacks: None,
            repeats,
            check: false,
            crashes: 0,
            before: self.before,
            after: self.after,
            not_for,
        })
    }

    /// Returns a key of the step that a replay cannot have.
    fn excluded_by_traffic(&self) -> Option<&'static str> {
        [
            (self.command == Command::Prepare, "command"),
            (!self.options.0.is_empty(), "options"),
            (self.rate.is_some(), "rate"),
            (self.spacing.is_some(), "spacing"),
            (self.find.is_some(), "find"),
            (self.events.is_some(), "events"),
            (self.warmup_seconds.is_some(), "warmup_seconds"),
            (self.warmup_seconds_max.is_some(), "warmup_seconds_max"),
            (self.slice_seconds.is_some(), "slice_seconds"),
            (self.drivers.is_some(), "drivers"),
            (self.endpoint.is_some(), "endpoint"),
            (self.explain.is_some(), "explain"),
            (!self.background.is_empty(), "background"),
            (!self.event.is_empty(), "event"),
            (self.limit_io.is_some(), "limit_io"),
            (self.stacks.is_some(), "stacks"),
            (self.check, "check"),
            (self.crashes.is_some(), "crashes"),
        ]
        .into_iter()
        .find_map(|(is_there, key)| is_there.then_some(key))
    }
}

/// Returns the numbers of simultaneous sessions. Without a pace, the step may set these numbers. If the step does not
/// set them, the replay has as many sessions as the log.
fn clients(own: Option<Clients>, pace: Option<f64>, outline: &Outline) -> Result<Vec<u32>, Mistake> {
    match (own, pace) {
        (None, _) => Ok(vec![outline.sessions_at_once.max(1)]),
        (Some(own), None) => own.read(),
        (Some(_), Some(_)) => Err(Mistake::from(
            "a replay has as many sessions at the same time as the traffic had; leave `clients` out, or write \
             `pace = \"closed\"`"
                .to_owned(),
        )),
    }
}

/// Returns an error if a system is a running server (`dsn`), and the plan either does not allow replays on such
/// servers, or allows statements that change more than their database. Such statements are never sent to running
/// servers.
fn check_running<'a>(systems: impl Iterator<Item = &'a System>, allowed: &[Allowed]) -> Result<(), Problem> {
    let mut running = systems.filter(|system| matches!(system.source, Source::Dsn { .. }));
    let Some(system) = running.next() else { return Ok(()) };
    let id = &system.id;
    if !allowed.contains(&Allowed::Dsn) {
        return Err(Problem::Other(format!(
            "a replay changes the data of system `{id}`, which Dyno does not start; write `allow = [\"dsn\"]` if it may"
        )));
    }
    if allowed.contains(&Allowed::Server) {
        return Err(Problem::Other(format!(
            "system `{id}` runs already, so `allow` cannot have \"server\": a statement such as DROP DATABASE would reach data that is not Dyno's"
        )));
    }
    Ok(())
}
