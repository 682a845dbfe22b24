//! From a TOML file to a checked [`Plan`].

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use dyno_engine::{Catalogue, Entry, NameError, SystemName};
use dyno_load::{Script, builtin_workload, builtin_workloads};
use dyno_store::Operation;
use toml::Spanned;
use toml::de::DeTable;

use super::error::{PlanError, Problem};
use super::table::{Mistake, Table, Value};
use super::{Command, Data, Plan, Step, System};

/// Limits that keep a typing error from asking for years of work; each is far beyond what is useful.
const TRIALS: Range<u64> = 1..1001;
const CLIENTS: Range<u64> = 1..100_001;
const TABLES: Range<u64> = 1..100_001;
const ROWS: Range<u64> = 1..1_000_000_000_001;

const COMMANDS: [(&str, Command); 2] = [("prepare", Command::Prepare), ("run", Command::Run)];
const OPERATIONS: [(&str, Operation); 3] =
    [("query", Operation::Query), ("transaction", Operation::Transaction), ("row", Operation::Row)];

impl Plan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// The file cannot be read, or says something that makes no sense.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let file = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &file, path.parent().unwrap_or(Path::new("")), catalogue),
            Err(error) => Err(Problem::Unreadable { path: file, reason: error.to_string() }.into()),
        }
    }

    /// Reads a plan's text. `file` names it in errors; workloads given by path are looked for in `folder`.
    ///
    /// # Errors
    /// The text says something that makes no sense.
    pub fn parse(text: &str, file: &str, folder: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let at = |(span, problem): Mistake| PlanError::at(file, text, &span, problem);
        let table = DeTable::parse(text).map_err(|error| {
            at((error.span().unwrap_or_default(), Problem::Syntax(error.message().trim().to_owned())))
        })?;
        plan(table, &Surroundings { folder, catalogue })
            .map(|plan| Self { text: text.to_owned(), ..plan })
            .map_err(at)
    }
}

/// What a plan's names refer to.
struct Surroundings<'a> {
    folder: &'a Path,
    catalogue: &'a Catalogue,
}

/// How long a step's trials take and at which concurrency, unless the step says otherwise.
struct Pace {
    clients: Vec<u32>,
    seconds: f64,
    warmup_seconds: f64,
}

fn plan(table: Spanned<DeTable<'_>>, around: &Surroundings<'_>) -> Result<Plan, Mistake> {
    let top = table.span().start..table.span().start;
    let table = Spanned::new(top, table.into_inner());
    let keys =
        ["name", "title", "base", "trials", "clients", "seconds", "warmup_seconds", "data", "system", "step"];
    let mut table = Table::new("the plan", table, &keys)?;
    let pace = Pace {
        clients: clients(table.required("clients")?)?,
        seconds: table.required("seconds")?.seconds(false)?,
        warmup_seconds: table.optional("warmup_seconds").map_or(Ok(0.0), |value| value.seconds(true))?,
    };
    let systems =
        each(table.required("system")?, "system", |value| system(value, around), |system| &system.id)?;
    Ok(Plan {
        name: table.required("name")?.text()?,
        title: table.required("title")?.text()?,
        base: base(table.required("base")?, &systems)?,
        trials: table.required("trials")?.whole(TRIALS)? as u32,
        data: table.optional("data").map(data).transpose()?,
        steps: each(table.required("step")?, "step", |value| step(value, &pace, around), |step| &step.id)?,
        systems,
        text: String::new(),
    })
}

/// Reads `[[system]]` or `[[step]]`, whose ids must differ.
fn each<'a, T>(
    list: Value<'a>,
    kind: &'static str,
    read: impl Fn(Value<'a>) -> Result<T, Mistake>,
    id: impl Fn(&T) -> &String,
) -> Result<Vec<T>, Mistake> {
    let mut items: Vec<T> = Vec::new();
    for value in list.list("a list of tables")? {
        let span = value.span.clone();
        let item = read(value)?;
        if items.iter().any(|other| id(other) == id(&item)) {
            return Err((span, Problem::Duplicate { kind, id: id(&item).clone() }));
        }
        items.push(item);
    }
    Ok(items)
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

fn system(value: Value<'_>, around: &Surroundings<'_>) -> Result<System, Mistake> {
    let mut table = value.table("a [[system]]", &["id", "engine", "settings"])?;
    let id = table.required("id")?.text()?;
    let (engine, entry) = engine(table.required("engine")?, around.catalogue)?;
    Ok(System {
        id,
        engine,
        entry,
        settings: table.optional("settings").map_or(Ok(BTreeMap::new()), scalars)?,
    })
}

fn engine(value: Value<'_>, catalogue: &Catalogue) -> Result<(SystemName, Entry), Mistake> {
    let span = value.span.clone();
    let name = value.text()?;
    let found = name.parse().map_err(|error: NameError| error.to_string()).and_then(|name: SystemName| {
        let entry = catalogue.find(&name).map_err(|error| error.to_string())?;
        Ok((name, entry.clone()))
    });
    found.map_err(|error| (span, Problem::Engine(error)))
}

fn step(value: Value<'_>, pace: &Pace, around: &Surroundings<'_>) -> Result<Step, Mistake> {
    let keys = [
        "id",
        "group",
        "command",
        "workload",
        "options",
        "operation",
        "clients",
        "seconds",
        "warmup_seconds",
    ];
    let mut table = value.table("a [[step]]", &keys)?;
    Ok(Step {
        id: table.required("id")?.text()?,
        group: table.required("group")?.text()?,
        command: table
            .optional("command")
            .map_or(Ok(Command::Run), |value| value.one_of("command", &COMMANDS))?,
        script: script(table.required("workload")?, around.folder)?,
        options: table.optional("options").map_or(Ok(BTreeMap::new()), scalars)?,
        operation: table.required("operation")?.one_of("operation", &OPERATIONS)?,
        clients: table.optional("clients").map_or(Ok(pace.clients.clone()), clients)?,
        seconds: table.optional("seconds").map_or(Ok(pace.seconds), |value| value.seconds(false))?,
        warmup_seconds: table
            .optional("warmup_seconds")
            .map_or(Ok(pace.warmup_seconds), |value| value.seconds(true))?,
    })
}

fn clients(value: Value<'_>) -> Result<Vec<u32>, Mistake> {
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

/// Settings and options: names with values.
fn scalars(value: Value<'_>) -> Result<BTreeMap<String, String>, Mistake> {
    value.entries()?.into_iter().map(|(key, value)| Ok((key, value.scalar()?))).collect()
}

/// A workload: a path where it looks like one, else the name of a built-in one.
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
