//! The plan's tables `[[step]]`.

pub(in crate::plan) mod endpoint;
mod traffic;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dyno_load::{Rate, RatePoint, Script, Spacing, builtin_workload, builtin_workloads, pgbench_workload};
use dyno_store::{FindRecord, Operation};
use serde::Deserialize;

use self::endpoint::Connects;
pub use self::endpoint::Endpoint;
pub use self::traffic::Traffic;
use self::traffic::{Allowed, OrderKey, PaceKey};
use crate::plan::keys::steps::background::{Background, BackgroundTable};
use crate::plan::keys::steps::drivers::{self, DriversKey};
use crate::plan::keys::steps::event::{self, EventTable, StepEvent, StepOfEvent};
use crate::plan::keys::steps::find::{self, FindTable};
use crate::plan::keys::steps::measure::Measure;
use crate::plan::keys::steps::queries::{EventsNumber, Explained, Queries, QueriesKeys};
use crate::plan::keys::steps::slicing::{self, Rest, Slicing};
use crate::plan::keys::steps::stacks::{self, StackSampling, StacksTable};
use crate::plan::keys::systems::system::System;
use crate::plan::read::{ParseContext, is_file};
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Clients, From0, Name, Scalars, Whole, each};

/// A workload and how it is run.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in this plan.
    pub id: String,
    /// Its group in the reports.
    pub group: String,
    pub measure: Measure,
    pub script: Script,
    /// The script's options; they override those of the data set.
    pub options: BTreeMap<String, String>,
    /// The operation that its rate counts.
    pub operation: Operation,
    /// Numbers of clients, measured one after the other.
    pub clients: Vec<u32>,
    /// Measured time of a trial (one system in one round), in seconds. A load runs to its end.
    pub seconds: f64,
    /// Shortest warm-up before that, in seconds.
    pub warmup_seconds: f64,
    /// Longest warm-up, in seconds, while the rate still rises or falls. 0 does not wait for a level rate.
    pub warmup_seconds_max: f64,
    /// The servers that its own load connects to.
    pub endpoint: Endpoint,
    /// Hosts from which the load comes, as `ssh://HOST`; empty if it comes from this one.
    pub drivers: Vec<String>,
    /// Rate of an open loop, in events a second over all connections; `None` for a closed loop.
    pub rate: Option<Rate>,
    /// The traffic that it replays, in place of a script's events.
    pub traffic: Option<Traffic>,
    /// Queries that take long: their limit, their plans and answers.
    pub queries: Queries,
    /// Background loads.
    pub background: Vec<Background>,
    /// What is done to its systems while its load runs.
    pub step_events: Vec<StepEvent>,
    /// Whether the systems' limits of I/O apply while it runs.
    pub limit_io: bool,
    /// Whether to wait for pending writes after each trial.
    pub drain: bool,
    /// How stacks of servers are sampled; `None` samples no stacks.
    pub stacks: Option<StackSampling>,
    /// The earlier step that this one repeats, to show the effect of the steps between.
    pub repeats: Option<String>,
    /// Whether the script's command `check` runs after each trial. The trial fails if it finds wrong data.
    pub check: bool,
    /// How often the system is killed under the load after each trial, then started again and checked.
    pub crashes: u32,
    /// A shell command that runs before each trial.
    pub before: Option<String>,
    /// A shell command that runs after each trial.
    pub after: Option<String>,
    /// Ids of the systems that do not run it.
    pub not_for: Vec<String>,
}

/// Built-in workloads that only read.
const READING: [&str; 8] = [
    "oltp_inlist_select",
    "oltp_point_select",
    "oltp_range_select",
    "oltp_read_only",
    "oltp_scan",
    "select_random_points",
    "select_random_ranges",
    "tpch",
];

/// A command of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Command {
    /// Fills the tables: `cleanup`, then `prepare`.
    Prepare,
    /// Runs events for a time.
    #[default]
    Run,
}

impl Command {
    /// Its name in plans and scripts.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Run => "run",
        }
    }

    /// The group of a step without the key `group`.
    fn group(self) -> &'static str {
        match self {
            Self::Prepare => "load",
            Self::Run => "tests",
        }
    }

    /// The operation of a step without the key `operation`.
    fn operation(self) -> Operation {
        match self {
            Self::Prepare => Operation::Row,
            Self::Run => Operation::Transaction,
        }
    }
}

impl Step {
    /// Whether it fills the tables.
    pub fn is_load(&self) -> bool {
        self.measure == Measure::Load
    }

