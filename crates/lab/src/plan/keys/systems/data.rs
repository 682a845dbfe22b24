//! The data with which a system starts: its keys `data`, `upgrade_of`, `data_sql` and `database`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_engine::Family;
use dyno_load::Script;

use crate::plan::context::ParseContext;
use crate::plan::keys::steps::workload::script;
use crate::plan::keys::systems::source::Source;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::At;

/// The data with which a system starts. Each round has its own copy of the data.
#[derive(Clone, Debug)]
pub struct SystemData {
    /// Where the data comes from.
    pub origin: DataOrigin,
    /// A file of SQL that is executed on the data once.
    pub changes: Option<PathBuf>,
    /// The name of the database that contains the data, if the plan sets it.
    pub database: Option<String>,
}

/// Where the data of a system comes from.
#[derive(Clone, Debug)]
pub enum DataOrigin {
    /// A data folder of a server of the same version. The server must be down.
    Folder(PathBuf),
    /// A file that a dump program wrote.
    Dump(PathBuf),
    /// The tables that a script's command `prepare` makes.
    Script(Script),
    /// The data of another system, named by its id, upgraded to the version of this system.
    UpgradeOf(String),
}

/// The keys of a system that set the data with which it starts.
pub(in crate::plan) struct Keys {
    pub(in crate::plan) data: Option<At<String>>,
    pub(in crate::plan) upgrade_of: Option<At<String>>,
    pub(in crate::plan) data_sql: Option<At<String>>,
    pub(in crate::plan) database: Option<At<String>>,
}

impl Keys {
    /// Reads `data` or `upgrade_of`. Returns `None` if the system has neither.
    pub(in crate::plan) fn read(
        self,
        source: &Source,
        earlier: &[System],
        context: &ParseContext<'_>,
    ) -> Result<Option<SystemData>, Mistake> {
        let origin = match (self.data, self.upgrade_of) {
            (Some(_), Some(upgrade_of)) => {
                return Err(upgrade_of.wrong("a system has `data` or `upgrade_of`, not both".to_owned()));
            }
            (Some(data), None) => data.read(|name| {
                check(source, "data")?;
                origin(name, context)
            })?,
            (None, Some(upgrade_of)) => upgrade_of.read(|id| {
                check(source, "upgrade_of")?;
                if earlier.iter().any(|system| system.id == id) {
                    return Ok(DataOrigin::UpgradeOf(id));
                }
                Err(Problem::unknown("earlier system", &id, earlier.iter().map(|system| &system.id)))
            })?,
            (None, None) => return without_data(self.data_sql, self.database),
        };
        let changes =
            self.data_sql.map(|changes| changes.read(|name| file(path_of(&name, context)))).transpose()?;
        Ok(Some(SystemData { origin, changes, database: self.database.map(At::into_inner) }))
    }
}

/// Returns an error if the system has no server that Dyno starts.
fn check(source: &Source, key: &str) -> Result<(), Problem> {
    match source {
        Source::Dsn { .. } => Err(Problem::Other(format!(
            "a server that runs already has its own data; leave `{key}` out, or start the server from a plan"
        ))),
        _ if source.family() == Family::Sqlite => Err(Problem::Other(format!(
            "SQLite takes no `{key}`; load its tables in a step with `command = \"prepare\"`"
        ))),
        _ => Ok(()),
    }
}

/// Returns an error if a system without data has other keys about data.
fn without_data(
    data_sql: Option<At<String>>,
    database: Option<At<String>>,
) -> Result<Option<SystemData>, Mistake> {
    if let Some(data_sql) = data_sql {
        return Err(data_sql.wrong("`data_sql` changes `data`; leave it out, or write `data`".to_owned()));
    }
    match database {
        Some(database) => Err(database
            .wrong("`database` names the one that `data` is in; leave it out, or write `data`".to_owned())),
        None => Ok(None),
    }
}

fn path_of(name: &str, context: &ParseContext<'_>) -> PathBuf {
    let path = context.folder.join(name);
    std::path::absolute(&path).unwrap_or(path)
}

/// Returns the path if it leads to a file, or an error otherwise.
fn file(path: PathBuf) -> Result<PathBuf, Problem> {
    match path.metadata() {
        Ok(about) if about.is_file() => Ok(path),
        Ok(_) => Err(Problem::Other(format!("{} is no file", path.display()))),
        Err(error) => {
            Err(Problem::Unreadable { path: path.display().to_string(), reason: error.to_string() })
        }
    }
}

/// Returns the origin that `data` means: a folder, a script or a dump.
fn origin(name: String, context: &ParseContext<'_>) -> Result<DataOrigin, Problem> {
    let path = path_of(&name, context);
    if path.is_dir() {
        return Ok(DataOrigin::Folder(path));
    }
    let is_builtin = !name.contains(['/', '.']) && !path.exists();
    if is_builtin || path.extension().is_some_and(|extension| extension == "lua") {
        return script(name, &BTreeMap::new(), context).map(DataOrigin::Script);
    }
    file(path).map(DataOrigin::Dump)
}
