//! Systems under test, as a plan describes them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use dyno_engine::{Dsn, EngineName, EngineNameError, Entry, Family, ImageName, Installation, SystemName};
use dyno_host::Confinement;
use dyno_settings::{Product, Profile};
use dyno_store::{Configuration, Price};
use serde::Deserialize;

use crate::plan::Plan;
use crate::plan::keys::systems::confinement::{self, Limits};
use crate::plan::keys::systems::image::{self, ImageFamily};
use crate::plan::keys::systems::ladder::{self, RungTable};
use crate::plan::keys::systems::price::PriceTable;
use crate::plan::keys::systems::sweep::{self, Seed, SweepKey, Variant};
use crate::plan::read::{Builds, ParseContext, is_file};
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Scalars};

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
    /// The address of this host on which its server takes connections of drivers; `None` accepts connections
    /// from this host only.
    pub listen: Option<IpAddr>,
    /// Price of its hardware, in US dollars an hour; `None` if the price is by a list, or not given.
    pub dollars_per_hour: Option<f64>,
    /// Price of its hardware by a list.
    pub price: Option<Price>,
    /// The id of the system that it repeats as a control.
    pub control_of: Option<String>,
    /// Its place in a sweep; `None` for a system of the plan itself.
    pub configuration: Option<Configuration>,
    /// The ladder that made it; `None` for a system of the plan itself.
    pub ladder: Option<String>,
    /// The settings that identify its loaded data, if the systems of its sweep or ladder share data: those of
    /// the first system. `None` for its own settings.
    pub data_settings: Option<BTreeMap<String, String>>,
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
    /// An image of a container.
    Image {
        name: ImageName,
        /// The installation in it. For an image that is not on this machine, what its name suggests.
        installation: Box<Installation>,
        /// The storage engine to use.
        storage_engine: Option<String>,
    },
    /// A running server. Dyno does not start, stop or confine it.
    Dsn {
        /// Its address, without a password in clear text.
        dsn: Box<Dsn>,
        /// The storage engine to use.
        storage_engine: Option<String>,
        /// Whether loads may drop tables that Dyno did not make.
        may_drop: bool,
        /// Whether the tables that loads make stay after the run.
        keep_data: bool,
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
            Self::Image { name, storage_engine, .. } => {
                with(format!("{}{name}", ImageName::PREFIX), storage_engine)
            }
            Self::Dsn { dsn, storage_engine, .. } => with(dsn.to_string(), storage_engine),
        }
    }

    /// The catalogue entry of the server to start; `None` for a server that runs already.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Catalogue { entry, .. } => Some(entry),
            Self::Basedir { installation, .. } | Self::Image { installation, .. } => {
                Some(&installation.entry)
            }
            Self::Dsn { .. } => None,
        }
    }

    /// What tells its server from others that the same name may mean at another time. None of a running server, and of an image that
    /// is not on this machine.
    pub fn build(&self) -> Option<String> {
        match self {
            Self::Catalogue { entry, .. } => Some(entry.to_string()),
            Self::Basedir { installation, .. } => Some(installation.fingerprint()),
            Self::Image { installation, .. } => installation.image(),
            Self::Dsn { .. } => None,
        }
    }

    /// Whether Dyno starts a server for it. It does not for a server that runs already, or for an engine
    /// inside the load process.
    pub fn starts_server(&self) -> bool {
        self.entry().is_some_and(|entry| entry.family.has_server())
    }

    /// Whether Dyno starts and stops the system. It does not for a server that runs already.
    pub fn is_started_by_dyno(&self) -> bool {
        !matches!(self, Self::Dsn { .. })
    }

    /// The storage engine to use; `None` leaves it to the server.
    pub fn storage_engine(&self) -> Option<&str> {
        match self {
            Self::Catalogue { name, .. } => name.storage_engine.as_deref(),
            Self::Basedir { storage_engine, .. }
            | Self::Image { storage_engine, .. }
            | Self::Dsn { storage_engine, .. } => storage_engine.as_deref(),
        }
    }
}

impl Plan {
    /// Lets loads on running servers drop tables that were there when the run began.
    pub fn allow_drops(&mut self) {
        for system in &mut self.systems {
            if let Source::Dsn { may_drop, .. } = &mut system.source {
                *may_drop = true;
            }
        }
    }
}

impl System {
    /// A copy of this system as its control. Differences between the two are noise.
    pub(in crate::plan) fn control(&self) -> Self {
        Self {
            id: format!("{}.control", self.id),
            control_of: Some(self.id.clone()),
            ladder: None,
            ..self.clone()
        }
    }

