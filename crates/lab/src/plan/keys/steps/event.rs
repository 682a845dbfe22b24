//! The plan's tables `[[step.event]]`: what is done to a system while the step's load runs.

use dyno_store::EventKind;
use serde::Deserialize;

use crate::plan::keys::steps::command::Command;
use crate::plan::keys::systems::source::Source;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, ClientsNumber, From0, Milliseconds, each};

/// Default of `after_seconds`.
const AFTER_SECONDS: f64 = 5.0;
/// Default of `limit_seconds`.
const LIMIT_SECONDS: f64 = 600.0;

/// Something that is done to a system at a certain time while the step's load runs.
#[derive(Clone, Debug, PartialEq)]
pub struct StepEvent {
    /// Name of the event in the step.
    pub id: String,
    /// When the event is due, in seconds since measuring began.
    pub at_seconds: f64,
    pub action: EventAction,
    /// Whether the load continues until the event has ended. Otherwise the event is ended when the step ends.
    pub until_done: bool,
    /// With `until_done`: the shortest time for which the load continues after the event, in seconds. This time shows
    /// the effect of the event.
    pub after_seconds: f64,
    /// Time limit of the event, in seconds. After that, the event has failed.
    pub limit_seconds: f64,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq)]
pub enum EventAction {
    /// Executes a statement on a connection of its own.
    Sql(String),
    /// Runs a shell command.
    Command(String),
    /// Kills the server's processes, and starts the server again.
    Kill,
    /// Shuts the server down, and starts it again.
    Restart,
    /// Stops the server's processes for a time.
    Stop { seconds: f64 },
    /// Opens connections at the same time, and keeps them open for a time.
    Connections { number: u32, hold_seconds: f64 },
    /// Leaves a transaction open for a time.
    IdleTransaction { seconds: f64 },
    /// Makes each request to the server's disk take at least `latency_ms` for a time.
    DiskLatency { latency_ms: f64, hold_seconds: f64 },
}

impl EventAction {
    pub(crate) fn kind(&self) -> EventKind {
        match self {
            Self::Sql(_) => EventKind::Sql,
            Self::Command(_) => EventKind::Command,
            Self::Kill => EventKind::Kill,
            Self::Restart => EventKind::Restart,
            Self::Stop { .. } => EventKind::Stop,
            Self::Connections { .. } => EventKind::Connections,
            Self::IdleTransaction { .. } => EventKind::IdleTransaction,
            Self::DiskLatency { .. } => EventKind::DiskLatency,
        }
    }

    /// Returns the event's statement, command, duration, number or latency, for the results file.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Sql(text) | Self::Command(text) => text.clone(),
            Self::Kill | Self::Restart => "server".to_owned(),
            Self::Stop { seconds } | Self::IdleTransaction { seconds } => seconds.to_string(),
            Self::Connections { number, .. } => number.to_string(),
            Self::DiskLatency { latency_ms, .. } => latency_ms.to_string(),
        }
    }

    /// Returns what happens to the server's processes, in words. `None` if they continue to run.
    fn done_to_server(&self) -> Option<&'static str> {
        match self {
            Self::Kill => Some("killed"),
            Self::Restart => Some("restarted"),
            Self::Stop { .. } => Some("stopped"),
            Self::Sql(_)
            | Self::Command(_)
            | Self::Connections { .. }
            | Self::IdleTransaction { .. }
            | Self::DiskLatency { .. } => None,
        }
    }

    /// Returns whether the event stops or replaces the server's processes.
    pub(crate) fn disturbs_server(&self) -> bool {
        self.done_to_server().is_some()
    }

    /// Returns whether the server is started again.
    pub(crate) fn restarts_server(&self) -> bool {
        matches!(self, Self::Kill | Self::Restart)
    }

    /// Returns the duration of the event in seconds, or 0 if the plan does not set one.
    fn seconds(&self) -> f64 {
        self.clone().length().map_or(0.0, |(_, seconds)| *seconds)
    }

    /// Returns the event's key that sets a duration, and the duration. `None` if the event has no such key.
    fn length(&mut self) -> Option<(&'static str, &mut f64)> {
        match self {
            Self::Stop { seconds } => Some(("stop_seconds", seconds)),
            Self::IdleTransaction { seconds } => Some(("idle_transaction_seconds", seconds)),
            Self::Connections { hold_seconds, .. } | Self::DiskLatency { hold_seconds, .. } => {
                Some(("hold_seconds", hold_seconds))
            }
            Self::Sql(_) | Self::Command(_) | Self::Kill | Self::Restart => None,
        }
    }
}

