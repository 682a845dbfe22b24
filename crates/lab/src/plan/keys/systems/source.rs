//! The system keys that say where a system's engine comes from: `engine`, `basedir` and `dsn`, and keys that belong
//! to them.

use std::path::Path;

use dyno_engine::{Dsn, EngineName, EngineNameError, Entry, Family, ImageName, Installation, SystemName};

use crate::plan::Plan;
use crate::plan::context::{Builds, ParseContext};
use crate::plan::keys::systems::image::{self, ImageFamily};
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::At;

/// Where a system's engine comes from.
#[derive(Clone, Debug)]
pub enum Source {
    Catalogue {
        /// Engine, version and storage engine, as the plan writes them.
        name: SystemName,
        /// The catalogue's entry with that name.
        entry: Box<Entry>,
    },
    /// A build in a folder.
    Basedir {
        /// The installation in the folder.
        installation: Box<Installation>,
        /// The storage engine to use.
        storage_engine: Option<String>,
    },
    /// A container image.
    Image {
        name: ImageName,
        /// The installation in the image. If the image is not on this machine, the installation is guessed from the
        /// image's name.
        installation: Box<Installation>,
        /// The storage engine to use.
        storage_engine: Option<String>,
    },
    /// A server that runs already. Dyno does not start, stop or confine it.
    Dsn {
        /// The server's address, without a password in clear text.
        dsn: Box<Dsn>,
        /// The storage engine to use.
        storage_engine: Option<String>,
        /// Whether loads may drop tables that were there before the run and that Dyno did not make.
        may_drop: bool,
        /// Whether the tables of loads stay after the run.
        keep_data: bool,
    },
}

impl Source {
    /// Returns the engine and storage engine, such as `mariadb@10.11/rocksdb`.
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

    /// Returns the catalogue entry of the server to start. `None` for a running server.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Catalogue { entry, .. } => Some(entry),
            Self::Basedir { installation, .. } | Self::Image { installation, .. } => {
                Some(&installation.entry)
            }
            Self::Dsn { .. } => None,
        }
    }

    /// Returns the family of the server.
    pub fn family(&self) -> Family {
        match self {
            Self::Dsn { dsn, .. } => dsn.family(),
            Self::Catalogue { entry, .. } => entry.family,
            Self::Basedir { installation, .. } | Self::Image { installation, .. } => {
                installation.entry.family
            }
        }
    }

    /// Returns a text that identifies the build of the server, because the same name may mean another build later.
    /// `None` for a running server, and for an image that is not on this machine.
    pub fn build(&self) -> Option<String> {
        match self {
            Self::Catalogue { entry, .. } => Some(entry.fingerprint()),
            Self::Basedir { installation, .. } => Some(installation.fingerprint()),
            Self::Image { installation, .. } => installation.image(),
            Self::Dsn { .. } => None,
        }
    }

    /// Returns whether Dyno starts a server for the system. Running servers, and engines inside the load process,
    /// are not started.
    pub fn starts_server(&self) -> bool {
        self.entry().is_some_and(|entry| entry.family.has_server())
    }

    /// Returns whether Dyno starts and stops the system, as it does for all sources except running servers.
    pub fn is_started_by_dyno(&self) -> bool {
        !matches!(self, Self::Dsn { .. })
    }

    /// Returns the storage engine to use. `None` uses the server's default.
    pub fn storage_engine(&self) -> Option<&str> {
        match self {
            Self::Catalogue { name, .. } => name.storage_engine.as_deref(),
            Self::Basedir { storage_engine, .. }
            | Self::Image { storage_engine, .. }
            | Self::Dsn { storage_engine, .. } => storage_engine.as_deref(),
        }
    }

    fn set_storage_engine(&mut self, chosen: String) {
        match self {
            Self::Catalogue { name, .. } => name.storage_engine = Some(chosen),
            Self::Basedir { storage_engine, .. }
            | Self::Image { storage_engine, .. }
            | Self::Dsn { storage_engine, .. } => *storage_engine = Some(chosen),
        }
    }
}

impl Plan {
    /// Allows loads on running servers to drop tables that existed before the run.
    pub fn allow_drops(&mut self) {
        for system in &mut self.systems {
            if let Source::Dsn { may_drop, .. } = &mut system.source {
                *may_drop = true;
            }
        }
    }
}

