//! Reads and checks a plan file.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dyno_engine::Catalogue;
use dyno_store::Correction;
use serde::Deserialize;

use super::context::{Builds, ParseContext};
use super::derive::scale::ScaleKey;
use super::keys::claim::ClaimTable;
use super::keys::crash::CrashTable;
use super::keys::loads::{Loads, RoundsPerLoad, rounds_per_load};
use super::keys::rounds::{LeaveDecided, RoundsKey, RoundsMax, rounds};
use super::keys::steps::drivers::{self, DriversKey};
use super::keys::steps::slicing::{self, Slicing};
use super::keys::steps::step::{Pace, Step, StepTable};
use super::keys::steps::suite;
use super::keys::systems::confinement::Limits;
use super::keys::systems::ladder::{LadderTable, ladders};
use super::keys::systems::system::{Defaults, System, SystemTable, profile};
use super::syntax::de::{self, Read};
use super::syntax::error::{PlanError, Problem};
use super::syntax::mistake::{Mistake, Mistakes};
use super::syntax::value::{Above0, At, Clients, From0, Name, Number, Whole, each, each_several};
use super::{BetweenSteps, Data, Freeze, KeepCoresAwake, PinThreads, Plan, Rounds};
use crate::records;

/// An experiment.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(transform = super::schema::keys_together))]
#[serde(deny_unknown_fields)]
pub(super) struct PlanTable {
    /// The name under which runs are listed.
    name: Name,
    /// What the plan is about, in a line.
    title: String,
    /// The id of the system that the others are compared with. If it is a sweep, the base is its first configuration.
    base: At<String>,
    /// The id of a system that stays the same while others change. `dyno history`, and `dyno compare` of runs, show the
    /// others as multiples of it. This removes changes of the machine from one day to the next; docs/do/plans.md.
    anchor: Option<At<String>>,
    /// Number of rounds. In each round every system starts anew and runs all steps.
    rounds: Option<At<RoundsKey>>,
    /// With until-decided: the maximum number of rounds.
    #[cfg_attr(test, schemars(extend("default" = super::keys::rounds::UNTIL_DECIDED)))]
    rounds_max: Option<At<RoundsMax>>,
    /// With until-decided: stop measuring a test once it is decided, unless later steps of the round need what it
    /// writes.
    #[serde(default)]
    leave_decided: LeaveDecided,
    /// Duration of the whole run, instead of rounds. The first rounds determine the number of rounds and the
    /// seconds of a trial.
    budget_seconds: Option<At<Above0>>,
    /// How verdicts account for the number of tests. "max-t" limits the probability of any false alarm, using
    /// the rounds that tests share. "holm" does so using the p-value of each test alone. "fdr" limits the
    /// share of false alarms among all alarms. "none" judges each test alone; docs/understand/statistics.md.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["max-t", "holm", "fdr", "none"])))]
    correction: Correction,
    /// Whether later rounds restore the data of the first round, or load anew and measure the load.
    #[serde(default)]
    load: Loads,
    /// Number of rounds that use one load. The first of them loads anew, the others restore its data. Without
    /// it, all rounds use the first load. Reports show how much ratios vary between loads.
    rounds_per_load: Option<At<RoundsPerLoad>>,
    /// Read the tables and the log of a fresh instance before its first step after the loads.
    #[serde(default)]
    warm: bool,
    /// What is done to the systems between the steps of a round. By default "keep", or "restore" if a step replays
    /// traffic.
    between_steps: Option<BetweenSteps>,
    /// Start a system of a round only after the one before has run all steps and has stopped. Trials are then
    /// not cut into slices.
    #[serde(default)]
    one_at_a_time: bool,
    /// Skip a load if an earlier run kept the same data.
    #[serde(default)]
    reuse_data: bool,
    /// Keep idle cores of this host from halting while the plan runs, which needs root. "auto" does this if it is
    /// permitted.
    #[serde(default)]
    keep_cores_awake: KeepCoresAwake,
    /// Pin the server's connection threads, and the load, to cores of their own while systems take turns in
    /// slices, if there are at least twice as many cores as connections.
    #[serde(default)]
    pin_threads: PinThreads,
    /// Rerun a step up to N times if other processes or the hypervisor used the CPU. By default once, unless
    /// disturbed rounds count.
    rerun_disturbed: Option<Reruns>,
    /// Run the base a second time, as ID.control. A difference between the two is noise.
    #[serde(default)]
    aa_control: bool,
    /// Numbers of connections, unless a step has its own.
    clients: Clients,
    /// Measured time of a trial (one system in one round), unless a step has its own.
    seconds: Above0,
    /// Minimum warm-up before the measured time, unless a step has its own.
    #[serde(default)]
    warmup_seconds: From0,
    /// Longest warm-up while the rate rises or falls, unless a step has its own; 0 does not wait for a level.
    #[serde(default)]
    warmup_seconds_max: From0,
    /// Longest wait in a round until servers that were started are at rest; 0 does not wait.
    #[serde(default)]
    rest_seconds_max: RestSecondsMax,
    /// How a trial is cut into slices. Systems take turns slice by slice.
    slice_seconds: Option<At<Slicing>>,
    /// Freeze a server's processes while other systems have their slices, so that all its work falls into its
    /// own slices. Servers that Dyno has not started are not frozen.
    #[serde(default)]
    freeze: Freeze,
    /// Hosts that send the load, as `ssh://HOST`, unless a step has its own; docs/do/drivers.md.
    drivers: Option<At<DriversKey>>,
    /// The address of this host at which drivers reach the servers. Servers listen on it.
    listen: Option<At<String>>,
    /// A profile of settings for systems without one of their own.
    profile: Option<At<String>>,
    /// The systems' limits on the host; docs/do/confinement.md.
    confinement: Option<Limits>,
    /// The data set, given to every step.
    data: Option<DataTable>,
    /// Names for dyno run --scale.
    #[serde(default)]
    scale: BTreeMap<String, ScaleKey>,
    /// A built-in suite, or a .toml file with steps.
    suite: Option<At<String>>,
    /// The systems under test.
    system: Vec<At<SystemTable>>,
    /// The steps of a round, after those of the suite.
    #[serde(default)]
    step: Vec<At<StepTable>>,
    /// Claims about the results.
    #[serde(default)]
    claim: Vec<At<ClaimTable>>,
    /// Crash tests after the rounds; docs/do/crash.md.
    crash: Option<CrashTable>,
    /// Chains of systems. Reports show what each step of a chain costs.
    #[serde(default)]
    ladder: Vec<At<LadderTable>>,
    /// The servers' own names of counters that reports show, per operation; docs/reference/counters.md.
    #[serde(default)]
    #[cfg_attr(test, schemars(extend("uniqueItems" = true)))]
    counters: Vec<At<String>>,
}

