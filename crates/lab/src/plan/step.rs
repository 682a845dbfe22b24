//! The plan's tables `[[step]]`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dyno_load::{Rate, RatePoint, Script, Spacing, builtin_workload, builtin_workloads};
use dyno_store::Operation;
use serde::Deserialize;

use super::error::Problem;
use super::mistake::Mistake;
use super::read::{ParseContext, is_file};
use super::slicing::{self, Slicing};
use super::stacks::{self, StackSampling, StacksTable};
use super::value::{Above0, At, Clients, ClientsNumber, From0, Scalars, each};

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
    /// The operation that its rate counts.
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
    /// How stacks of servers are sampled; none to sample none.
    pub stacks: Option<StackSampling>,
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
    /// The operation that its rate counts.
    pub operation: Operation,
    /// Its connections, the same for every number of the step's clients.
    pub clients: u32,
}

/// A command of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// Fills the tables: `cleanup`, then `prepare`.
    Prepare,
    /// Runs events for a time.
    #[default]
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

/// A workload and how to run it.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(transform = super::schema::whole_trials))]
#[serde(deny_unknown_fields)]
pub(super) struct StepTable {
    /// Its name; a row of the reports.
    id: String,
    /// Its group in the reports.
    group: String,
    /// prepare fills the tables afresh.
    #[serde(default)]
    command: Command,
    /// A built-in workload (dyno workloads), or a .lua file beside the plan.
    workload: At<String>,
    /// The workload's options.
    #[serde(default)]
    options: Scalars,
    /// The operation that its rate counts.
    #[cfg_attr(test, schemars(with = "super::schema::Words<Operation>"))]
    operation: Operation,
    /// The earlier step that this one repeats. Reports show the effect of the steps between.
    repeats: Option<At<String>>,
    /// Numbers of connections, each tried in turn.
    clients: Option<Clients>,
    /// Measured time of a trial (one system in one round).
    seconds: Option<Above0>,
    /// Minimum warm-up before the measured time. It is not measured.
    warmup_seconds: Option<From0>,
    /// Longest warm-up while the rate rises or falls; 0 does not wait for a level.
    settle_seconds_max: Option<From0>,
    /// How a trial is cut into slices. Systems take turns slice by slice.
    slice_seconds: Option<At<Slicing>>,
    /// Events due a second (open loop): a number, or points between which it changes steadily.
    rate: Option<RateKey>,
    /// How arrivals are spaced.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "super::schema::Words<Spacing>"))]
    spacing: Spacing,
    /// Workloads that run all the time while the step's own is measured.
    #[serde(default)]
    background: Vec<At<BackgroundTable>>,
    /// Wait for pending writes after each trial.
    #[serde(default)]
    drain: bool,
    /// Sample the stacks of the server's threads, while the load runs once more, unmeasured.
    stacks: Option<At<StacksTable>>,
    /// A shell command before each trial.
    before: Option<String>,
    /// A shell command after each trial.
    after: Option<String>,
}

/// A workload that runs all the time while the step's own is measured.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct BackgroundTable {
    /// Its name; in reports it stands as STEP.NAME.
    id: String,
    /// A built-in workload or a .lua file.
    workload: At<String>,
    /// The workload's options.
    #[serde(default)]
    options: Scalars,
    /// The operation that its rate counts.
    #[cfg_attr(test, schemars(with = "super::schema::Words<Operation>"))]
    operation: Operation,
    /// Connections.
    clients: ClientsNumber,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum RateKey {
    #[serde(rename = "a number")]
    #[cfg_attr(test, schemars(untagged))]
    Steady(Above0),
    #[serde(rename = "a list")]
    #[cfg_attr(test, schemars(untagged))]
    Points(Vec<At<PointTable>>),
}

/// A point in time.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct PointTable {
    /// Seconds since the trial began.
    at_seconds: From0,
    /// Events a second.
    per_second: From0,
}

