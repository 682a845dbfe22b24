//! Reads and checks a plan file.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use dyno_engine::Catalogue;
use toml::Spanned;
use toml::de::DeTable;

use super::claim::claim;
use super::context::{ParseContext, each, syntax, top};
use super::error::{PlanError, Problem};
use super::rounds::{between_steps, rounds};
use super::scale::{Scale, scale};
use super::step::{Pace, Step, step};
use super::suite;
use super::system::{Defaults, System, system};
use super::table::{Mistake, Table, Value};
use super::{BetweenSteps, Data, KeepCoresAwake, Plan, renamed};
use crate::records;

/// Limits that catch typing errors. Each is far beyond what is useful.
const RERUNS: Range<u64> = 0..101;
const TABLES: Range<u64> = 1..100_001;
const ROWS: Range<u64> = 1..1_000_000_000_001;

pub(super) const KEYS: [&str; 26] = [
    "name",
    "title",
    "base",
    "rounds",
    "rounds_max",
    "budget_seconds",
    "load",
    "warm",
    "between_steps",
    "rerun_disturbed",
    "reuse_data",
    "keep_cores_awake",
    "aa_control",
    Pace::KEYS[0],
    Pace::KEYS[1],
    Pace::KEYS[2],
    Pace::KEYS[3],
    Pace::KEYS[4],
    Defaults::KEYS[0],
    Defaults::KEYS[1],
    "data",
    "scale",
    "suite",
    "system",
    "step",
    "claim",
];

const LOADS: [(&str, bool); 2] = [("once", false), ("every-round", true)];

impl Plan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// The file cannot be read, or is no valid plan.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let file = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &file, path.parent().unwrap_or(Path::new("")), catalogue),
            Err(error) => Err(Problem::Unreadable { path: file, reason: error.to_string() }.into()),
        }
    }

    /// Reads a plan's text. `file` names it in errors. Paths of workloads and suites are relative to
    /// `folder`.
    ///
    /// # Errors
    /// The text, or that of its suite, is no valid plan.
    pub fn parse(text: &str, file: &str, folder: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let at = |(span, problem): Mistake| PlanError::at(file, text, &span, problem);
        let table = DeTable::parse(text).map_err(|error| at(syntax(&error)))?;
        let plan = plan(table, &ParseContext { folder, catalogue }).map_err(at)?;
        plan.map(|plan| Self { text: text.to_owned(), ..plan }).map_err(|in_suite| *in_suite)
    }
}

fn plan(
    table: Spanned<DeTable<'_>>,
    context: &ParseContext<'_>,
) -> Result<Result<Plan, Box<PlanError>>, Mistake> {
    renamed::refuse(table.get_ref())?;
    let mut table = top("the plan", table, &KEYS)?;
    let pace = Pace::of_plan(&mut table)?;
    let defaults = Defaults::of_plan(&mut table, context)?;
    let read = |value: Value<'_>| system(value, &defaults, context);
    let systems = each(table.required("system")?, "system", read, |system| &system.id)?;
    let base = base(table.required("base")?, &systems)?;
    let steps = match steps(&mut table, &pace, context)? {
        Ok(steps) => steps,
        Err(in_suite) => return Ok(Err(in_suite)),
    };
    let has_control = flag(&mut table, "aa_control")?;
    let mut plan = Plan {
        name: table.required("name")?.text()?,
        title: table.required("title")?.text()?,
        base,
        rounds: rounds(&mut table)?,
        load_every_round: table.optional("load").map_or(Ok(false), |value| value.one_of("way", &LOADS))?,
        warm: flag(&mut table, "warm")?,
        between_steps: table.optional("between_steps").map_or(Ok(BetweenSteps::default()), between_steps)?,
        rerun_disturbed: table.optional("rerun_disturbed").map_or(Ok(0), |value| value.whole(RERUNS))? as u32,
        reuse_data: flag(&mut table, "reuse_data")?,
        keep_cores_awake: table
            .optional("keep_cores_awake")
            .map_or(Ok(KeepCoresAwake::default()), KeepCoresAwake::read)?,
        data: table.optional("data").map(data).transpose()?,
        steps,
        claims: Vec::new(),
        scales: table.optional("scale").map_or(Ok(BTreeMap::new()), scales)?,
        scale: 1.0,
        systems: with_control(systems, base, has_control),
        text: String::new(),
    };
    if let Some(list) = table.optional("claim") {
        let systems: Vec<_> = (0..plan.systems.len()).map(|at| records::system(&plan, at)).collect();
        let steps = records::steps(&plan);
        plan.claims = each(list, "claim", |value| claim(value, &systems, &steps), |claim| &claim.id)?;
    }
    Ok(Ok(plan))
}

/// A boolean key, false by default.
fn flag(table: &mut Table<'_>, key: &str) -> Result<bool, Mistake> {
    table.optional(key).map_or(Ok(false), Value::truth)
}

/// Adds the base a second time if the plan has `aa_control`.
fn with_control(mut systems: Vec<System>, base: usize, has_control: bool) -> Vec<System> {
    if has_control {
        systems.push(systems[base].twin());
    }
    systems
}

/// Reads the suite's steps, then the plan's own.
fn steps(table: &mut Table<'_>, pace: &Pace, context: &ParseContext<'_>) -> Result<suite::Steps, Mistake> {
    let mut steps = Vec::new();
    let mut span = 0..0;
    match table.optional("suite") {
        Some(value) => {
            span = value.span.clone();
            match suite::steps(value, pace, context)? {
                Ok(of_suite) => steps.extend(of_suite),
                error => return Ok(error),
            }
        }
        None => table.expect("step")?,
    }
    if let Some(list) = table.optional("step") {
        span = list.span.clone();
        let own: Vec<Step> = each(list, "step", |value| step(value, pace, context), |step| &step.id)?;
        if let Some(twice) = own.iter().find(|own| steps.iter().any(|step: &Step| step.id == own.id)) {
            return Err((span, Problem::Duplicate { kind: "step", id: twice.id.clone() }));
        }
        steps.extend(own);
    }
    match repeats_nothing(&steps) {
        Some(problem) => Err((span, problem)),
        None => Ok(Ok(steps)),
    }
}

/// Finds a step that `repeats` one that does not come before it.
fn repeats_nothing(steps: &[Step]) -> Option<Problem> {
    steps.iter().enumerate().find_map(|(at, step)| {
        let name = step.repeats.clone()?;
        let known: Vec<String> = steps[..at].iter().map(|earlier| earlier.id.clone()).collect();
        (!known.contains(&name)).then_some(Problem::UnknownName { kind: "earlier step", name, known })
    })
}

fn base(value: Value<'_>, systems: &[System]) -> Result<usize, Mistake> {
    let positions: Vec<_> = systems.iter().enumerate().map(|(at, system)| (system.id.as_str(), at)).collect();
    value.one_of("system", &positions)
}

fn data(value: Value<'_>) -> Result<Data, Mistake> {
    let mut table = value.table("[data]", &["tables", "rows"])?;
    Ok(Data {
        tables: table.required("tables")?.whole(TABLES)? as u32,
        rows: table.required("rows")?.whole(ROWS)?,
    })
}

fn scales(value: Value<'_>) -> Result<BTreeMap<String, Scale>, Mistake> {
    value.entries()?.into_iter().map(|(name, value)| Ok((name, scale(value)?))).collect()
}