    /// The command of its script.
    pub(crate) fn command(&self) -> Command {
        if self.is_load() { Command::Prepare } else { Command::Run }
    }

    /// The number of events that ends a trial, if one does.
    pub(crate) fn events(&self) -> Option<u32> {
        match self.measure {
            Measure::Events(events) => Some(events),
            _ => None,
        }
    }

    /// The limit of latency for which its trials search the highest rate. `None` if they do not search.
    pub(crate) fn search(&self) -> Option<FindRecord> {
        match self.measure {
            Measure::Search(find) => Some(find),
            _ => None,
        }
    }

    /// Whether servers are asked for the plans of all statements. They are not asked about a few long queries, because
    /// old servers execute parts of a query to explain it.
    pub(crate) fn notes_statements(&self) -> bool {
        !self.is_load() && self.queries.explain != Explained::Nothing && self.events().is_none()
    }

    /// Whether the system of this id runs it.
    pub fn is_for(&self, system: &str) -> bool {
        !self.not_for.iter().any(|without| without == system)
    }

    /// Whether it certainly changes no data: it only runs a built-in workload that reads.
    pub(crate) fn only_reads(&self) -> bool {
        let is_builtin = self.script.search_path.is_empty();
        let is_alone = self.background.is_empty()
            && self.step_events.is_empty()
            && self.before.is_none()
            && self.after.is_none()
            && self.crashes == 0
            && !self.check;
        let reads = is_builtin && READING.contains(&self.script.name.as_str());
        !self.is_load() && is_alone && reads
    }

    /// The step id of a background load in results and reports.
    pub fn background_id(&self, background: &Background) -> String {
        format!("{}.{}", self.id, background.id)
    }

    /// Sets its seconds. Scales the times at which background clients join, and those of its events.
    pub fn set_seconds(&mut self, seconds: f64) {
        let factor = seconds / self.seconds;
        self.background.iter_mut().for_each(|background| background.stretch(factor));
        self.step_events.iter_mut().for_each(|event| event.stretch(factor));
        self.seconds = seconds;
    }

    /// Whether something happens in it at a certain time: clients of a background load join, or it has events.
    pub(crate) fn has_time_axis(&self) -> bool {
        self.has_joins() || !self.step_events.is_empty()
    }

    /// Whether clients of a background load join over time.
    pub fn has_joins(&self) -> bool {
        self.background.iter().any(|background| !background.joins.is_empty())
    }
}

