//! The plan's tables `[[step]]`.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use dyno_load::{Rate, RatePoint, Script, Spacing, builtin_workload, builtin_workloads};
use dyno_store::Operation;

use super::context::{ParseContext, each, scalars};
use super::error::Problem;
use super::slicing::{self, Slicing, slicing};
use super::table::{Mistake, Table, Value};

/// A limit that catches typing errors.
const CLIENTS: Range<u64> = 1..100_001;

const COMMANDS: [(&str, Command); 2] = [("prepare", Command::Prepare), ("run", Command::Run)];
const OPERATIONS: [(&str, Operation); 3] =
    [("query", Operation::Query), ("transaction", Operation::Transaction), ("row", Operation::Row)];
const SPACINGS: [(&str, Spacing); 2] = [("poisson", Spacing::Poisson), ("constant", Spacing::Constant)];

/// A workload and how it is run.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in this plan.
    pub id: String,
    /// Its group in the reports.
    pub group: String,
    /// The script's command to run.
    pub command: Command,
    pub script: Script,
    /// The script's options; they override those of the data set.
    pub options: BTreeMap<String, String>,
    /// What its rate counts.
    pub operation: Operation,
    /// Numbers of clients, measured one after the other.
    pub clients: Vec<u32>,
    /// Measured time of a trial (one system in one round), in seconds. A load runs to its end.
    pub seconds: f64,
    /// Least warm-up before that, in seconds.
    pub warmup_seconds: f64,
    /// Longest warm-up, in seconds, while the rate rises or falls; 0 does not wait for a level.
    pub settle_seconds_max: f64,
    /// How a trial is cut into slices.
    pub slicing: Slicing,
    /// Rate of an open loop, in events a second over all connections; none for a closed loop.
    pub rate: Option<Rate>,
    /// Background loads.
    pub background: Vec<Background>,
    /// Whether to wait for pending writes after each trial.
    pub drain: bool,
    /// The earlier step that this one repeats, to show the effect of the steps between.
    pub repeats: Option<String>,
    /// A shell command that runs before each trial.
    pub before: Option<String>,
    /// A shell command that runs after each trial.
    pub after: Option<String>,
}

/// A background load: it runs all the time while the step's own workload is measured.
#[derive(Clone, Debug)]
pub struct Background {
    /// Its name in the step. Its step id in reports is `STEP.NAME`.
    pub id: String,
    pub script: Script,
    /// The script's options; they override those of the data set.
    pub options: BTreeMap<String, String>,
    /// What its rate counts.
    pub operation: Operation,
    /// Its connections, the same for every number of the step's clients.
    pub clients: u32,
}

/// A command of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Fills the tables: `cleanup`, then `prepare`.
    Prepare,
    /// Runs events for a time.
    Run,
}

impl Command {
    /// Its name in plans and scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Run => "run",
        }
    }
}

impl Step {
    /// The step id of a background load in results and reports.
    pub fn background_id(&self, background: &Background) -> String {
        format!("{}.{}", self.id, background.id)
    }
}

/// Keys that a step may have, and the plan as defaults for all steps.
pub(super) struct Pace {
    clients: Vec<u32>,
    seconds: f64,
    warmup_seconds: f64,
    settle_seconds_max: f64,
    slicing: Slicing,
}