impl StepEvent {
    /// Returns the earliest time at which the load may end if it waits for this event, in seconds since measuring
    /// began.
    pub(crate) fn ends_at_least_seconds(&self) -> f64 {
        self.at_seconds + self.action.seconds() + self.after_seconds
    }

    /// Multiplies the times of the event by a factor.
    pub(in crate::plan) fn stretch(&mut self, factor: f64) {
        self.at_seconds *= factor;
        self.after_seconds *= factor;
        if let Some((_, seconds)) = self.action.length() {
            *seconds *= factor;
        }
    }
}

/// Something that is done to the system while the load runs. Exactly one key gives the action.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(transform = crate::plan::schema::one_action))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct EventTable {
    /// Its name in reports; by default the word for its action.
    id: Option<String>,
    /// Seconds since measuring began.
    at_seconds: At<Above0>,
    /// A statement, executed on a connection of its own.
    sql: Option<String>,
    /// A shell command. Its environment has the system's address, as for before.
    command: Option<String>,
    /// Kills the server with SIGKILL, and starts it again at once.
    kill: Option<Whom>,
    /// Shuts the server down, and starts it again.
    restart: Option<Whom>,
    /// Stops the server's processes for this time. Connections stay open and get no answer.
    stop_seconds: Option<Above0>,
    /// Opens this many connections at once, in addition to those of the load.
    connections: Option<ClientsNumber>,
    /// With connections: the time for which each is held (default 0). With `disk_latency_ms`: the time for which it lasts.
    hold_seconds: Option<At<From0>>,
    /// Leaves a transaction open for this time. The transaction has a snapshot of the data.
    idle_transaction_seconds: Option<Above0>,
    /// Makes each request to the server's disk take at least this time, in milliseconds. The system's confinement has a
    /// `latency_ms`, which may be 0.
    disk_latency_ms: Option<Milliseconds>,
    /// step: the event is ended with the step if it still runs. done: the load continues until the event has ended.
    until: Option<Until>,
    /// With until = "done": the time for which the load continues after it, at least (default 5).
    after_seconds: Option<At<From0>>,
    /// The time after which it counts as failed (default 600).
    limit_seconds: Option<Above0>,
}

#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Whom {
    Server,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Until {
    #[default]
    Step,
    Done,
}

/// The step that an event belongs to.
pub(in crate::plan) struct StepOfEvent<'a> {
    pub(in crate::plan) command: Command,
    pub(in crate::plan) has_find: bool,
    /// Whether the step's trials end after a number of operations of the workload.
    pub(in crate::plan) is_counted: bool,
    pub(in crate::plan) has_drivers: bool,
    pub(in crate::plan) seconds: f64,
    pub(in crate::plan) systems: &'a [System],
    /// Ids of the systems that do not run the step.
    pub(in crate::plan) not_for: &'a [String],
}

/// Reads a step's events.
pub(in crate::plan) fn of_step(
    list: Vec<At<EventTable>>,
    step: &StepOfEvent<'_>,
) -> Result<Vec<StepEvent>, Mistake> {
    if let (Some(first), Some(why)) = (list.first(), step.obstacle()) {
        return Err(first.wrong(why.to_owned()));
    }
    each(Vec::new(), list, "event", |table, earlier| table.read(step, earlier), |event: &StepEvent| &event.id)
}