// The limits below catch typing errors. Useful values are far below them.

type Reruns = Whole<0, 100>;

/// The plan's key `rest_seconds_max`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(transparent)]
struct RestSecondsMax(From0);

impl Default for RestSecondsMax {
    fn default() -> Self {
        Self(Number(15.0))
    }
}

/// The data set, given to every step.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct DataTable {
    /// How many tables.
    tables: Whole<1, 100_000>,
    /// Rows in each.
    rows: Whole<1, 1_000_000_000_000>,
}

impl Plan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid plan.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        Self::read_with(path, catalogue, Builds::Asked)
    }

    pub(super) fn read_with(path: &Path, catalogue: &Catalogue, builds: Builds) -> Result<Self, PlanError> {
        let file = path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new(""));
        match fs::read_to_string(path) {
            Ok(text) => {
                let files = &RefCell::default();
                Self::parse_with(&text, &file, &ParseContext { folder, catalogue, builds, files })
            }
            Err(error) => Err(Problem::Unreadable { path: file, reason: error.to_string() }.into()),
        }
    }

    /// Reads a plan from text. Errors name the text `file`. Paths of workloads and suites are relative to `folder`.
    ///
    /// # Errors
    /// The text, or that of its suite, is not a valid plan.
    pub fn parse(text: &str, file: &str, folder: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let files = &RefCell::default();
        Self::parse_with(text, file, &ParseContext { folder, catalogue, builds: Builds::Asked, files })
    }

    fn parse_with(text: &str, file: &str, context: &ParseContext<'_>) -> Result<Self, PlanError> {
        let plan = match de::read_rest(text, "the plan") {
            Read::Whole(table) => plan(table, context),
            Read::Rest(table, mistakes) => Err(with_names(mistakes, table, context)),
            Read::Nothing(mistakes) => Err(mistakes),
        };
        match plan {
            Ok(plan) => Ok(Self { text: text.to_owned(), files: context.files.take(), ..plan }),
            Err(mistake) => Err(mistake.in_file(file, text)),
        }
    }
}

