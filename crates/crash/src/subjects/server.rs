//! A server that can be crashed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use dyno_engine::{Family, Server, StartOptions, start};

use crate::clients::contents::{COUNTER, TABLES};
use crate::clients::session::{ServerSession, Session, SessionError, first_column, text};
use crate::error::CrashError;
use crate::options::CrashedSystem;
use crate::subjects::subject::Subject;

pub(super) const LOG_LINES: usize = 20;
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct ServerSubject {
    server: Server,
    family: Family,
}

impl ServerSubject {
    /// Starts a server, with its data below a folder.
    pub(crate) fn start(system: &CrashedSystem, data: Option<&Path>) -> Result<Self, CrashError> {
        let options = StartOptions {
            storage_engine: system.storage_engine.clone(),
            settings: system.settings.clone(),
            data_folder: data.map(|folder| folder.join("data")),
            ..StartOptions::new(&system.data_root)
        };
        let server = start(&system.installation, options)?;
        Ok(Self { server, family: system.installation.entry.family })
    }
}

impl Subject for ServerSubject {
    fn version(&self) -> String {
        self.server.version().to_owned()
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, CrashError> {
        Ok(self.server.variables()?.into_iter().collect())
    }

    fn settle(&mut self) -> Result<(), CrashError> {
        Ok(self.server.restart_cleanly(SHUTDOWN_PATIENCE)?)
    }

    fn client(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(ServerSession::open(&self.server)?))
    }

    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        self.client()
    }

    fn crash(&self, killed: &mut dyn FnMut()) {
        self.server.crash(killed);
    }

    fn recover(&mut self) -> Result<(), CrashError> {
        Ok(self.server.restart()?)
    }

    fn faults(&self, session: &mut dyn Session) -> Result<Vec<String>, SessionError> {
        faults(self.family, session)
    }

    fn log_tail(&self) -> Vec<String> {
        self.server.log_tail(LOG_LINES)
    }
}

/// The faults that a family's servers find in the tables.
pub(super) fn faults(family: Family, session: &mut dyn Session) -> Result<Vec<String>, SessionError> {
    match family {
        Family::Postgres => postgres_faults(session),
        _ => mysqld_faults(session),
    }
}

/// The messages of `CHECK TABLE` other than `OK`.
fn mysqld_faults(session: &mut dyn Session) -> Result<Vec<String>, SessionError> {
    let [first, second] = TABLES;
    let mut faults = Vec::new();
    session.rows(&format!("CHECK TABLE {first}, {second}, {COUNTER}"), &mut |row| {
        let (table, kind, message) = (text(row, 0), text(row, 2), text(row, 3));
        if kind != "status" || message != "OK" {
            faults.push(format!("CHECK TABLE: {table}: {kind}: {message}"));
        }
    })?;
    Ok(faults)
}

/// The findings of amcheck, if the server has this extension. It compares indexes with their tables, and since
/// version 14 it also checks the tables themselves.
fn postgres_faults(session: &mut dyn Session) -> Result<Vec<String>, SessionError> {
    let available = "SELECT name FROM pg_available_extensions WHERE name = 'amcheck'";
    if first_column(session, available)?.is_empty() {
        return Ok(Vec::new());
    }
    session.execute("CREATE EXTENSION IF NOT EXISTS amcheck")?;
    let has_heap_check =
        !first_column(session, "SELECT 1 FROM pg_proc WHERE proname = 'verify_heapam'")?.is_empty();
    let mut faults = Vec::new();
    for table in TABLES.iter().chain([&COUNTER]) {
        let index = format!("SELECT bt_index_check('{table}_pkey'::regclass, true)");
        match session.execute(&index) {
            Err(SessionError::Refused(text)) => faults.push(format!("amcheck: {table}_pkey: {text}")),
            outcome => outcome?,
        }
        if has_heap_check {
            let heap = format!("SELECT msg FROM verify_heapam('{table}')");
            let messages = first_column(session, &heap)?;
            faults.extend(messages.iter().map(|message| format!("amcheck: {table}: {message}")));
        }
    }
    Ok(faults)
}