/// A workload and how to run it.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(transform = crate::plan::schema::whole_trials))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct StepTable {
    /// Its name; a row of the reports.
    id: String,
    /// Its group in the reports; by default `load` for a load and `tests` for other steps.
    group: Option<Name>,
    /// prepare drops the tables and fills them again.
    #[serde(default)]
    command: Command,
    /// A built-in workload (dyno workloads), a file beside the plan (.lua, or .pgbench, several with weights: a.pgbench@3,
    /// b.pgbench), or traffic to replay the traffic of a server.
    workload: At<String>,
    /// The traffic file that the workload traffic replays; docs/do/traffic.md.
    traffic: Option<At<String>>,
    /// How fast traffic is replayed: 1 (default) is as fast as it was logged.
    pace: Option<At<PaceKey>>,
    /// The order of statements that a replay keeps; by default that of each session.
    order: Option<At<OrderKey>>,
    /// What a replay may do beyond the databases of servers that Dyno starts.
    #[cfg_attr(test, schemars(extend("uniqueItems" = true)))]
    allow: Option<At<Vec<Allowed>>>,
    /// The workload's options.
    #[serde(default)]
    options: Scalars,
    /// The operation that its rate counts. By default, loads count rows and other steps count transactions,
    /// which are events.
    #[cfg_attr(test, schemars(with = "Option<crate::plan::schema::Words<Operation>>"))]
    operation: Option<Operation>,
    /// The earlier step that this one repeats. Reports show the effect of the steps between.
    repeats: Option<At<String>>,
    /// Numbers of connections, each tried in turn.
    clients: Option<Clients>,
    /// Measured time of a trial (one system in one round).
    seconds: Option<Above0>,
    /// Minimum warm-up before the measured time. It is not measured.
    warmup_seconds: Option<From0>,
    /// Longest warm-up while the rate still rises or falls; 0 does not wait for a level rate.
    warmup_seconds_max: Option<From0>,
    /// How a trial is cut into slices. Systems take turns slice by slice.
    slice_seconds: Option<At<Slicing>>,
    /// Which of a system's servers its load connects to.
    endpoint: Option<At<Endpoint>>,
    /// Hosts that send the load, as `ssh://HOST`, with the clients divided among them.
    drivers: Option<At<DriversKey>>,
    /// Events due a second (open loop): a number, or points in time between which it changes linearly.
    rate: Option<RateKey>,
    /// Search for the highest rate of events within a limit of latency.
    find: Option<At<FindTable>>,
    /// How arrivals are spaced (default poisson).
    #[cfg_attr(test, schemars(with = "Option<crate::plan::schema::Words<Spacing>>"))]
    spacing: Option<Spacing>,
    /// Number of events of a trial, over all clients, instead of its seconds. Such a trial has no warm-up.
    events: Option<At<EventsNumber>>,
    /// The longest time in which no statement of any client ends. After that, the trial fails and its server is
    /// restarted.
    event_seconds_max: Option<At<Above0>>,
    /// true also keeps the server's plan of the query that the workload's command explain prints; false never asks for
    /// plans of statements.
    explain: Option<At<bool>>,
    /// Compare the systems' answers: the rows that the workload's command answer prints, or those of all replayed statements.
    answers: Option<At<bool>>,
    /// Workloads that run while the step's own workload is measured.
    #[serde(default)]
    background: Vec<At<BackgroundTable>>,
    /// What is done to the system at certain times while the load continues.
    #[serde(default)]
    event: Vec<At<EventTable>>,
    /// false lifts the systems' limits of I/O during a load.
    limit_io: Option<At<bool>>,
    /// Wait for pending writes after each trial.
    #[serde(default)]
    drain: bool,
    /// Sample the stacks of the server's threads while the load is repeated without measurement.
    stacks: Option<At<StacksTable>>,
    /// Run the script's command `check` after each trial. If the check fails, the trial fails.
    #[serde(default)]
    check: bool,
    /// With check: number of crashes after each trial. Each crash kills the system under load; then the system is
    /// restarted and its data is checked.
    crashes: Option<At<Whole<1, 1000>>>,
    /// A shell command before each trial.
    before: Option<String>,
    /// A shell command after each trial.
    after: Option<String>,
    /// The systems, or sweeps, that do not run the step because they lack something that it needs.
    #[serde(default)]
    not_for: Vec<At<String>>,
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

/// The plan's defaults for steps, and its systems.
pub(in crate::plan) struct Pace<'a> {
    pub(in crate::plan) systems: &'a [System],
    pub(in crate::plan) clients: Vec<u32>,
    pub(in crate::plan) seconds: f64,
    pub(in crate::plan) warmup_seconds: f64,
    pub(in crate::plan) warmup_seconds_max: f64,
    pub(in crate::plan) slicing: Slicing,
    pub(in crate::plan) one_at_a_time: bool,
    pub(in crate::plan) drivers: Vec<String>,
}

/// What a trial of a step measures.
fn measure(command: Command, find: Option<FindRecord>, events: Option<u32>, slicing: Slicing) -> Measure {
    match (command, find, events) {
        (Command::Prepare, ..) => Measure::Load,
        (Command::Run, Some(find), _) => Measure::Search(find),
        (Command::Run, None, Some(events)) => Measure::Events(events),
        (Command::Run, None, None) => slicing.into(),
    }
}

impl StepTable {
    /// The keys that a search looks at.
    fn beside_a_search(&self, operation: Operation) -> find::Beside {
        find::Beside {
            command: self.command,
            operation,
            has_rate: self.rate.is_some(),
            has_spacing: self.spacing.is_some(),
            has_seconds: self.seconds.is_some(),
            has_background: !self.background.is_empty(),
        }
    }

