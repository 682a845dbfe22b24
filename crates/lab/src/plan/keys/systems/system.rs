//! Systems under test, as a plan describes them.

mod effects;

use std::collections::BTreeMap;
use std::net::IpAddr;

use dyno_engine::Replication;
use dyno_host::Confinement;
use dyno_settings::{Product, Profile, plain_name};
use dyno_store::{Configuration, Price};
use serde::Deserialize;

use self::effects::{IN_PROCESS, without_effect};
use crate::plan::context::{Builds, ParseContext, is_file};
use crate::plan::keys::systems::confinement::{self, Limits};
use crate::plan::keys::systems::data::{self, SystemData};
use crate::plan::keys::systems::image::ImageFamily;
use crate::plan::keys::systems::ladder::{self, RungTable};
use crate::plan::keys::systems::pooler::{self, ProgramKey, SystemPooler};
use crate::plan::keys::systems::price::PriceTable;
use crate::plan::keys::systems::replication::{self, DelaySeconds, ModeKey, ReplicasNumber};
use crate::plan::keys::systems::source::{self, Source};
use crate::plan::keys::systems::sweep::{self, Seed, SweepKey, Variant};
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Scalars};

/// A system under test.
#[derive(Clone, Debug)]
pub struct System {
    /// Name of the system in this plan.
    pub id: String,
    /// Where the engine comes from.
    pub source: Source,
    /// How the system is replicated. `None` if it has no replicas.
    pub replication: Option<Replication>,
    /// The connection pooler in front of the server, if there is one.
    pub pooler: Option<SystemPooler>,
    /// Name of the profile from which settings were taken.
    pub profile: Option<String>,
    /// Server variables by the server's own names, including those of the profile. For SQLite, these are pragmas.
    pub settings: BTreeMap<String, String>,
    /// Limits of the system on the host.
    pub confinement: Confinement,
    /// The address of this host on which the server accepts connections of drivers. With `None`, it accepts
    /// connections from this host only.
    pub listen: Option<IpAddr>,
    /// Price of the hardware, in US dollars an hour. `None` if a price list gives the price, or if the plan has no
    /// price.
    pub dollars_per_hour: Option<f64>,
    /// Price of the hardware according to a price list.
    pub price: Option<Price>,
    /// If the system is a control: the id of the system that it repeats.
    pub control_of: Option<String>,
    /// The factors of a sweep with the system's levels. `None` if no sweep made the system.
    pub configuration: Option<Configuration>,
    /// Id of the ladder that made the system. `None` if no ladder made it.
    pub ladder: Option<String>,
    /// If the systems of a sweep or ladder share data: the settings of the first of them, which identify the loaded
    /// data. With `None`, the system's own settings identify its data.
    pub data_settings: Option<BTreeMap<String, String>>,
    /// The data with which the system starts. `None` for an empty database.
    pub data: Option<SystemData>,
}

impl System {
    /// Returns a copy of this system as its control. Differences between the two are noise.
    pub(in crate::plan) fn control(&self) -> Self {
        Self {
            id: format!("{}.control", self.id),
            control_of: Some(self.id.clone()),
            ladder: None,
            ..self.clone()
        }
    }

    /// Returns this system with the settings and limits of a variant. The variant's settings override those of the
    /// profile.
    fn configured(&self, variant: Variant, profile: Option<&Profile>) -> Result<Self, Mistake> {
        let is_own = |setting: &str| self.settings.keys().any(|own| plain_name(own) == plain_name(setting));
        if let Some(twice) = variant.settings.keys().find(|setting| is_own(setting)) {
            return Err(format!("`{twice}` is in `settings` and in `sweep`; leave one of them out").into());
        }
        if let Some(problem) = without_effect(&self.source, &variant.settings) {
            return Err(problem.into());
        }
        if !variant.limits.is_empty() && !self.source.family().has_server() {
            return Err(IN_PROCESS.to_owned().into());
        }
        let mut system = Self {
            id: format!("{}{}", self.id, variant.suffix),
            confinement: confinement::with_limits(&self.confinement, &variant.limits)?,
            configuration: variant.configuration,
            ..self.clone()
        };
        system.settings.extend(variant.settings);
        if let Some(profile) = profile {
            system.settings = translated(&system, profile)?;
        }
        Ok(system)
    }

    /// Returns whether `id` is the id of this system, or of its sweep or ladder.
    pub(in crate::plan) fn is_of(&self, id: &str) -> bool {
        let sweep = self.configuration.as_ref().map(|configuration| configuration.sweep.as_str());
        self.id == id || sweep == Some(id) || self.ladder.as_deref() == Some(id)
    }

    /// Returns the product, which decides the names of settings. `None` if only the server knows its version.
    pub(crate) fn product(&self) -> Option<Product> {
        Product::of(self.source.entry()?, self.source.storage_engine()).ok()
    }
}