/// The plan's defaults for steps.
pub(super) struct Pace {
    pub(super) clients: Vec<u32>,
    pub(super) seconds: f64,
    pub(super) warmup_seconds: f64,
    pub(super) settle_seconds_max: f64,
    pub(super) slicing: Slicing,
    pub(super) one_at_a_time: bool,
}

impl StepTable {
    pub(super) fn read(
        self,
        earlier: &[Step],
        pace: &Pace,
        context: &ParseContext<'_>,
    ) -> Result<Step, Mistake> {
        let background = |table: BackgroundTable, _: &[_]| table.read(context);
        let background =
            each(Vec::new(), self.background, "background load", background, |background| &background.id)?;
        let whole =
            slicing::why_whole(self.command, self.rate.is_some(), !background.is_empty(), pace.one_at_a_time);
        let known = |name: String| match earlier.iter().find(|step| step.id == name) {
            Some(_) => Ok(name),
            None => Err(Problem::unknown("earlier step", &name, earlier.iter().map(|step| &step.id))),
        };
        Ok(Step {
            id: self.id,
            group: self.group,
            command: self.command,
            script: self.workload.read(|name| script(name, context.folder))?,
            options: self.options.0,
            operation: self.operation,
            clients: self.clients.map_or_else(|| Ok(pace.clients.clone()), Clients::read)?,
            seconds: self.seconds.map_or(pace.seconds, |seconds| seconds.0),
            warmup_seconds: self.warmup_seconds.map_or(pace.warmup_seconds, |seconds| seconds.0),
            settle_seconds_max: self.settle_seconds_max.map_or(pace.settle_seconds_max, |seconds| seconds.0),
            slicing: slicing::of_step(self.slice_seconds.as_ref(), pace.slicing, whole)?,
            rate: self.rate.map(|rate| rate.read(self.spacing)).transpose()?,
            background,
            drain: self.drain,
            stacks: stacks::of_step(self.stacks.as_ref(), self.command)?,
            repeats: self.repeats.map(|name| name.read(known)).transpose()?,
            before: self.before,
            after: self.after,
        })
    }
}

impl BackgroundTable {
    fn read(self, context: &ParseContext<'_>) -> Result<Background, Mistake> {
        Ok(Background {
            id: self.id,
            script: self.workload.read(|name| script(name, context.folder))?,
            options: self.options.0,
            operation: self.operation,
            clients: self.clients.0 as u32,
        })
    }
}

impl RateKey {
    fn read(self, spacing: Spacing) -> Result<Rate, Mistake> {
        let list = match self {
            Self::Steady(rate) => return Ok(Rate { spacing, ..Rate::steady(rate.0) }),
            Self::Points(list) => list,
        };
        if let Some(pair) = list.windows(2).find(|pair| pair[0].at_seconds.0 > pair[1].at_seconds.0) {
            let wanted = "in order of time".to_owned();
            return Err(pair[1].wrong(Problem::OutOfRange { key: "at_seconds".to_owned(), wanted }));
        }
        let point =
            |it: &At<PointTable>| RatePoint { at_seconds: it.at_seconds.0, per_second: it.per_second.0 };
        Ok(Rate { points: list.iter().map(point).collect(), spacing })
    }
}

/// Reads a workload: a path if it looks like one, otherwise the name of a built-in workload.
fn script(name: String, folder: &Path) -> Result<Script, Problem> {
    if is_file(&name, "lua") {
        let path = folder.join(&name);
        let source = fs::read_to_string(&path).map_err(|error| {
            Problem::Other(format!("cannot read the workload {}: {error}", path.display()))
        })?;
        return Ok(Script {
            name,
            source,
            search_path: path.parent().map(Path::to_owned).into_iter().collect(),
        });
    }
    match builtin_workload(&name) {
        Some(source) => Ok(Script { name, source: source.to_owned(), search_path: Vec::new() }),
        None => Err(Problem::unknown("built-in workload", &name, builtin_workloads())),
    }
}