    pub(in crate::plan) fn read(
        self,
        earlier: &[Step],
        pace: &Pace<'_>,
        context: &ParseContext<'_>,
    ) -> Result<Step, Mistake> {
        if *self.workload == traffic::WORKLOAD {
            return self.read_traffic(earlier, pace, context);
        }
        self.check_no_traffic()?;
        let seconds = self.seconds.map_or(pace.seconds, |seconds| seconds.0);
        let operation = self.operation.unwrap_or(self.command.operation());
        let obstacle = self.obstacle_to_events();
        let beside = self.beside_a_search(operation);
        let not_for = not_for(self.not_for, self.command, pace.systems)?;
        let connects = Connects {
            command: self.command,
            has_drivers: self.drivers.is_some() || !pace.drivers.is_empty(),
            systems: pace.systems,
            not_for: &not_for,
        };
        let endpoint = endpoint::read(self.endpoint.as_ref(), &connects)?;
        let background =
            |table: BackgroundTable, earlier: &[Background]| table.read(seconds, earlier, &connects, context);
        let background =
            each(Vec::new(), self.background, "background load", background, |background| &background.id)?;
        let keys = QueriesKeys {
            events: self.events,
            event_seconds_max: self.event_seconds_max,
            explain: self.explain,
            answers: self.answers,
        };
        let queries = keys.read(self.command, obstacle)?;
        let events = keys.events.map(|events| events.0 as u32);
        let clients = self.clients.map_or_else(|| Ok(pace.clients.clone()), Clients::read)?;
        let warmup = |own: Option<From0>, of_plan: f64| match own {
            _ if events.is_some() => 0.0,
            own => own.map_or(of_plan, |seconds| seconds.0),
        };
        let warmup_seconds_max = warmup(self.warmup_seconds_max, pace.warmup_seconds_max);
        let load = drivers::Load {
            command: self.command,
            has_find: self.find.is_some(),
            waits_for_level: warmup_seconds_max > 0.0,
            clients: &clients,
            events,
            systems: pace.systems,
            not_for: &not_for,
        };
        let drivers = drivers::of_step(self.drivers, &pace.drivers, &load)?;
        let rest = Rest {
            has_drivers: !drivers.is_empty(),
            has_find: self.find.is_some(),
            is_counted: events.is_some(),
            has_step_events: !self.event.is_empty(),
            has_replicas: has_replicas(pace.systems, &not_for),
        };
        let of_events = StepOfEvent {
            command: self.command,
            has_find: self.find.is_some(),
            is_counted: events.is_some(),
            has_drivers: !drivers.is_empty(),
            seconds,
            systems: pace.systems,
            not_for: &not_for,
        };
        let step_events = event::of_step(self.event, &of_events)?;
        let whole = slicing::why_whole(&beside, rest, pace.one_at_a_time);
        let find = self.find.map(|find| find::read(find, &beside)).transpose()?;
        let seconds = find.map_or(seconds, |(_, seconds_max)| seconds_max);
        let warmup_seconds = warmup(self.warmup_seconds, pace.warmup_seconds);
        let slicing = slicing::of_step(self.slice_seconds.as_ref(), pace.slicing, whole)?;
        let has_find = find.is_some();
        let measure = measure(self.command, find.map(|(find, _)| find), events, slicing);
        Ok(Step {
            id: self.id,
            group: self.group.map_or_else(|| self.command.group().to_owned(), Name::into_inner),
            measure,
            script: self.workload.read(|name| script(name, context))?,
            options: self.options.0,
            operation,
            clients,
            seconds,
            warmup_seconds,
            warmup_seconds_max,
            endpoint,
            drivers,
            rate: self.rate.map(|rate| rate.read(self.spacing.unwrap_or_default())).transpose()?,
            traffic: None,
            queries,
            background,
            step_events,
            limit_io: limit_io(self.limit_io, self.command)?,
            drain: self.drain,
            stacks: stacks::of_step(self.stacks.as_ref(), self.command, has_find)?,
            repeats: self.repeats.map(|name| name.read(|name| known(name, earlier))).transpose()?,
            check: self.check && self.command == Command::Run,
            crashes: crashes(self.crashes, self.check && self.command == Command::Run)?,
            before: self.before,
            after: self.after,
            not_for,
        })
    }
}

/// Whether a system of a step has replicas.
fn has_replicas(systems: &[System], not_for: &[String]) -> bool {
    systems.iter().any(|system| system.replication.is_some() && !not_for.contains(&system.id))
}

/// The name of an earlier step.
fn known(name: String, earlier: &[Step]) -> Result<String, Problem> {
    match earlier.iter().find(|step| step.id == name) {
        Some(_) => Ok(name),
        None => Err(Problem::unknown("earlier step", &name, earlier.iter().map(|step| &step.id))),
    }
}

fn limit_io(limit_io: Option<At<bool>>, command: Command) -> Result<bool, Mistake> {
    match limit_io {
        Some(limit_io) if command != Command::Prepare => {
            Err(limit_io.wrong("I/O limits are lifted only for loads; leave `limit_io` out".to_owned()))
        }
        limit_io => Ok(limit_io.is_none_or(|limit_io| *limit_io)),
    }
}