/// A system under test.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(transform = crate::plan::schema::one_source))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct SystemTable {
    /// Its name; a column of the reports.
    id: String,
    /// `ENGINE[@VERSION][/STORAGE-ENGINE]` of the catalogue (dyno engine list), `oci:NAME[:TAG]`, an image of a container, or the
    /// folder of a build, which begins with `/`, `.` or `~/`.
    engine: Option<At<String>>,
    /// The folder of a build.
    basedir: Option<At<String>>,
    /// A server that runs already: `mysql://user:${PASSWORD}@host/database`.
    dsn: Option<At<String>>,
    /// With dsn: whether a load may drop tables that were in the database before the run and that no run of Dyno made.
    may_drop: Option<At<bool>>,
    /// With dsn: whether the tables that loads make stay in the database after the run.
    keep_data: Option<At<bool>>,
    /// The storage engine of the tables, if `engine` does not name it.
    storage_engine: Option<At<String>>,
    /// The family of the server in an image, if the image's name does not show it.
    family: Option<At<ImageFamily>>,
    /// Number of replicas: servers with the same settings, data and limits, which follow it; docs/do/topologies.md.
    replicas: Option<At<ReplicasNumber>>,
    /// What a commit waits for: asynchronous (default) no replica, semi-synchronous one that has received it, synchronous all.
    replication: Option<At<ModeKey>>,
    /// Time for which replicas hold back what they have received, in seconds.
    replica_delay_seconds: Option<At<DelaySeconds>>,
    /// A connection pooler between its load and its server; docs/do/topologies.md.
    pooler: Option<At<ProgramKey>>,
    /// The pooler's settings, by its own names.
    pooler_settings: Option<At<Scalars>>,
    /// A profile of settings; docs/reference/settings.md.
    profile: Option<At<String>>,
    /// Server variables, which override those of the profile; for SQLite, pragmas.
    settings: Option<At<Scalars>>,
    /// Settings whose values are tried in all combinations, or a list of configurations. Each makes a system
    /// of its own.
    sweep: Option<At<SweepKey>>,
    /// The share of the sweep's combinations to try. The choice is balanced.
    sweep_fraction: Option<At<Above0>>,
    /// The seed of that choice.
    sweep_seed: Option<At<Seed>>,
    /// Systems that each add one change to the one before. Each has the changes of all systems before it.
    ladder: Option<At<Vec<At<RungTable>>>>,
    /// Whether the systems of the sweep or ladder share the data that the first of them loads. Set it only if the
    /// settings do not change what is on disk.
    share_data: Option<At<bool>>,
    /// The data with which it starts in every round, each time on a new copy: a folder of data, a dump, or a script
    /// (`.lua`) whose command `prepare` makes the tables.
    data: Option<At<String>>,
    /// Instead of data: an earlier system, whose data is upgraded to this version.
    upgrade_of: Option<At<String>>,
    /// With data or `upgrade_of`: a file of SQL that is executed on it once, such as new indexes. Statistics are not
    /// collected afterwards.
    data_sql: Option<At<String>>,
    /// With data or `upgrade_of`: the database that it is in, if there are several.
    database: Option<At<String>>,
    /// Its limits on the host, instead of the plan's.
    confinement: Option<At<Limits>>,
    /// Price of an hour of its hardware, in US dollars.
    dollars_per_hour: Option<Above0>,
    /// Its hardware in a price list, instead of a price per hour.
    price: Option<At<PriceTable>>,
}

/// The plan's values for systems that do not set their own.
#[derive(Default)]
pub(in crate::plan) struct Defaults {
    pub(in crate::plan) profile: Option<Profile>,
    pub(in crate::plan) confinement: Confinement,
    pub(in crate::plan) listen: Option<IpAddr>,
}

