//! Systems under test, as a plan describes them.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_engine::{Catalogue, Entry, NameError, SystemName};
use dyno_host::Confinement;
use dyno_settings::{Product, Profile};

use super::confinement::confinement;
use super::error::Problem;
use super::read::{Surroundings, scalars};
use super::table::{Mistake, Table, Value};

/// A system under test.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name in this plan.
    pub id: String,
    /// Where its engine comes from.
    pub source: Source,
    /// The profile that its settings come from.
    pub profile: Option<String>,
    /// Server variables by the server's own names, those of the profile included; for SQLite, pragmas.
    pub settings: BTreeMap<String, String>,
    /// What it may use of the host.
    pub confinement: Confinement,
    /// What an hour of its hardware costs, in US dollars.
    pub dollars_per_hour: Option<f64>,
    /// The system that it repeats, so that their difference is noise.
    pub twin_of: Option<String>,
}

/// Where a system's engine comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// The catalogue.
    Catalogue {
        /// Engine, version and storage engine, as the plan writes them.
        name: SystemName,
        /// What the catalogue has under that name.
        entry: Box<Entry>,
    },
}

impl Source {
    /// Engine and storage engine in a word.
    pub fn name(&self) -> String {
        match self {
            Self::Catalogue { name, .. } => name.to_string(),
        }
    }

    /// What is started.
    pub fn entry(&self) -> &Entry {
        match self {
            Self::Catalogue { entry, .. } => entry,
        }
    }

    /// What the server is told to keep tables in; none leaves that to the server.
    pub fn storage_engine(&self) -> Option<&str> {
        match self {
            Self::Catalogue { name, .. } => name.storage_engine.as_deref(),
        }
    }
}

impl System {
    /// A second system just like this one: what differs between the two is noise.
    pub(super) fn twin(&self) -> Self {
        Self { id: format!("{}.again", self.id), twin_of: Some(self.id.clone()), ..self.clone() }
    }

    /// What settings are for.
    pub(crate) fn product(&self) -> Result<Product, String> {
        Product::of(self.source.entry(), self.source.storage_engine()).map_err(|error| error.to_string())
    }
}

/// What systems have unless they say otherwise.
pub(super) struct Defaults {
    profile: Option<Profile>,
    confinement: Confinement,
}

impl Defaults {
    pub(super) const KEYS: [&'static str; 2] = ["profile", "confinement"];

    pub(super) fn of_plan(plan: &mut Table<'_>, around: &Surroundings<'_>) -> Result<Self, Mistake> {
        Ok(Self {
            profile: plan.optional("profile").map(|value| profile(value, around.folder)).transpose()?,
            confinement: plan.optional("confinement").map_or(Ok(Confinement::default()), confinement)?,
        })
    }
}

pub(super) fn system(
    value: Value<'_>,
    defaults: &Defaults,
    around: &Surroundings<'_>,
) -> Result<System, Mistake> {
    let span = value.span.clone();
    let keys = ["id", "engine", Defaults::KEYS[0], "settings", Defaults::KEYS[1], "dollars_per_hour"];
    let mut table = value.table("a [[system]]", &keys)?;
    let own = table.optional("profile").map(|value| profile(value, around.folder)).transpose()?;
    let profile = own.or_else(|| defaults.profile.clone());
    let mut system = System {
        id: table.required("id")?.text()?,
        source: engine(table.required("engine")?, around.catalogue)?,
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

/// The profile's settings and, over them, the system's own, in the server's words.
fn translated(system: &System, profile: &Profile) -> Result<BTreeMap<String, String>, String> {
    let translation = profile.translate(&system.product()?, &system.settings);
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