/// The keys of a system that set where its engine comes from.
pub(in crate::plan) struct Keys {
    pub(in crate::plan) engine: Option<At<String>>,
    pub(in crate::plan) basedir: Option<At<String>>,
    pub(in crate::plan) dsn: Option<At<String>>,
    pub(in crate::plan) storage_engine: Option<At<String>>,
    pub(in crate::plan) family: Option<At<ImageFamily>>,
    pub(in crate::plan) may_drop: Option<At<bool>>,
    pub(in crate::plan) keep_data: Option<At<bool>>,
}

impl Keys {
    /// Reads `engine`, `basedir` or `dsn`. A system has exactly one of these keys.
    pub(in crate::plan) fn read(mut self, context: &ParseContext<'_>) -> Result<Source, Mistake> {
        let family = self.image_family()?;
        let (may_drop, keep_data) = self.tables()?;
        let source = match (self.basedir, self.dsn, self.engine) {
            (None, None, Some(name)) => name.read(|name| {
                let name: EngineName = name.parse().map_err(|error: EngineNameError| error.to_string())?;
                named(name, family, context)
            }),
            (Some(path), None, None) => path.read(|path| {
                let name = match path.parse::<EngineName>() {
                    Ok(EngineName::Basedir(path)) => EngineName::Basedir(path),
                    // The value of `basedir` is always the path of a folder, even if it has no `/`, such as `build`.
                    _ => EngineName::Basedir(path.into()),
                };
                named(name, None, context)
            }),
            (None, Some(dsn), None) => dsn.read(|dsn| {
                let dsn = Box::new(dsn_without_secret(&dsn, context.folder)?);
                Ok::<_, Problem>(Source::Dsn { dsn, storage_engine: None, may_drop, keep_data })
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
        }?;
        match self.storage_engine {
            Some(chosen) => chosen.read(|chosen| with_storage_engine(source, chosen, context.builds)),
            None => Ok(source),
        }
    }

    /// Removes the key `family` and returns its value. Only an image may have the key.
    fn image_family(&mut self) -> Result<Option<Family>, Mistake> {
        let is_image = self.engine.as_ref().is_some_and(|engine| engine.starts_with(ImageName::PREFIX));
        match self.family.take() {
            Some(family) if !is_image => Err(family.wrong(
                "`family` is for an image (`engine = \"oci:NAME:TAG\"`); others show their family themselves, so leave it out"
                    .to_owned(),
            )),
            family => Ok(family.map(|family| At::into_inner(family).into())),
        }
    }

    /// Removes the keys `may_drop` and `keep_data` and returns their values. Only a running server may have these
    /// keys.
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
}

/// Returns the source with the storage engine that the key `storage_engine` names, or an error if the key would have
/// no effect.
fn with_storage_engine(mut source: Source, chosen: String, builds: Builds) -> Result<Source, String> {
    if let Some(own) = source.storage_engine() {
        return Err(format!("`engine` names the storage engine `{own}` already; leave `storage_engine` out"));
    }
    // Names of storage engines in the catalogue are in lower case, so the chosen name is converted to lower case.
    let is_asked = builds == Builds::Asked || matches!(source, Source::Catalogue { .. });
    let chosen = match source.entry().filter(|_| is_asked) {
        Some(entry) => {
            let chosen = chosen.to_ascii_lowercase();
            entry.check_storage_engine(&chosen).map_err(|error| error.to_string())?;
            chosen
        }
        None => chosen,
    };
    if source.family() == Family::Postgres {
        return Err("PostgreSQL takes no storage engine; leave `storage_engine` out".to_owned());
    }
    source.set_storage_engine(chosen);
    Ok(source)
}

/// Reads a `dsn`. Its TLS files are relative to the plan's folder. A password in clear text is an error, because
/// the plan's text is kept in the results file.
fn dsn_without_secret(text: &str, folder: &Path) -> Result<Dsn, Problem> {
    let dsn = Dsn::parse(text).map(|dsn| dsn.in_folder(folder));
    match dsn.and_then(|dsn| dsn.check_files().map(|()| dsn)) {
        Ok(dsn) if dsn.has_clear_password() => Err(Problem::Secret),
        Ok(dsn) => Ok(dsn),
        Err(error) => Err(Problem::Other(error.to_string())),
    }
}

/// Finds the engine that a name means. Paths of folders are relative to the plan's folder.
pub(in crate::plan) fn named(
    name: EngineName,
    family: Option<Family>,
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
            Ok(Source::Basedir { installation, storage_engine: None })
        }
        EngineName::Image(name) => {
            image::source(name, family, context.builds).map_err(|error| error.to_string())
        }
    }
}