fn crashes(crashes: Option<At<Whole<1, 1000>>>, has_check: bool) -> Result<u32, Mistake> {
    match crashes {
        Some(crashes) if !has_check => Err(crashes.wrong(
            "nothing would be checked after a crash; add `check = true` to a step that runs".to_owned(),
        )),
        crashes => Ok(crashes.map_or(0, |crashes| crashes.0 as u32)),
    }
}

impl StepTable {
    /// The key that a step with `events` cannot have, and why.
    fn obstacle_to_events(&self) -> Option<(&'static str, &'static str)> {
        const NO_WARM_UP: &str = "such a trial has no warm-up";
        [
            (self.rate.is_some(), "rate", "an open loop ends by its time"),
            (self.find.is_some(), "find", "a search ends by its time"),
            (self.warmup_seconds.is_some(), "warmup_seconds", NO_WARM_UP),
            (self.warmup_seconds_max.is_some(), "warmup_seconds_max", NO_WARM_UP),
        ]
        .into_iter()
        .find_map(|(is_there, key, why)| is_there.then_some((key, why)))
    }
}

/// The ids of the systems that do not run a step: the named ones, those of the named sweeps, and the controls of both.
fn not_for(list: Vec<At<String>>, command: Command, systems: &[System]) -> Result<Vec<String>, Mistake> {
    let mut ids = Vec::new();
    for name in list {
        if command == Command::Prepare {
            return Err(name.wrong("a load is for all systems; leave `not_for` out".to_owned()));
        }
        let is_named = |system: &&System| {
            system.is_of(&name) || system.control_of.as_ref().is_some_and(|original| *original == *name)
        };
        let named: Vec<String> = systems.iter().filter(is_named).map(|system| system.id.clone()).collect();
        if named.is_empty() {
            return Err(name.wrong(Problem::unknown(
                "system",
                &name,
                systems.iter().map(|system| &system.id),
            )));
        }
        ids.extend(named);
        if systems.iter().all(|system| ids.contains(&system.id)) {
            return Err(name.wrong("`not_for` leaves the step without a system".to_owned()));
        }
    }
    Ok(ids)
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
pub(in crate::plan) fn script(name: String, context: &ParseContext<'_>) -> Result<Script, Problem> {
    if let Some(script) = pgbench_script(&name, context) {
        return script;
    }
    if is_file(&name, "lua") {
        let path = context.file(&name);
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

/// The scripts of pgbench that a workload names, if it does.
fn pgbench_script(name: &str, context: &ParseContext<'_>) -> Option<Result<Script, Problem>> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let script = pgbench_workload(name, |path| {
        let path = context.file(path);
        folders.extend(path.parent().map(Path::to_owned));
        fs::read_to_string(path)
    })?;
    let script = script.map(|script| Script { search_path: folders, ..script });
    Some(script.map_err(|error| Problem::Other(error.to_string())))
}

#[cfg(test)]
mod tests {
    use dyno_load::builtin_workloads;

    use super::READING;
    use crate::plan::testing::{TEXT, parse};

    #[test]
    fn each_built_in_workload_reads_or_may_write() {
        let writing: Vec<&str> =
            builtin_workloads().into_iter().filter(|name| !READING.contains(name)).collect();
        let expected = [
            "bulk_insert",
            "ch",
            "ibench",
            "oltp_delete",
            "oltp_inlist_update",
            "oltp_insert",
            "oltp_read_write",
            "oltp_update_index",
            "oltp_update_non_index",
            "oltp_write_only",
            "tpcb",
            "tpcc",
            "tprocc",
            "ycsb",
        ];
        assert_eq!(writing, expected);
        assert!(READING.iter().all(|name| builtin_workloads().contains(name)));
    }

    #[test]
    fn limits_of_io_are_lifted_for_loads_alone() {
        let of_load = TEXT.replace("operation = \"row\"", "operation = \"row\"\nlimit_io = false");
        let limited: Vec<bool> = parse(&of_load).unwrap().steps.iter().map(|step| step.limit_io).collect();
        assert_eq!(limited, [false, true]);
        assert!(parse(TEXT).unwrap().steps.iter().all(|step| step.limit_io));
        for value in [true, false] {
            let error = parse(&format!("{TEXT}limit_io = {value}\n")).unwrap_err().to_string();
            assert!(error.contains("I/O limits are lifted only for loads; leave `limit_io` out"), "{error}");
        }
    }
}