/// Reads `table`, the rest of a plan whose structure has `mistakes`. Adds the unknown names in the rest to the
/// mistakes. Other mistakes in the rest are dropped, because the missing parts may be their cause.
fn with_names(mistakes: Mistake, table: PlanTable, context: &ParseContext<'_>) -> Mistake {
    let rest = plan(table, &ParseContext { builds: Builds::Unasked, ..*context });
    match rest.err().and_then(|others| others.only(&Problem::is_name)) {
        Some(names) => mistakes.and(names),
        None => mistakes,
    }
}

fn plan(table: PlanTable, context: &ParseContext<'_>) -> Result<Plan, Mistake> {
    let mut mistakes = Mistakes::default();
    let systems = systems(table.listen, table.profile, table.confinement, table.system, context);
    let systems = mistakes.or(systems, Vec::new());
    let has_systems = mistakes.is_empty();
    // If a system is wrong, an unknown name of a system is not reported, because that system may define the name.
    let is_known = |problem: &Problem| has_systems || !problem.is_unknown("system");
    let base = mistakes.or_if(&is_known, position(table.base, &systems, System::is_of), 0);
    let is_it = |system: &System, id: &str| system.id == id;
    let anchor = table.anchor.map(|named| position(named, &systems, is_it)).transpose();
    let anchor = mistakes.or_if(&is_known, anchor, None);
    let scales = table.scale.into_iter().map(|(name, scale)| Ok((name, scale.read(&systems)?)));
    let scales = mistakes.or_if(&is_known, scales.collect(), BTreeMap::new());
    let systems = with_control(systems, base, table.aa_control);
    let drivers = table.drivers.map(|key| drivers::hosts(key.into_inner())).transpose();
    let pace = Pace {
        systems: &systems,
        clients: mistakes.or(table.clients.read(), Vec::new()),
        seconds: table.seconds.0,
        warmup_seconds: table.warmup_seconds.0,
        warmup_seconds_max: table.warmup_seconds_max.0,
        slicing: mistakes.or(slicing::of_plan(table.slice_seconds, table.one_at_a_time), Slicing::default()),
        one_at_a_time: table.one_at_a_time,
        drivers: mistakes.or(drivers, None).unwrap_or_default(),
    };
    let steps = mistakes.or_if(&is_known, steps(table.suite, table.step, &pace, context), Vec::new());
    let between_steps = table.between_steps.unwrap_or_else(|| BetweenSteps::of(&steps));
    let rounds = rounds(table.rounds, table.rounds_max, table.budget_seconds);
    let rounds_per_load = rounds_per_load(table.rounds_per_load, table.load, table.reuse_data, &systems);
    let crash = table.crash.map(|crash| crash.read(&systems)).transpose();
    let plan = Plan {
        name: table.name.into_inner(),
        title: table.title,
        base,
        anchor,
        rounds: mistakes.or(rounds, Rounds::Fixed(1)),
        correction: table.correction,
        leave_decided: table.leave_decided,
        load_every_round: table.load == Loads::EveryRound,
        rounds_per_load: mistakes.or(rounds_per_load, None),
        warm: table.warm,
        between_steps,
        one_at_a_time: table.one_at_a_time,
        rerun_disturbed: table.rerun_disturbed.map(|times| times.0 as u32),
        reuse_data: table.reuse_data,
        keep_cores_awake: table.keep_cores_awake,
        pin_threads: table.pin_threads,
        freeze: table.freeze,
        rest_seconds_max: table.rest_seconds_max.0.0,
        data: table.data.map(|data| Data { tables: data.tables.0 as u32, rows: data.rows.0 }),
        steps,
        claims: Vec::new(),
        crash: mistakes.or_if(&is_known, crash, None),
        ladders: mistakes.or_if(&is_known, ladders(&systems, table.ladder), Vec::new()),
        counters: mistakes.or(counters(table.counters), Vec::new()),
        scales,
        scale: 1.0,
        systems,
        text: String::new(),
        files: Vec::new(),
        search: None,
    };
    mistakes.end(plan).and_then(|plan| with_claims(plan, table.claim))
}

