//! `dyno engine start`: starts a server that runs until it is stopped.

use std::collections::BTreeMap;

use clap::Args;
use dyno_engine::{Access, Cache, DATABASE, HOST, Running};
use dyno_printable::printable;

use super::system::{SystemArgument, install};
use crate::options::{TextOrJson, setting};
use crate::output;

/// Start a server that runs until `dyno engine stop`, and print how to connect
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno engine start mysql@5.6.24 --set innodb_buffer_pool_size=1G
  dyno engine start mariadb@10.11/rocksdb --format json
  dyno engine start ./build
  dyno engine start oci:docker.io/percona/percona-server:8.0 --storage-engine rocksdb")]
pub(super) struct Start {
    #[command(flatten)]
    system: SystemArgument,
    /// A server variable; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// Output format; JSON is one object with engine, version, socket, port, user, password, pid,
    /// datadir
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

impl Start {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let cache = Cache::default_location();
        let storage_engine = self.system.storage_engine()?;
        let installation = install(&self.system.name, &cache)?;
        let settings: BTreeMap<_, _> = self.settings.into_iter().collect();
        let server =
            Running::new(&cache).start(&self.system.name, &installation, storage_engine, settings)?;
        output::print(&match self.format {
            TextOrJson::Text => describe(&server.access),
            TextOrJson::Json => output::json(&serde_json::to_string(&server.access)?),
        })
    }
}

fn describe(access: &Access) -> String {
    let Access { engine, version, socket, port, user, password, pid, datadir } = access;
    let version = printable(version);
    let (socket, datadir) = (socket.display(), datadir.display());
    format!(
        "{engine} {version} runs as process {pid}\n\
         socket    {socket}\n\
         address   {HOST}:{port}\n\
         user      {user}\n\
         password  {password}\n\
         database  {DATABASE}\n\
         data      {datadir}\n"
    )
}
