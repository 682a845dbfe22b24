//! Systems with a connection pooler: the system keys `pooler` and `pooler_settings`.

use std::collections::BTreeMap;

use dyno_engine::PoolerProgram;
use serde::Deserialize;

use crate::plan::keys::systems::source::Source;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{At, Scalars};

/// The connection pooler in front of a system's server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPooler {
    pub program: PoolerProgram,
    /// Settings of the pooler, by the pooler's own names.
    pub settings: BTreeMap<String, String>,
}

/// The program of a connection pooler.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(in crate::plan) enum ProgramKey {
    /// `PgBouncer`, for PostgreSQL.
    Pgbouncer,
    /// Pgpool-II, for PostgreSQL.
    Pgpool,
}

impl From<ProgramKey> for PoolerProgram {
    fn from(key: ProgramKey) -> Self {
        match key {
            ProgramKey::Pgbouncer => Self::Pgbouncer,
            ProgramKey::Pgpool => Self::Pgpool,
        }
    }
}

/// The keys of a system that set its pooler.
pub(in crate::plan) struct Keys {
    pub(in crate::plan) pooler: Option<At<ProgramKey>>,
    pub(in crate::plan) settings: Option<At<Scalars>>,
}

impl Keys {
    /// Reads the system's pooler, if the system has one.
    pub(in crate::plan) fn read(self, source: &Source) -> Result<Option<SystemPooler>, Mistake> {
        let Some(pooler) = self.pooler else {
            let needs = "`pooler_settings` is for systems with a `pooler`; name the program";
            return self.settings.map_or(Ok(None), |settings| Err(settings.wrong(needs.to_owned())));
        };
        let program = PoolerProgram::from(*pooler);
        if !source.is_started_by_dyno() {
            let problem = "Dyno puts a pooler only in front of servers that it starts; leave `pooler` out, or give the pooler's address in `dsn`";
            return Err(pooler.wrong(problem.to_owned()));
        }
        if !program.speaks_to(source.family()) {
            let program = program.as_str();
            return Err(
                pooler.wrong(format!("{program} speaks only PostgreSQL's protocol; leave `pooler` out"))
            );
        }
        let Some(settings) = self.settings else {
            return Ok(Some(SystemPooler { program, settings: BTreeMap::new() }));
        };
        let settings = settings.read(|settings| checked(program, settings.0))?;
        Ok(Some(SystemPooler { program, settings }))
    }
}

/// Checks that the pooler's configuration file can contain the settings, and that Dyno itself does not set any of
/// them.
fn checked(
    program: PoolerProgram,
    settings: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    for (name, value) in &settings {
        if program.own_settings().contains(&name.as_str()) {
            return Err(format!("the setting `{name}` of {} is set by dyno; leave it out", program.as_str()));
        }
        if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
            return Err(format!("`{name}` is no name of a setting of {}", program.as_str()));
        }
        if value.contains(['\n', '\r', '\0']) {
            return Err(format!("the value of `{name}` has several lines; write one"));
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse};

    /// Reads the small plan in which one system has the engine `engine` and the additional `keys`. Returns all poolers
    /// of the plan.
    fn with(engine: &str, keys: &str) -> Result<Vec<SystemPooler>, String> {
        const ENGINE: &str = "engine = \"mariadb@10.11/rocksdb\"\n";
        let text = TEXT.replacen(ENGINE, &format!("engine = \"{engine}\"\n{keys}\n"), 1);
        assert_ne!(text, TEXT);
        let plan = parse(&text).map_err(|error| error.to_string())?;
        Ok(plan.systems.into_iter().filter_map(|system| system.pooler).collect())
    }

    #[test]
    fn a_pooler_has_the_settings_of_the_plan() {
        let keys = "pooler = \"pgbouncer\"\npooler_settings = { pool_mode = \"transaction\", default_pool_size = 20 }";
        let [SystemPooler { program, settings }] = &with("postgres@18.4", keys).unwrap()[..] else {
            panic!()
        };
        assert_eq!(*program, PoolerProgram::Pgbouncer);
        let settings: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(settings, [("default_pool_size", "20"), ("pool_mode", "transaction")]);
        assert_eq!(with("postgres@18.4", ""), Ok(Vec::new()));
    }

    #[test]
    fn keys_that_do_not_fit_are_refused_with_what_to_do() {
        for (engine, keys, problem) in [
            ("mariadb@10.11", "pooler = \"pgbouncer\"", "pgbouncer speaks only PostgreSQL's protocol"),
            ("postgres@18.4", "pooler = \"proxysql\"", "pgbouncer"),
            ("mariadb@10.11", "pooler = \"pgpool\"", "pgpool speaks only PostgreSQL's protocol"),
            (
                "postgres@18.4",
                "pooler = \"pgpool\"\npooler_settings = { backend_port0 = 1 }",
                "`backend_port0` of pgpool is set by dyno",
            ),
            (
                "postgres@18.4",
                "pooler_settings = { pool_mode = \"session\" }",
                "is for systems with a `pooler`",
            ),
            (
                "postgres@18.4",
                "pooler = \"pgbouncer\"\npooler_settings = { listen_addr = \"*\" }",
                "`listen_addr` of pgbouncer is set by dyno",
            ),
            (
                "postgres@18.4",
                "pooler = \"pgbouncer\"\npooler_settings = { pool_mode = \"session\\nuser = x\" }",
                "the value of `pool_mode` has several lines",
            ),
            (
                "postgres@18.4",
                "pooler = \"pgbouncer\"\npooler_settings = { \"a]\" = 1 }",
                "is no name of a setting of pgbouncer",
            ),
        ] {
            let error = with(engine, keys).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