/// Reads the systems. A system that does not set a key gets the plan's default.
fn systems(
    listen: Option<At<String>>,
    default_profile: Option<At<String>>,
    confinement: Option<Limits>,
    tables: Vec<At<SystemTable>>,
    context: &ParseContext<'_>,
) -> Result<Vec<System>, Mistake> {
    let mut mistakes = Mistakes::default();
    let listen = listen.map(|address| address.read(|address| drivers::address(&address))).transpose();
    let profile = default_profile.map(|name| name.read(|name| profile(&name, context))).transpose();
    let defaults = Defaults {
        listen: mistakes.or(listen, None),
        profile: mistakes.or(profile, None),
        confinement: confinement.map(|limits| limits.0).unwrap_or_default(),
    };
    let read = |system: SystemTable, earlier: &[System]| system.read(earlier, &defaults, context);
    let systems = each_several(Vec::new(), tables, "system", read, |system| &system.id);
    let systems = mistakes.or(systems, Vec::new());
    mistakes.end(systems)
}

/// Returns the position of the system that a key names.
fn position(
    named: At<String>,
    systems: &[System],
    is_it: impl Fn(&System, &str) -> bool,
) -> Result<usize, Mistake> {
    named.read(|id| {
        let found = systems.iter().position(|system| is_it(system, &id));
        found.ok_or_else(|| Problem::unknown("system", &id, systems.iter().map(|system| &system.id)))
    })
}

/// Returns the plan with its claims. Claims are read last, because they refer to all other parts.
fn with_claims(plan: Plan, tables: Vec<At<ClaimTable>>) -> Result<Plan, Mistake> {
    let systems: Vec<_> = (0..plan.systems.len()).map(|at| records::system(&plan, at)).collect();
    let steps = records::steps(&plan);
    let read = |claim: ClaimTable, _: &[_]| claim.read(&systems, &steps, &plan.counters);
    let claims = each(Vec::new(), tables, "claim", read, |claim| &claim.id)?;
    Ok(Plan { claims, ..plan })
}

fn counters(listed: Vec<At<String>>) -> Result<Vec<String>, Mistake> {
    let mut names: Vec<String> = Vec::new();
    for name in listed {
        if names.contains(&name) {
            return Err(name.wrong(format!("`counters` names `{}` twice; leave one of them out", *name)));
        }
        names.push(name.into_inner());
    }
    Ok(names)
}

/// Adds a copy of the base as its control if `has_control` is set.
fn with_control(mut systems: Vec<System>, base: usize, has_control: bool) -> Vec<System> {
    if has_control {
        systems.extend(systems.get(base).map(System::control));
    }
    systems
}

/// Reads the steps of the suite, and then those of the plan.
fn steps(
    suite: Option<At<String>>,
    own: Vec<At<StepTable>>,
    pace: &Pace<'_>,
    context: &ParseContext<'_>,
) -> Result<Vec<Step>, Mistake> {
    if suite.is_none() && own.is_empty() {
        return Err(Problem::MissingKey { table: "the plan".to_owned(), key: "step" }.into());
    }
    let mut mistakes = Mistakes::default();
    let of_suite = suite.map(|name| name.read(|name| suite::steps(&name, pace, context))).transpose();
    let of_suite = mistakes.or(of_suite, None).unwrap_or_default();
    let has_suite = mistakes.is_empty();
    let read = |table: StepTable, earlier: &[_]| table.read(earlier, pace, context);
    let steps = each(of_suite, own, "step", read, |step| &step.id);
    // If the suite is wrong, an unknown earlier step is not reported, because the suite may define that step.
    let is_known = |problem: &Problem| has_suite || !problem.is_unknown("earlier step");
    let steps = mistakes.or_if(&is_known, steps, Vec::new());
    mistakes.end(steps)
}
