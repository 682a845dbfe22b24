//! The system that a command is about.

use anyhow::ensure;
use clap::Args;
use dyno_engine::{Cache, Catalogue, EngineName, Installation, pull_image};

use crate::output;
use crate::progress::Fetching;

/// The system that a command is about.
#[derive(Debug, Args)]
pub(in crate::commands) struct SystemArgument {
    /// ENGINE[@VERSION][/STORAGE-ENGINE], such as mariadb@10.11/rocksdb; a folder with a build, such as ./build; or an
    /// image, such as oci:docker.io/library/mysql:8.4
    #[arg(value_name = "ENGINE")]
    pub(in crate::commands) name: EngineName,
    /// The storage engine, if ENGINE is a folder or an image
    #[arg(long, value_name = "NAME")]
    storage_engine: Option<String>,
}

impl SystemArgument {
    /// The storage engine, from the name or the option. `None` for the engine's default.
    pub(in crate::commands) fn storage_engine(&self) -> anyhow::Result<Option<String>> {
        let of_name = self.name.storage_engine();
        ensure!(
            of_name.is_none() || self.storage_engine.is_none(),
            "{} names its storage engine; leave --storage-engine out",
            self.name
        );
        Ok(of_name.map(str::to_owned).or_else(|| self.storage_engine.clone()))
    }
}

/// Finds an engine on this machine. Fetches it if it is missing.
pub(in crate::commands) fn install(name: &EngineName, cache: &Cache) -> anyhow::Result<Installation> {
    match name {
        EngineName::Catalogue(name) => {
            let catalogue = Catalogue::load()?;
            let entry = catalogue.find(name)?;
            let mut fetching = Fetching::default();
            Ok(dyno_engine::fetch(&entry, cache, &mut |progress| fetching.show(&entry, &progress))?)
        }
        EngineName::Basedir(path) => Ok(Installation::from_basedir(path)?),
        EngineName::Image(image) => {
            if let Some(installation) = Installation::from_image(image, None)? {
                return Ok(installation);
            }
            output::tell(&format!("pulling the image {image}"));
            Ok(pull_image(image)?)
        }
    }
}
