//! Origins of values: the queries for them, and how to read the answers.

use dyno_engine::Family;

use super::{Origin, SystemVariables};
use crate::facts::product::Product;
use crate::facts::value::normal;

/// A source that tells the origins of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// MySQL since 8.0: `performance_schema.variables_info`.
    VariablesInfo,
    /// MariaDB: `information_schema.SYSTEM_VARIABLES`.
    SystemVariables,
    /// PostgreSQL: `pg_settings`.
    PgSettings,
    /// MySQL: what `mysqld --no-defaults --verbose --help` prints.
    Help,
}

/// The sources of a product, in the order in which they are read.
pub fn readings(product: &Product) -> &'static [Reading] {
    match product.family {
        Family::Mysql if product.is_since("8.0") => &[Reading::Help, Reading::VariablesInfo],
        Family::Mysql => &[Reading::Help],
        Family::Mariadb => &[Reading::SystemVariables],
        Family::Postgres => &[Reading::PgSettings],
        Family::Sqlite => &[],
    }
}

impl Reading {
    /// The query of this source; `None` if the source is not a query.
    pub fn query(self) -> Option<&'static str> {
        match self {
            Self::VariablesInfo => {
                Some("SELECT VARIABLE_NAME, VARIABLE_SOURCE, NULL FROM performance_schema.variables_info")
            }
            Self::SystemVariables => Some(
                "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, DEFAULT_VALUE FROM information_schema.SYSTEM_VARIABLES",
            ),
            // Defaults without a unit, and negative ones, stay unchanged: -1 means that the server chooses.
            Self::PgSettings => Some(
                "SELECT name, source, CASE WHEN unit IS NULL OR boot_val LIKE '-%' THEN boot_val \
                 WHEN unit = '8kB' THEN boot_val::bigint * 8 || 'kB' ELSE boot_val || unit END FROM pg_settings",
            ),
            Self::Help => None,
        }
    }
}

impl SystemVariables {
    /// Reads the rows of a source's query.
    pub fn learn(&mut self, reading: Reading, rows: &[Vec<Option<String>>]) {
        for row in rows {
            let field = |place: usize| row.get(place).cloned().flatten();
            let (Some(name), Some(source)) = (field(0), field(1)) else { continue };
            let Some(variable) = self.variables.get_mut(&name.to_ascii_lowercase()) else { continue };
            variable.origin = origin(reading, &source);
            if let Some(default) = field(2) {
                variable.default = Some(default);
            }
            if variable.origin == Origin::Default {
                // The server says that the variable has its default value, so the value itself is recorded as the
                // default. In the default column, some servers report another value, which they adjust before they
                // use it.
                variable.default = Some(variable.value.clone());
            }
        }
    }

    /// Reads the default values in the output of `mysqld --verbose --help`.
    pub fn learn_help(&mut self, text: &str) {
        for (name, default) in defaults_of_help(text) {
            let Some(variable) = self.variables.get_mut(&name) else { continue };
            let is_default = normal(&variable.value) == normal(&default);
            variable.origin = if is_default { Origin::Default } else { Origin::Computed };
            variable.default = Some(default);
        }
    }
}

fn origin(reading: Reading, source: &str) -> Origin {
    match (reading, source) {
        (Reading::VariablesInfo, "COMPILED")
        | (Reading::SystemVariables, "COMPILE-TIME")
        | (Reading::PgSettings, "default") => Origin::Default,
        // Dyno sets nothing in files, so a value in a file was written by initdb.
        (Reading::SystemVariables, "AUTO") | (Reading::PgSettings, "override" | "configuration file") => {
            Origin::Computed
        }
        _ => Origin::Set,
    }
}

/// Reads the table at the end of the help. The table follows a line of dashes and ends at an empty line. Each line
/// has a name and a value.
fn defaults_of_help(text: &str) -> impl Iterator<Item = (String, String)> {
    const NONE: &str = "(No default value)";
    let table = text.lines().skip_while(|line| !line.starts_with("-----")).skip(1);
    table.take_while(|line| !line.is_empty()).filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        let value = value.trim();
        Some((name.replace('-', "_"), if value == NONE { String::new() } else { value.to_owned() }))
    })
}
