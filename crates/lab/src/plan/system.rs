//! Systems under test, as a plan describes them.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_engine::{Catalogue, Dsn, Entry, Installation, NameError, SystemName};
use dyno_host::Confinement;
use dyno_settings::{Product, Profile};

use super::confinement::confinement;
use super::context::{ParseContext, scalars};
use super::error::Problem;
use super::table::{Mistake, Table, Value};

pub(super) const KEYS: [&str; 9] = [
    "id",
    "engine",
    "basedir",
    "dsn",
    "storage_engine",
    Defaults::KEYS[0],
    "settings",
    Defaults::KEYS[1],
    "dollars_per_hour",
];

/// A system under test.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name in this plan.
    pub id: String,
    /// Where its engine comes from.
    pub source: Source,
    /// The profile that its settings come from.
    pub profile: Option<String>,
    /// Server variables by the server's own names, including those of the profile; for SQLite, pragmas.
    pub settings: BTreeMap<String, String>,
    /// What it may use of the host.
    pub confinement: Confinement,
    /// Price of its hardware, in US dollars an hour.
    pub dollars_per_hour: Option<f64>,
    /// The id of the system that it repeats as a control.
    pub twin_of: Option<String>,
}

/// Where a system's engine comes from.
#[derive(Clone, Debug)]
pub enum Source {
    Catalogue {
        /// Engine, version and storage engine, as the plan writes them.
        name: SystemName,
        /// The catalogue's entry of that name.
        entry: Box<Entry>,
    },
    /// A folder with a build.
    Basedir {
        /// The installation in that folder.
        installation: Box<Installation>,
        /// The storage engine to use.
        storage_engine: Option<String>,
    },
    /// A running server. Dyno does not start, stop or confine it.
    Dsn {
        /// Its address, without a password in clear.
        dsn: Box<Dsn>,
        /// The storage engine to use.
        storage_engine: Option<String>,
    },
}

impl Source {
    /// Engine and storage engine, such as `mariadb@10.11/rocksdb`.
    pub fn name(&self) -> String {
        let with = |name: String, storage_engine: &Option<String>| match storage_engine {
            Some(storage_engine) => format!("{name}/{storage_engine}"),
            None => name,
        };
        match self {
            Self::Catalogue { name, .. } => name.to_string(),
            Self::Basedir { installation, storage_engine } => {
                with(installation.entry.to_string(), storage_engine)
            }
            Self::Dsn { dsn, storage_engine } => with(dsn.to_string(), storage_engine),
        }
    }

    /// The catalogue entry of the server to start; none for a running server.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Catalogue { entry, .. } => Some(entry),
            Self::Basedir { installation, .. } => Some(&installation.entry),
            Self::Dsn { .. } => None,
        }
    }

    /// Whether Dyno starts a server: false for a running server, and for an engine inside the load process.
    pub fn starts_server(&self) -> bool {
        self.entry().is_some_and(|entry| entry.family.has_server())
    }

    /// Whether Dyno starts and stops the system: false for a running server.
    pub fn is_started_by_dyno(&self) -> bool {
        !matches!(self, Self::Dsn { .. })
    }

    /// The storage engine to use; none leaves it to the server.
    pub fn storage_engine(&self) -> Option<&str> {
        match self {
            Self::Catalogue { name, .. } => name.storage_engine.as_deref(),
            Self::Basedir { storage_engine, .. } | Self::Dsn { storage_engine, .. } => {
                storage_engine.as_deref()
            }
        }
    }
}

impl System {
    /// A copy of this system as its control: their difference is noise.
    pub(super) fn twin(&self) -> Self {
        Self { id: format!("{}.control", self.id), twin_of: Some(self.id.clone()), ..self.clone() }
    }

    /// The product, for its settings; none if only the server knows its version.
    pub(crate) fn product(&self) -> Option<Product> {
        Product::of(self.source.entry()?, self.source.storage_engine()).ok()
    }
}

/// Defaults of systems.
pub(super) struct Defaults {
    profile: Option<Profile>,
    confinement: Confinement,
}