impl StepOfEvent<'_> {
    /// Returns why the step cannot have events.
    fn obstacle(&self) -> Option<&'static str> {
        match () {
            () if self.command == Command::Prepare => {
                Some("a load has no time axis for events; leave `[[step.event]]` out")
            }
            () if self.has_find => Some("a search has no time axis for events; leave `[[step.event]]` out"),
            () if self.is_counted => {
                Some("the step ends after its `events`, at no fixed time; write `seconds` instead")
            }
            () if self.has_drivers => {
                Some("events are timed on this host; give the step `drivers = \"here\"`")
            }
            () => None,
        }
    }

    /// Returns the first system that runs the step and has no server that Dyno can kill or stop. Also returns the
    /// reason.
    fn system_without_server(&self) -> Option<(&str, &'static str)> {
        let runs = |system: &&System| !self.not_for.contains(&system.id);
        let why = |source: &Source| match source {
            Source::Dsn { .. } => Some("Dyno did not start it"),
            _ if !source.starts_server() => Some("it runs in the load process"),
            _ => None,
        };
        self.systems.iter().filter(runs).find_map(|system| Some((system.id.as_str(), why(&system.source)?)))
    }

    /// Returns the first system that runs the step and whose confinement sets no `latency_ms`. Only with `latency_ms`
    /// can an event change the latency of the disk.
    fn system_without_latency(&self) -> Option<&str> {
        let runs = |system: &&System| !self.not_for.contains(&system.id);
        let lacks = |system: &&System| system.confinement.latency_us.is_none();
        self.systems.iter().filter(runs).find(lacks).map(|system| system.id.as_str())
    }
}

impl EventTable {
    fn read(self, step: &StepOfEvent<'_>, earlier: &[StepEvent]) -> Result<StepEvent, Mistake> {
        let mut action = self.action()?;
        let at_seconds = self.at_seconds.0;
        let out_of_range = |key: &str, wanted: String| Problem::OutOfRange { key: key.to_owned(), wanted };
        if at_seconds >= step.seconds {
            let wanted = format!("below {}, at which the step ends", step.seconds);
            return Err(self.at_seconds.wrong(out_of_range("at_seconds", wanted)));
        }
        if let (Some(done), Some((system, why))) = (action.done_to_server(), step.system_without_server()) {
            let problem =
                format!("the server of system `{system}` cannot be {done}: {why}; name it in `not_for`");
            return Err(Problem::Other(problem).into());
        }
        if let (EventAction::DiskLatency { .. }, Some(system)) = (&action, step.system_without_latency()) {
            let problem = format!(
                "the disk of system `{system}` cannot be slowed down; write `latency_ms = 0` in its \
                 `confinement`, or name it in `not_for`"
            );
            return Err(Problem::Other(problem).into());
        }
        let until_done = self.until.unwrap_or_default() == Until::Done;
        if let Some((key, seconds)) = action.length().filter(|_| !until_done) {
            let left = step.seconds - at_seconds;
            if *seconds >= left {
                let wanted =
                    format!("below {left}, so that it ends before the step; or write `until = \"done\"`");
                return Err(out_of_range(key, wanted).into());
            }
        }
        if let Some(after) = self.after_seconds.as_ref().filter(|_| !until_done) {
            return Err(after.wrong("`after_seconds` needs `until = \"done\"`".to_owned()));
        }
        Ok(StepEvent {
            id: self.id.unwrap_or_else(|| own_name(action.kind(), earlier)),
            at_seconds,
            action,
            until_done,
            after_seconds: self.after_seconds.map_or(AFTER_SECONDS, |seconds| seconds.0),
            limit_seconds: self.limit_seconds.map_or(LIMIT_SECONDS, |seconds| seconds.0),
        })
    }

