//! Systems under test, as a plan describes them.

use std::collections::BTreeMap;

use dyno_engine::{Catalogue, Entry, NameError, SystemName};

use super::error::Problem;
use super::read::{Surroundings, scalars};
use super::table::{Mistake, Value};

/// A system under test.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name in this plan.
    pub id: String,
    /// Where its engine comes from.
    pub source: Source,
    /// Server variables; for SQLite, pragmas.
    pub settings: BTreeMap<String, String>,
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

    /// Whether there is a server to start, rather than an engine inside the load process.
    pub fn has_server(&self) -> bool {
        match self {
            Self::Catalogue { entry, .. } => entry.family.has_server(),
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
}

pub(super) fn system(value: Value<'_>, around: &Surroundings<'_>) -> Result<System, Mistake> {
    let keys = ["id", "engine", "settings", "dollars_per_hour"];
    let mut table = value.table("a [[system]]", &keys)?;
    Ok(System {
        id: table.required("id")?.text()?,
        source: engine(table.required("engine")?, around.catalogue)?,
        settings: table.optional("settings").map_or(Ok(BTreeMap::new()), scalars)?,
        dollars_per_hour: table.optional("dollars_per_hour").map(Value::positive).transpose()?,
        twin_of: None,
    })
}

fn engine(value: Value<'_>, catalogue: &Catalogue) -> Result<Source, Mistake> {
    let span = value.span.clone();
    let name = value.text()?;
    let found = name.parse().map_err(|error: NameError| error.to_string()).and_then(|name: SystemName| {
        let entry = catalogue.find(&name).map_err(|error| error.to_string())?;
        Ok(Source::Catalogue { entry: Box::new(entry.clone()), name })
    });
    found.map_err(|error| (span, Problem::Engine(error)))
}