impl Defaults {
    pub(super) const KEYS: [&'static str; 2] = ["profile", "confinement"];

    pub(super) fn of_plan(plan: &mut Table<'_>, context: &ParseContext<'_>) -> Result<Self, Mistake> {
        Ok(Self {
            profile: plan.optional("profile").map(|value| profile(value, context.folder)).transpose()?,
            confinement: plan.optional("confinement").map_or(Ok(Confinement::default()), confinement)?,
        })
    }
}

pub(super) fn system(
    value: Value<'_>,
    defaults: &Defaults,
    context: &ParseContext<'_>,
) -> Result<System, Mistake> {
    let span = value.span.clone();
    let mut table = value.table("a [[system]]", &KEYS)?;
    let id = table.required("id")?.text()?;
    let source = source(&mut table, context)?;
    if matches!(source, Source::Dsn { .. }) {
        return running(table, id, source);
    }
    let own = table.optional("profile").map(|value| profile(value, context.folder)).transpose()?;
    let profile = own.or_else(|| defaults.profile.clone());
    let mut system = System {
        id,
        source,
        profile: profile.as_ref().map(|profile| profile.name.clone()),
        settings: table.optional("settings").map_or(Ok(BTreeMap::new()), scalars)?,
        confinement: table
            .optional("confinement")
            .map_or_else(|| Ok(defaults.confinement.clone()), confinement)?,
        dollars_per_hour: table.optional("dollars_per_hour").map(Value::positive).transpose()?,
        twin_of: None,
    };
    if let Some(profile) = &profile {
        system.settings = translated(&system, profile).map_err(|error| (span, Problem::Other(error)))?;
    }
    Ok(system)
}

/// Reads a running server, whose settings and limits cannot be changed.
fn running(mut table: Table<'_>, id: String, source: Source) -> Result<System, Mistake> {
    for key in [Defaults::KEYS[0], "settings", Defaults::KEYS[1]] {
        if let Some(value) = table.optional(key) {
            let problem = format!(
                "a server that runs already cannot be given `{key}`; leave it out, or start the server from a plan"
            );
            return Err((value.span, Problem::Other(problem)));
        }
    }
    Ok(System {
        id,
        source,
        profile: None,
        settings: BTreeMap::new(),
        confinement: Confinement::default(),
        dollars_per_hour: table.optional("dollars_per_hour").map(Value::positive).transpose()?,
        twin_of: None,
    })
}

/// Reads `engine`, `basedir` or `dsn`, of which exactly one is required.
fn source(table: &mut Table<'_>, context: &ParseContext<'_>) -> Result<Source, Mistake> {
    let (basedir, dsn) = (table.optional("basedir"), table.optional("dsn"));
    let value = match (basedir, dsn) {
        (None, None) => return engine(table.required("engine")?, context.catalogue),
        (Some(value), None) => {
            let (span, path) = (value.span.clone(), context.folder.join(value.text()?));
            let found = Installation::from_basedir(&path);
            let installation = found.map_err(|error| (span, Problem::Other(error.to_string())))?;
            Source::Basedir { installation: Box::new(installation), storage_engine: storage_engine(table)? }
        }
        (None, Some(value)) => {
            Source::Dsn { dsn: dsn_without_secret(value)?, storage_engine: storage_engine(table)? }
        }
        (Some(_), Some(value)) => {
            return Err((
                value.span,
                Problem::Other("a system has a `basedir` or a `dsn`, not both".to_owned()),
            ));
        }
    };
    match table.optional("engine") {
        None => Ok(value),
        Some(engine) => {
            let problem = "`engine` names an entry of the catalogue; with `basedir` or `dsn`, leave it out";
            Err((engine.span, Problem::Other(problem.to_owned())))
        }
    }
}

fn storage_engine(table: &mut Table<'_>) -> Result<Option<String>, Mistake> {
    table.optional("storage_engine").map(Value::text).transpose()
}

/// Reads a `dsn`. The plan's text is kept in the results file, so a password in it is an error.
fn dsn_without_secret(value: Value<'_>) -> Result<Box<Dsn>, Mistake> {
    let span = value.span.clone();
    match Dsn::parse(&value.text()?) {
        Ok(dsn) if dsn.has_clear_password() => Err((span, Problem::Secret)),
        Ok(dsn) => Ok(Box::new(dsn)),
        Err(error) => Err((span, Problem::Other(error.to_string()))),
    }
}

/// The profile's settings overridden by the system's own, by the server's names.
pub(super) fn translated(system: &System, profile: &Profile) -> Result<BTreeMap<String, String>, String> {
    let product = system
        .product()
        .ok_or_else(|| format!("`{}` has no version that settings are known for", system.id))?;
    let translation = profile.translate(&product, &system.settings);
    let error = |error| format!("the profile `{}` cannot be had for `{}`: {error}", profile.name, system.id);
    Ok(translation.map_err(error)?.settings)
}

fn profile(value: Value<'_>, folder: &Path) -> Result<Profile, Mistake> {
    let span = value.span.clone();
    let name = value.text()?;
    let is_file = name.contains('/') || Path::new(&name).extension().is_some_and(|it| it == "toml");
    let found =
        if is_file { Profile::find(&folder.join(&name).display().to_string()) } else { Profile::find(&name) };
    found.map_err(|error| (span, Problem::Other(error.to_string())))
}

fn engine(value: Value<'_>, catalogue: &Catalogue) -> Result<Source, Mistake> {
    let span = value.span.clone();
    let name = value.text()?;
    let found = name.parse().map_err(|error: NameError| error.to_string()).and_then(|name: SystemName| {
        let entry = catalogue.find(&name).map_err(|error| error.to_string())?;
        Ok(Source::Catalogue { entry: Box::new(entry.clone()), name })
    });
    found.map_err(|error| (span, Problem::Other(error)))
}
