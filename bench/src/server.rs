//! The server that both sides are put to.

use std::collections::BTreeMap;

use dyno_engine::{Cache, Catalogue, Server, StartOptions, SystemName, fetch};

/// A MariaDB with room for the tables and thousands of connections, and these settings on top.
pub(crate) fn start(settings: &BTreeMap<&str, &str>) -> anyhow::Result<Server> {
    let name: SystemName = "mariadb@10.11/innodb".parse()?;
    let catalogue = Catalogue::builtin();
    let installation = fetch(catalogue.find(&name)?, &Cache::default_location(), &mut |_| {})?;
    let mut options = StartOptions::new(std::env::temp_dir());
    options.settings =
        [("innodb_buffer_pool_size", "512M"), ("max_connections", "12000"), ("back_log", "4096")]
            .into_iter()
            .chain(settings.iter().map(|(&name, &value)| (name, value)))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
    Ok(dyno_engine::start(&installation, options)?)
}