    fn action(&self) -> Result<EventAction, Mistake> {
        let hold_seconds = self.hold_seconds.as_ref().map_or(0.0, |seconds| seconds.0);
        let seconds = |own: Option<Above0>| own.map(|seconds| seconds.0);
        let mut found = [
            ("sql", self.sql.clone().map(EventAction::Sql)),
            ("command", self.command.clone().map(EventAction::Command)),
            ("kill", self.kill.map(|Whom::Server| EventAction::Kill)),
            ("restart", self.restart.map(|Whom::Server| EventAction::Restart)),
            ("stop_seconds", seconds(self.stop_seconds).map(|seconds| EventAction::Stop { seconds })),
            (
                "connections",
                self.connections
                    .map(|number| EventAction::Connections { number: number.0 as u32, hold_seconds }),
            ),
            (
                "idle_transaction_seconds",
                seconds(self.idle_transaction_seconds)
                    .map(|seconds| EventAction::IdleTransaction { seconds }),
            ),
            (
                "disk_latency_ms",
                self.disk_latency_ms
                    .map(|latency| EventAction::DiskLatency { latency_ms: latency.0, hold_seconds }),
            ),
        ]
        .into_iter()
        .filter_map(|(key, action)| Some((key, action?)));
        let Some((key, action)) = found.next() else {
            let needs = "an event needs a key that says what it does: sql, command, kill, restart, stop_seconds, \
                         connections, idle_transaction_seconds or disk_latency_ms";
            return Err(Problem::Other(needs.to_owned()).into());
        };
        if let Some((other, _)) = found.next() {
            let problem =
                format!("an event does one thing; leave `{key}` or `{other}` out, or write two events");
            return Err(Problem::Other(problem).into());
        }
        match (&self.hold_seconds, &action) {
            (None, EventAction::DiskLatency { .. }) => {
                Err(Problem::Other("`disk_latency_ms` needs `hold_seconds`".to_owned()).into())
            }
            (_, EventAction::Connections { .. } | EventAction::DiskLatency { .. }) | (None, _) => Ok(action),
            (Some(hold), _) => {
                let problem = "`hold_seconds` is for `connections` and `disk_latency_ms`; leave it out";
                Err(hold.wrong(problem.to_owned()))
            }
        }
    }
}