    /// This system with the settings and limits of a configuration, over those of a profile.
    fn configured(&self, variant: Variant, profile: Option<&Profile>) -> Result<Self, Mistake> {
        if let Some(twice) = variant.settings.keys().find(|setting| self.settings.contains_key(*setting)) {
            return Err(format!("`{twice}` is in `settings` and in `sweep`; leave one of them out").into());
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

    /// Whether `id` names it: its own id, or that of its sweep or ladder.
    pub(in crate::plan) fn is_of(&self, id: &str) -> bool {
        let sweep = self.configuration.as_ref().map(|configuration| configuration.sweep.as_str());
        self.id == id || sweep == Some(id) || self.ladder.as_deref() == Some(id)
    }

    /// The product, for its settings; `None` if only the server knows its version.
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
    /// With dsn: whether a load may drop tables that are in the database when the run begins and were not
    /// made by a run of Dyno.
    may_drop: Option<At<bool>>,
    /// With dsn: whether the tables that loads make stay in the database after the run.
    keep_data: Option<At<bool>>,
    /// With basedir, dsn or an image: the storage engine of the tables.
    storage_engine: Option<String>,
    /// With an image whose name does not say it: the family of its server.
    family: Option<At<ImageFamily>>,
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
    /// Systems that each differ from the one before by a step. Each has its own settings and those of the
    /// systems before it.
    ladder: Option<At<Vec<At<RungTable>>>>,
    /// Whether the systems of the sweep or ladder share the data that the first of them loads. Only for
    /// settings that do not change what is on the disk.
    share_data: Option<At<bool>>,
    /// Its limits on the host, instead of the plan's.
    confinement: Option<At<Limits>>,
    /// Price of an hour of its hardware, in US dollars.
    dollars_per_hour: Option<Above0>,
    /// Its hardware in a price list, instead of a price per hour.
    price: Option<At<PriceTable>>,
}

/// Defaults of systems.
#[derive(Default)]
pub(in crate::plan) struct Defaults {
    pub(in crate::plan) profile: Option<Profile>,
    pub(in crate::plan) confinement: Confinement,
    pub(in crate::plan) listen: Option<IpAddr>,
}

impl SystemTable {
    /// The system, or those of its sweep or ladder.
    pub(in crate::plan) fn read(
        mut self,
        defaults: &Defaults,
        context: &ParseContext<'_>,
    ) -> Result<Vec<System>, Mistake> {
        let source = self.source(context)?;
        let defaults = match source {
            Source::Dsn { .. } => &self.check_running().map(|()| Defaults::default())?,
            _ => defaults,
        };
        let own = self.profile.map(|name| name.read(|name| profile(&name, context))).transpose()?;
        let profile = own.as_ref().or(defaults.profile.as_ref());
        let is_unasked = context.builds == Builds::Unasked
            && matches!(source, Source::Basedir { .. } | Source::Image { .. });
        let translation = profile.filter(|_| !is_unasked);
        let plain = System {
            id: self.id.clone(),
            source,
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
        };
        if let (Some(price), Some(_)) = (&self.price, plain.dollars_per_hour) {
            let problem = "a system has a `price` or `dollars_per_hour`, not both; leave one of them out";
            return Err(price.wrong(problem.to_owned()));
        }
        if let (Some(share), None, None) = (&self.share_data, &self.sweep, &self.ladder) {
            return Err(share.wrong(sweep::pointless("share_data", "`sweep` or `ladder`")));
        }
        if let (Some(_), Some(ladder)) = (&self.sweep, &self.ladder) {
            return Err(ladder.wrong("a system has a `sweep` or a `ladder`, not both".to_owned()));
        }
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

    /// An error if the plan sets settings or limits of a server that runs already.
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

    /// Takes `family`, which only an image has.
    fn image_family(&mut self) -> Result<Option<Family>, Mistake> {
        let is_image = self.engine.as_ref().is_some_and(|engine| engine.starts_with(ImageName::PREFIX));
        match self.family.take() {
            Some(family) if !is_image => Err(family.wrong(
                "`family` is for an image (`engine = \"oci:NAME:TAG\"`); others tell it themselves, so leave it out"
                    .to_owned(),
            )),
            family => Ok(family.map(|family| At::into_inner(family).into())),
        }
    }

    /// Takes `may_drop` and `keep_data`, which only a running server has.
    fn tables(&mut self) -> Result<(bool, bool), Mistake> {
        let keys = [("may_drop", self.may_drop.take()), ("keep_data", self.keep_data.take())];
        let named = |dsn: &At<String>| Dsn::parse(dsn).map_or(true, |dsn| dsn.names_database());
        for (key, value) in &keys {
            let Some(value) = value else { continue };
            match &self.dsn {
                None => {
                    return Err(value
                        .wrong(format!("`{key}` is for a server that runs already (`dsn`); leave it out")));
                }
                Some(dsn) if **value && !named(dsn) => {
                    return Err(value.wrong(format!("`{key}` needs a database: name it in the `dsn`")));
                }
                Some(_) => {}
            }
        }
        let [may_drop, keep_data] = keys.map(|(_, value)| value.is_some_and(|value| *value));
        Ok((may_drop, keep_data))
    }

    /// Takes `engine`, `basedir` or `dsn`. Exactly one is required.
    fn source(&mut self, context: &ParseContext<'_>) -> Result<Source, Mistake> {
        let storage_engine = self.storage_engine.take();
        let family = self.image_family()?;
        let (may_drop, keep_data) = self.tables()?;
        match (self.basedir.take(), self.dsn.take(), self.engine.take()) {
            (None, None, Some(name)) => name.read(|name| {
                let name: EngineName = name.parse().map_err(|error: EngineNameError| error.to_string())?;
                named(name, family, storage_engine, context)
            }),
            (Some(path), None, None) => path.read(|path| {
                let name = match path.parse::<EngineName>() {
                    Ok(EngineName::Basedir(path)) => EngineName::Basedir(path),
                    // `build` is a folder too.
                    _ => EngineName::Basedir(path.into()),
                };
                named(name, None, storage_engine, context)
            }),
            (None, Some(dsn), None) => dsn.read(|dsn| {
                let dsn = dsn_without_secret(&dsn, context.folder)?;
                Ok::<_, Problem>(Source::Dsn { dsn: Box::new(dsn), storage_engine, may_drop, keep_data })
            }),
            (Some(_), Some(dsn), _) => {
                Err(dsn.wrong("a system has a `basedir` or a `dsn`, not both".to_owned()))
            }
            (_, _, Some(engine)) => {
                let problem =
                    "`engine` names an entry of the catalogue; with `basedir` or `dsn`, leave it out";
                Err(engine.wrong(problem.to_owned()))
            }
            (None, None, None) => {
                Err(Problem::MissingKey { table: "a [[system]]".to_owned(), key: "engine" }.into())
            }
        }
    }
}

/// Gives each configuration the price of its limits.
fn priced(systems: &mut [System], price: PriceTable, context: &ParseContext<'_>) -> Result<(), Mistake> {
    let price = price.read(context)?;
    for system in systems {
        system.price = Some(price.price(&system.confinement)?);
    }
    Ok(())
}

/// Reads a `dsn`. Its files for TLS are relative to the plan's folder. The plan's text is kept in the results
/// file, so a password in it is an error.
fn dsn_without_secret(text: &str, folder: &Path) -> Result<Dsn, Problem> {
    let dsn = Dsn::parse(text).map(|dsn| dsn.in_folder(folder));
    match dsn.and_then(|dsn| dsn.check_files().map(|()| dsn)) {
        Ok(dsn) if dsn.has_clear_password() => Err(Problem::Secret),
        Ok(dsn) => Ok(dsn),
        Err(error) => Err(Problem::Other(error.to_string())),
    }
}

/// The profile's settings overridden by the system's own, by the server's names.
pub(in crate::plan) fn translated(
    system: &System,
    profile: &Profile,
) -> Result<BTreeMap<String, String>, String> {
    let product = system
        .product()
        .ok_or_else(|| format!("`{}` has no version that settings are known for", system.id))?;
    let translation = profile.translate(&product, &system.settings);
    let error = |error| format!("the profile `{}` cannot be had for `{}`: {error}", profile.name, system.id);
    Ok(translation.map_err(error)?.settings)
}

/// Finds a profile: a `.toml` file, relative to the plan, or a built-in profile.
pub(in crate::plan) fn profile(name: &str, context: &ParseContext<'_>) -> Result<Profile, String> {
    let path = is_file(name, "toml").then(|| context.file(name).display().to_string());
    let found = Profile::find(path.as_deref().unwrap_or(name));
    found.map_err(|error| error.to_string())
}

/// What a name means. Folders are relative to the plan's.
pub(in crate::plan) fn named(
    name: EngineName,
    family: Option<Family>,
    storage_engine: Option<String>,
    context: &ParseContext<'_>,
) -> Result<Source, String> {
    match name {
        EngineName::Catalogue(name) => {
            let entry = context.catalogue.find(&name).map_err(|error| error.to_string())?;
            Ok(Source::Catalogue { entry: Box::new(entry), name })
        }
        EngineName::Basedir(path) => {
            let path = context.folder.join(path);
            let found = match context.builds {
                Builds::Asked => Installation::from_basedir(path),
                Builds::Unasked => Installation::from_basedir_unasked(path),
            };
            let installation = Box::new(found.map_err(|error| error.to_string())?);
            Ok(Source::Basedir { installation, storage_engine })
        }
        EngineName::Image(name) => {
            image::source(name, family, storage_engine, context.builds).map_err(|error| error.to_string())
        }
    }
}
