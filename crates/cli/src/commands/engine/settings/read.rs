//! Starts a system and reads its settings.

use std::collections::BTreeMap;

use dyno_engine::{Cache, EngineName, Installation, Server, StartOptions, start};
use dyno_settings::{LeftOut, Product, Profile, SystemVariables, Translation, readings};
use serde::Serialize;
use serde_json::{Value, json};

/// The variables that a system reports, and the settings that it was started with.
#[derive(Debug, Serialize)]
pub(super) struct Read {
    /// The profile's name, if it has one.
    pub(super) profile: Option<String>,
    /// The settings of the profile that the version does not support.
    pub(super) left_out: Vec<LeftOut>,
    #[serde(flatten)]
    pub(super) variables: SystemVariables,
}

impl Read {
    /// Returns as JSON which system was read, and with which profile: everything except the variables and their values.
    pub(super) fn origin(&self) -> Value {
        let SystemVariables { label, product, .. } = &self.variables;
        json!({ "label": label, "product": product, "profile": self.profile, "left_out": self.left_out })
    }
}

/// Starts a system with a profile's settings, reads its variables, and stops it.
pub(super) fn read(
    cache: &Cache,
    installation: &Installation,
    name: &EngineName,
    profile: Option<&Profile>,
) -> anyhow::Result<Read> {
    let storage_engine = name.storage_engine();
    let product = Product::of(&installation.entry, storage_engine)?;
    let Translation { settings, left_out } = match profile {
        Some(profile) => profile.translate(&product, &BTreeMap::new())?,
        None => Translation::default(),
    };
    let mut label = match name.origin() {
        Some(origin) => format!("{origin} ({})", installation.entry),
        None => installation.entry.to_string(),
    };
    if let Some(storage_engine) = storage_engine {
        label = format!("{label}/{storage_engine}");
    }
    if let Some(profile) = profile {
        label = format!("{label} {}", profile.name);
    }
    let variables = if installation.entry.family.has_server() {
        let options = StartOptions {
            storage_engine: storage_engine.map(str::to_owned),
            settings: settings.clone(),
            ..StartOptions::new(cache.runs())
        };
        let server = start(installation, options)?;
        let variables = ask(&server, label, product)?;
        server.stop()?;
        variables
    } else {
        SystemVariables::new(label, product, dyno_lab::sqlite_variables(&cache.runs(), &settings)?)
    };
    Ok(mark(variables, &settings, profile.map(|profile| profile.name.clone()), left_out))
}

fn ask(server: &Server, label: String, product: Product) -> anyhow::Result<SystemVariables> {
    let readings = readings(&product);
    let mut variables = SystemVariables::new(label, product, server.variables()?);
    for reading in readings {
        match reading.query() {
            Some(query) => variables.learn(*reading, &server.query(query)?.rows),
            None => variables.learn_help(&server.help()?.unwrap_or_default()),
        }
    }
    Ok(variables)
}

fn mark(
    mut variables: SystemVariables,
    settings: &BTreeMap<String, String>,
    profile: Option<String>,
    left_out: Vec<LeftOut>,
) -> Read {
    variables.mark_set(settings.keys().map(String::as_str));
    Read { profile, left_out, variables }
}
