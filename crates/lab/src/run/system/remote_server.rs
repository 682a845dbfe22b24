//! A server under test that runs already. Dyno neither starts nor stops it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Counters, DrainLimits, DrainProgress, DrainReport, Dsn, Family, Remote, RemoteAddress};
use dyno_load::{Address, Protocol, Target};

use super::holds::Holds;
use super::keeper::Keeper;
use super::running::RunningSystem;
use crate::plan::System;
use crate::run::error::SystemError;
use crate::run::record::Work;

/// A server that runs already.
pub(crate) struct RemoteServer {
    remote: Remote,
    /// The [`Keeper`], which watches the server's database. `None` if Dyno loads nothing into the database.
    keeper: Option<Arc<Keeper>>,
}

impl RemoteServer {
    pub(crate) fn connect(system: &System, dsn: &Dsn, holds: &Holds<'_>) -> Result<Self, SystemError> {
        let (remote, keeper) = holds.server(system, dsn)?;
        Ok(Self { remote, keeper })
    }

    fn not_ours<T>(&self) -> Result<T, SystemError> {
        Err(SystemError::NotOurs(self.remote.to_string()))
    }
}

impl RunningSystem for RemoteServer {
    fn target(&self) -> Target {
        let driver = match self.remote.family() {
            Family::Postgres => Protocol::Pgsql,
            Family::Mysql | Family::Mariadb | Family::Sqlite => Protocol::Mysql,
        };
        let address = match self.remote.address() {
            RemoteAddress::Unix(path) => Address::Unix(path.clone()),
            RemoteAddress::Tcp { host, port } => Address::Tcp { host: host.clone(), port: *port },
        };
        Target {
            user: self.remote.user().to_owned(),
            password: self.remote.password().to_owned(),
            database: self.remote.database().to_owned(),
            tls: self.remote.tls().clone(),
            trust: self.remote.trust().clone(),
            connect_seconds_max: self.remote.login_limit().map(|limit| limit.as_secs_f64()),
            changed_names: self.keeper.as_ref().map(|keeper| keeper.names()),
            ..Target::new(driver, vec![address])
        }
    }

    fn network_address(&self) -> Option<Address> {
        self.target().addresses.into_iter().find(|address| matches!(address, Address::Tcp { .. }))
    }

    fn work(&self) -> Work {
        Work::Elsewhere
    }

    fn data(&self) -> Option<&Path> {
        None
    }

    fn version(&self) -> String {
        self.remote.version().to_owned()
    }

    fn encryption(&self) -> Option<String> {
        Some(self.remote.encryption().map_or_else(|| "none".to_owned(), |it| it.to_string()))
    }

    fn variables(&self) -> Result<Vec<(String, String)>, SystemError> {
        Ok(self.remote.variables()?)
    }

    fn is_alive(&self) -> bool {
        self.remote.query("SELECT 1").is_ok()
    }

    fn answers(&self, patience: Duration) -> bool {
        self.remote.open(patience).and_then(|mut client| client.query("SELECT 1")).is_ok()
    }

    fn begin_load(&self) -> Result<(), SystemError> {
        Ok(self.keeper.as_ref().map_or(Ok(()), |keeper| keeper.begin_load())?)
    }

    fn log_tail(&self) -> String {
        String::new()
    }

    fn counters(&self) -> Option<Counters> {
        None
    }

    fn drain(
        &self,
        _limits: &DrainLimits<'_>,
        _progress: &mut dyn FnMut(DrainProgress<'_>),
    ) -> Result<DrainReport, SystemError> {
        self.not_ours()
    }

    fn read_tables(&self) -> Result<(), SystemError> {
        self.not_ours()
    }

    fn limit_io(&self, _limited: bool) -> Result<(), SystemError> {
        Ok(())
    }

    fn restart(&mut self) -> Result<(), SystemError> {
        self.not_ours()
    }

    fn shut_down_cleanly(&mut self) -> Result<(), SystemError> {
        self.not_ours()
    }
}