impl SystemTable {
    /// Returns the system, or the systems of its sweep or ladder.
    pub(in crate::plan) fn read(
        mut self,
        earlier: &[System],
        defaults: &Defaults,
        context: &ParseContext<'_>,
    ) -> Result<Vec<System>, Mistake> {
        let source = self.source_keys().read(context)?;
        let data = self.data_keys().read(&source, earlier, context)?;
        let defaults = match source {
            Source::Dsn { .. } => &self.check_running().map(|()| Defaults::default())?,
            _ => defaults,
        };
        self.check_effects(&source, &defaults.confinement)?;
        let replication = self.replication_keys().read(&source, data.is_some())?;
        let pooler = pooler::Keys { pooler: self.pooler.take(), settings: self.pooler_settings.take() };
        let pooler = pooler.read(&source)?;
        let own = self.profile.map(|name| name.read(|name| profile(&name, context))).transpose()?;
        let profile = own.as_ref().or(defaults.profile.as_ref());
        let is_unasked = context.builds == Builds::Unasked
            && matches!(source, Source::Basedir { .. } | Source::Image { .. });
        let translation = profile.filter(|_| !is_unasked);
        let plain = System {
            id: self.id.clone(),
            source,
            replication,
            pooler,
            profile: profile.map(|profile| profile.name.clone()),
            settings: self.settings.map_or(BTreeMap::new(), |settings| settings.into_inner().0),
            confinement: self
                .confinement
                .map_or_else(|| defaults.confinement.clone(), |limits| limits.into_inner().0),
            listen: defaults.listen,
            dollars_per_hour: self.dollars_per_hour.map(|dollars| dollars.0),
            price: None,
            control_of: None,
            configuration: None,
            ladder: self.ladder.as_ref().map(|_| self.id.clone()),
            data_settings: None,
            data,
        };
        let place = self.sweep.as_ref().map(At::span).or(self.ladder.as_ref().map(At::span));
        let keys = sweep::Keys { sweep: self.sweep, fraction: self.sweep_fraction, seed: self.sweep_seed };
        let variants = match self.ladder {
            Some(ladder) => ladder.read(|rungs| ladder::rungs(rungs, &plain.settings))?,
            None => keys.variants(&plain.id)?,
        };
        let systems = variants.into_iter().map(|variant| plain.configured(variant, translation));
        let mut systems =
            systems.collect::<Result<Vec<System>, Mistake>>().map_err(|mistake| match place {
                Some(place) => mistake.or_at(place),
                None => mistake,
            })?;
        if let Some(price) = self.price {
            price.read(|price| priced(&mut systems, price, context))?;
        }
        if self.share_data.is_some_and(|share| *share) {
            let of_first = systems[0].settings.clone();
            for system in &mut systems {
                system.data_settings = Some(of_first.clone());
            }
        }
        Ok(systems)
    }

    fn data_keys(&mut self) -> data::Keys {
        data::Keys {
            data: self.data.take(),
            upgrade_of: self.upgrade_of.take(),
            data_sql: self.data_sql.take(),
            database: self.database.take(),
        }
    }

    fn source_keys(&mut self) -> source::Keys {
        source::Keys {
            engine: self.engine.take(),
            basedir: self.basedir.take(),
            dsn: self.dsn.take(),
            storage_engine: self.storage_engine.take(),
            family: self.family.take(),
            may_drop: self.may_drop.take(),
            keep_data: self.keep_data.take(),
        }
    }

    fn replication_keys(&mut self) -> replication::Keys {
        replication::Keys {
            replicas: self.replicas.take(),
            mode: self.replication.take(),
            delay_seconds: self.replica_delay_seconds.take(),
        }
    }

    /// Returns an error if the plan sets settings or limits of a running server (`dsn`).
    fn check_running(&self) -> Result<(), Mistake> {
        let given = |key| {
            format!(
                "a server that runs already cannot be given `{key}`; leave it out, or start the server from a plan"
            )
        };
        match self {
            Self { profile: Some(at), .. } => Err(at.wrong(given("profile"))),
            Self { settings: Some(at), .. } => Err(at.wrong(given("settings"))),
            Self { confinement: Some(at), .. } => Err(at.wrong(given("confinement"))),
            Self { sweep: Some(at), .. } => Err(at.wrong(given("sweep"))),
            Self { ladder: Some(at), .. } => Err(at.wrong(given("ladder"))),
            _ => Ok(()),
        }
    }
}

/// Sets the price of each system from its own limits.
fn priced(systems: &mut [System], price: PriceTable, context: &ParseContext<'_>) -> Result<(), Mistake> {
    let price = price.read(context)?;
    for system in systems {
        system.price = Some(price.price(&system.confinement)?);
    }
    Ok(())
}

/// Returns the profile's settings by the server's own names. The system's own settings override them.
pub(in crate::plan) fn translated(
    system: &System,
    profile: &Profile,
) -> Result<BTreeMap<String, String>, String> {
    let product = system
        .product()
        .ok_or_else(|| format!("`{}` has no version that settings are known for", system.id))?;
    let translation = profile.translate(&product, &system.settings);
    let error = |error| format!("the profile `{}` cannot be used for `{}`: {error}", profile.name, system.id);
    Ok(translation.map_err(error)?.settings)
}

/// Finds a profile: a `.toml` file, relative to the plan, or a built-in profile.
pub(in crate::plan) fn profile(name: &str, context: &ParseContext<'_>) -> Result<Profile, String> {
    let path = is_file(name, "toml").then(|| context.file(name).display().to_string());
    let found = Profile::find(path.as_deref().unwrap_or(name));
    found.map_err(|error| error.to_string())
}