impl Pace {
    pub(super) const KEYS: [&'static str; 5] =
        ["clients", "seconds", "warmup_seconds", "settle_seconds_max", "slice_seconds"];

    /// The plan's own pace.
    pub(super) fn of_plan(plan: &mut Table<'_>) -> Result<Self, Mistake> {
        Ok(Self {
            clients: clients(plan.required("clients")?)?,
            seconds: plan.required("seconds")?.seconds(false)?,
            warmup_seconds: seconds_or(plan, "warmup_seconds", 0.0)?,
            settle_seconds_max: seconds_or(plan, "settle_seconds_max", 0.0)?,
            slicing: plan.optional("slice_seconds").map_or(Ok(Slicing::default()), slicing)?,
        })
    }

    /// A step's own keys, otherwise the plan's. `whole` is the reason why its trials cannot be cut, if any.
    fn of_step(step: &mut Table<'_>, plan: &Self, whole: Option<&'static str>) -> Result<Self, Mistake> {
        Ok(Self {
            clients: step.optional("clients").map_or(Ok(plan.clients.clone()), clients)?,
            seconds: step.optional("seconds").map_or(Ok(plan.seconds), |value| value.seconds(false))?,
            warmup_seconds: seconds_or(step, "warmup_seconds", plan.warmup_seconds)?,
            settle_seconds_max: seconds_or(step, "settle_seconds_max", plan.settle_seconds_max)?,
            slicing: slicing::of_step(step.optional("slice_seconds"), plan.slicing, whole)?,
        })
    }
}

/// A time of 0 or more, with a default.
fn seconds_or(table: &mut Table<'_>, key: &str, otherwise: f64) -> Result<f64, Mistake> {
    table.optional(key).map_or(Ok(otherwise), |value| value.seconds(true))
}

pub(super) const KEYS: [&str; 18] = [
    "id",
    "group",
    "command",
    "workload",
    "options",
    "operation",
    Pace::KEYS[0],
    Pace::KEYS[1],
    Pace::KEYS[2],
    Pace::KEYS[3],
    Pace::KEYS[4],
    "rate",
    "spacing",
    "background",
    "drain",
    "repeats",
    "before",
    "after",
];

pub(super) fn step(value: Value<'_>, pace: &Pace, context: &ParseContext<'_>) -> Result<Step, Mistake> {
    let mut table = value.table("a [[step]]", &KEYS)?;
    let command =
        table.optional("command").map_or(Ok(Command::Run), |value| value.one_of("command", &COMMANDS))?;
    let spacing = table.optional("spacing").map(|value| value.one_of("spacing", &SPACINGS)).transpose()?;
    let rate = table.optional("rate").map(|value| rate(value, spacing.unwrap_or_default())).transpose()?;
    let background = table.optional("background").map(|list| {
        each(list, "background load", |value| self::background(value, context), |background| &background.id)
    });
    let background = background.transpose()?.unwrap_or_default();
    let whole = slicing::why_whole(command == Command::Prepare, rate.is_some(), !background.is_empty());
    let pace = Pace::of_step(&mut table, pace, whole)?;
    Ok(Step {
        id: table.required("id")?.text()?,
        group: table.required("group")?.text()?,
        command,
        script: script(table.required("workload")?, context.folder)?,
        options: table.optional("options").map_or(Ok(BTreeMap::new()), scalars)?,
        operation: table.required("operation")?.one_of("operation", &OPERATIONS)?,
        clients: pace.clients,
        seconds: pace.seconds,
        warmup_seconds: pace.warmup_seconds,
        settle_seconds_max: pace.settle_seconds_max,
        slicing: pace.slicing,
        rate,
        background,
        drain: table.optional("drain").map_or(Ok(false), Value::truth)?,
        repeats: table.optional("repeats").map(Value::text).transpose()?,
        before: table.optional("before").map(Value::text).transpose()?,
        after: table.optional("after").map(Value::text).transpose()?,
    })
}

fn background(value: Value<'_>, context: &ParseContext<'_>) -> Result<Background, Mistake> {
    let keys = ["id", "workload", "options", "operation", "clients"];
    let mut table = value.table("a [[step.background]]", &keys)?;
    Ok(Background {
        id: table.required("id")?.text()?,
        script: script(table.required("workload")?, context.folder)?,
        options: table.optional("options").map_or(Ok(BTreeMap::new()), scalars)?,
        operation: table.required("operation")?.one_of("operation", &OPERATIONS)?,
        clients: table.required("clients")?.whole(CLIENTS)? as u32,
    })
}

/// Reads numbers of clients, without repetition.
pub(super) fn clients(value: Value<'_>) -> Result<Vec<u32>, Mistake> {
    let mut clients = Vec::new();
    for value in value.list("a list of whole numbers")? {
        let span = value.span.clone();
        let number = value.whole(CLIENTS)? as u32;
        if clients.contains(&number) {
            return Err((span, Problem::Repeated { key: "clients".to_owned(), value: number.to_string() }));
        }
        clients.push(number);
    }
    Ok(clients)
}

/// Reads a rate: events a second, or points in time between which the rate changes linearly.
fn rate(value: Value<'_>, spacing: Spacing) -> Result<Rate, Mistake> {
    if !value.is_list() {
        return Ok(Rate { spacing, ..Rate::steady(value.positive()?) });
    }
    let mut points: Vec<RatePoint> = Vec::new();
    for value in value.list("a number, or a list of points in time")? {
        let span = value.span.clone();
        let mut table = value.table("a point of a rate", &["at_seconds", "per_second"])?;
        let point = RatePoint {
            at_seconds: table.required("at_seconds")?.seconds(true)?,
            per_second: table.required("per_second")?.number_from_0()?,
        };
        if points.last().is_some_and(|last| last.at_seconds > point.at_seconds) {
            let wanted = "in order of time".to_owned();
            return Err((span, Problem::OutOfRange { key: "at_seconds".to_owned(), wanted }));
        }
        points.push(point);
    }
    Ok(Rate { points, spacing })
}

/// Reads a workload: a path if it looks like one, otherwise the name of a built-in workload.
fn script(value: Value<'_>, folder: &Path) -> Result<Script, Mistake> {
    let span = value.span.clone();
    let name = value.text()?;
    if name.contains('/') || Path::new(&name).extension().is_some_and(|extension| extension == "lua") {
        let path = folder.join(&name);
        let source = fs::read_to_string(&path).map_err(|error| {
            (span, Problem::Workload { path: path.display().to_string(), reason: error.to_string() })
        })?;
        return Ok(Script {
            name,
            source,
            search_path: path.parent().map(Path::to_owned).into_iter().collect(),
        });
    }
    match builtin_workload(&name) {
        Some(source) => Ok(Script { name, source: source.to_owned(), search_path: Vec::new() }),
        None => Err((
            span,
            Problem::UnknownName {
                kind: "built-in workload",
                name,
                known: builtin_workloads().into_iter().map(str::to_owned).collect(),
            },
        )),
    }
}
