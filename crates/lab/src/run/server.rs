//! A database server under test.

use std::path::Path;

use dyno_engine::{Cache, Family, Installation, Server, StartOptions};
use dyno_load::{Address, DriverKind, Target};

use super::error::SubjectError;
use super::subject::Subject;
use crate::plan::System;

/// How much of a log is kept with a failure.
const LOG_LINES: usize = 30;

/// A server that was started for a run.
pub(crate) struct ServerSubject {
    server: Server,
    driver: DriverKind,
}

impl ServerSubject {
    pub(crate) fn start(
        system: &System,
        installation: &Installation,
        cache: &Cache,
    ) -> Result<Self, SubjectError> {
        let options = StartOptions {
            storage_engine: system.source.storage_engine().map(str::to_owned),
            settings: system.settings.clone(),
            ..StartOptions::new(cache.runs())
        };
        let driver = match installation.entry.family {
            Family::Postgres => DriverKind::Pgsql,
            Family::Mysql | Family::Mariadb | Family::Sqlite => DriverKind::Mysql,
        };
        Ok(Self { server: dyno_engine::start(installation, options)?, driver })
    }
}

impl Subject for ServerSubject {
    fn target(&self) -> Target {
        let access = self.server.access();
        Target {
            user: access.user.clone(),
            password: access.password.clone(),
            database: dyno_engine::DATABASE.to_owned(),
            ..Target::new(self.driver, vec![Address::Unix(access.socket.clone())])
        }
    }

    fn server_pid(&self) -> Option<u32> {
        Some(self.server.access().pid)
    }

    fn data(&self) -> &Path {
        &self.server.access().datadir
    }

    fn version(&self) -> String {
        self.server.access().version.clone()
    }

    fn variables(&self) -> Result<Vec<(String, String)>, SubjectError> {
        Ok(self.server.variables()?)
    }

    fn is_alive(&self) -> bool {
        self.server.is_alive()
    }

    fn log_tail(&self) -> String {
        self.server.log_tail(LOG_LINES).join("\n")
    }

    fn restart(&mut self) -> Result<(), SubjectError> {
        Ok(self.server.restart()?)
    }
}