/// Returns the word for the action of an event. If an earlier event has that name, a number is added.
fn own_name(kind: EventKind, earlier: &[StepEvent]) -> String {
    let word = kind.as_str();
    let is_taken = |name: &String| earlier.iter().any(|event| event.id == *name);
    let numbered = (2..).map(|number| format!("{word}-{number}"));
    std::iter::once(word.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Measure;
    use crate::plan::testing::{TEXT, parse};

    /// Returns the text of the small plan in which all systems are servers. Its last step takes 10 s and has an event
    /// with `keys`.
    fn with(keys: &str) -> String {
        let servers = TEXT
            .replace("engine = \"sqlite\"\nsettings = { journal_mode = \"WAL\" }", "engine = \"postgres\"");
        assert!(!servers.contains("sqlite"));
        format!("{servers}seconds = 10\n\n[[step.event]]\n{keys}\n")
    }

    #[test]
    fn events_of_each_kind_are_read_and_their_step_is_whole() {
        let more = |keys: &str| format!("\n[[step.event]]\nat_seconds = 2\n{keys}");
        let text = with("at_seconds = 1.5\nsql = \"ALTER TABLE a\"\nuntil = \"done\"\nlimit_seconds = 30")
            + &more("id = \"backup\"\ncommand = \"true\"")
            + &more("kill = \"server\"")
            + &more("restart = \"server\"")
            + &more("stop_seconds = 3")
            + &more("connections = 500\nhold_seconds = 1")
            + &more("idle_transaction_seconds = 4")
            + &more("sql = \"CHECKPOINT\"");
        let step = &parse(&text).unwrap().steps[1];
        assert_eq!(step.measure, Measure::Whole);
        let first = &step.step_events[0];
        assert_eq!((first.at_seconds, first.until_done, first.limit_seconds), (1.5, true, 30.0));
        assert_eq!(first.action, EventAction::Sql("ALTER TABLE a".to_owned()));
        let ids: Vec<&str> = step.step_events.iter().map(|event| event.id.as_str()).collect();
        let expected =
            ["sql", "backup", "kill", "restart", "stop", "connections", "idle_transaction", "sql-2"];
        assert_eq!(ids, expected);
        assert!(step.step_events[1..].iter().all(|event| !event.until_done && event.limit_seconds > 599.0));
        assert_eq!(step.step_events[5].action, EventAction::Connections { number: 500, hold_seconds: 1.0 });
    }

    #[test]
    fn a_disk_with_a_latency_can_be_slowed_down() {
        let limits = "warmup_seconds = 0.5\nconfinement = { latency_ms = 0.25 }";
        let text = with("at_seconds = 4\ndisk_latency_ms = 5\nhold_seconds = 2");
        let plan = parse(&text.replace("warmup_seconds = 0.5", limits)).unwrap();
        assert_eq!(plan.systems[0].confinement.latency_us, Some(250));
        let action = &plan.steps[1].step_events[0].action;
        assert_eq!(*action, EventAction::DiskLatency { latency_ms: 5.0, hold_seconds: 2.0 });
    }

    #[test]
    fn times_of_events_change_with_those_of_their_step() {
        let plan = parse(&with("at_seconds = 4\nstop_seconds = 2")).unwrap();
        let mut step = plan.steps[1].clone();
        step.set_seconds(5.0);
        assert_eq!(step.step_events[0].at_seconds.to_bits(), 2.0_f64.to_bits());
        assert_eq!(step.step_events[0].action, EventAction::Stop { seconds: 1.0 });
    }

    #[test]
    fn what_is_wrong_with_an_event_is_told_with_its_line() {
        let sqlite = format!("{TEXT}seconds = 10\n\n[[step.event]]\nat_seconds = 1\nkill = \"server\"\n");
        for (text, told) in [
            (
                with("at_seconds = 10\nkill = \"server\""),
                "`at_seconds` must be below 10, at which the step ends",
            ),
            (with("at_seconds = 1"), "an event needs a key that says what it does: sql, command"),
            (with("sql = \"x\""), "needs a key `at_seconds`"),
            (with("at_seconds = 1\nsql = \"x\"\nkill = \"server\""), "leave `sql` or `kill` out"),
            (with("at_seconds = 1\nkill = \"client\""), "`kill` cannot be `client`"),
            (with("at_seconds = 7\nstop_seconds = 3"), "`stop_seconds` must be below 3, so that it ends"),
            (
                with("at_seconds = 1\nsql = \"x\"\nhold_seconds = 3"),
                "`hold_seconds` is for `connections` and",
            ),
            (with("at_seconds = 1\ndisk_latency_ms = 5"), "`disk_latency_ms` needs `hold_seconds`"),
            (
                with("at_seconds = 1\ndisk_latency_ms = 5\nhold_seconds = 1"),
                "the disk of system `a` cannot be slowed down; write `latency_ms = 0` in its `confinement`",
            ),
            (with("at_seconds = 1\ndisk_latency_ms = -1\nhold_seconds = 1"), "from 0 to 10000"),
            (with("at_seconds = 1\nsqll = \"x\""), "unknown key `sqll`"),
            (
                with(
                    "at_seconds = 1\nid = \"x\"\nkill = \"server\"\n[[step.event]]\nat_seconds = 1\nid = \"x\"\nstop_seconds = 1",
                ),
                "there are two events `x`",
            ),
            (sqlite, "system `c` cannot be killed: it runs in the load process; name it in `not_for`"),
            (
                with("at_seconds = 1\nsql = \"x\"").replace("seconds = 10\n", "events = 10\n"),
                "write `seconds` instead",
            ),
            (
                with("at_seconds = 1\nsql = \"x\"")
                    .replace("seconds = 10\n", "slice_seconds = 0.1\nseconds = 10\n"),
                "its load continues through events",
            ),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(told) && error.starts_with("plan.toml:"), "{told}: {error}");
        }
    }
}
