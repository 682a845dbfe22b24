//! The table `[[step]]`: its keys, and how they become a step.

pub(in crate::plan) mod traffic;

use dyno_load::Spacing;
use dyno_store::{FindRecord, Operation};
use serde::Deserialize;

use self::traffic::{Allowed, OrderKey, PaceKey};
use super::Step;
use super::checks::{crashes, has_replicas, known, limit_io, not_for};
use super::endpoint::{self, Connects, Endpoint};
use super::rate::RateKey;
use crate::plan::context::ParseContext;
use crate::plan::keys::steps::background::{Background, BackgroundTable};
use crate::plan::keys::steps::command::Command;
use crate::plan::keys::steps::drivers::{self, DriversKey};
use crate::plan::keys::steps::event::{self, EventTable, StepOfEvent};
use crate::plan::keys::steps::find::{self, FindTable};
use crate::plan::keys::steps::measure::Measure;
use crate::plan::keys::steps::queries::{EventsNumber, QueriesKeys};
use crate::plan::keys::steps::slicing::{self, Rest, Slicing};
use crate::plan::keys::steps::stacks::{self, StacksTable};
use crate::plan::keys::steps::workload::script;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Clients, From0, Name, Scalars, Whole, each};

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
    /// A built-in workload (dyno workloads), a file beside the plan (.lua, or .pgbench, several with weights:
    /// a.pgbench@3, b.pgbench), or traffic to replay the traffic of a server.
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
    /// A trial ends after this number of events of all clients together, and has no warm-up. `seconds` does not limit it.
    events: Option<At<EventsNumber>>,
    /// The longest time in which no statement of any client ends. After that, the trial fails and its server is
    /// restarted.
    event_seconds_max: Option<At<Above0>>,
    /// true also keeps the server's plan of the query that the workload's command explain prints; false never asks for
    /// plans of statements.
    explain: Option<At<bool>>,
    /// Compare the systems' answers: the rows that the workload's command answer prints, or those of all replayed
    /// statements.
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

/// Returns what a trial of a step measures.
fn measure(command: Command, find: Option<FindRecord>, events: Option<u32>, slicing: Slicing) -> Measure {
    match (command, find, events) {
        (Command::Prepare, ..) => Measure::Load,
        (Command::Run, Some(find), _) => Measure::Search(find),
        (Command::Run, None, Some(events)) => Measure::Events(events),
        (Command::Run, None, None) => slicing.into(),
    }
}

impl StepTable {
    /// Returns the keys that decide whether the step can have `find`.
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
            script: self.workload.read(|name| script(name, &self.options.0, context))?,
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

    /// Returns a key that excludes `events` in this step, and the reason.
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
