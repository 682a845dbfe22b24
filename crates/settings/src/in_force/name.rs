//! Finds the variable of an option.

use std::collections::BTreeMap;
use std::iter::once;

use dyno_engine::Family;

use super::number::amount;
use super::reports::Reports;
use crate::facts::value::is_on;
use crate::files::knowledge::{knowledge, newest_name};
use crate::files::probes::plain_name;
use crate::translation::is_known;

/// What an option requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A value of a variable, by the server's own name for it.
    Variable { name: String, value: String },
    /// A setting that the server does not have. It accepts the option and does nothing.
    Ignored,
    /// Something that no variable shows.
    NotTold,
}

impl Asked {
    /// Finds the meaning of an option. Names are recognised as servers do: with `-` or `_`, with the name of
    /// another version, and for mysqld with its prefixes or shortened.
    pub(super) fn of(
        family: Family,
        option: &str,
        value: &str,
        variables: &BTreeMap<String, String>,
    ) -> Self {
        let (reports, option) = (Reports::of(family), plain_name(option));
        let is_mysqld = matches!(family, Family::Mysql | Family::Mariadb);
        let required = option.strip_prefix("loose_").filter(|_| is_mysqld);
        let (option, is_loose) = (required.unwrap_or(&option), required.is_some());
        if reports.has_no_variable(option) {
            return Self::NotTold;
        }
        if let Some(name) = variable(family, option, variables) {
            return Self::Variable { name, value: value.to_owned() };
        }
        if is_mysqld && let Some(asked) = prefixed(family, option, value, variables) {
            return asked;
        }
        if is_mysqld && let Some(name) = shortened(option, value, variables) {
            return Self::Variable { name, value: value.to_owned() };
        }
        // MariaDB accepts options of other versions and ignores them; others refuse to start. A switch
        // without a variable may belong to a plugin (innodb_cmp).
        let is_of_other_version = is_known(option, family)
            || knowledge(family, option).is_some()
            || family == Family::Mariadb && option.starts_with("innodb_") && is_number(value);
        let is_ignored = is_loose || is_of_other_version;
        if is_ignored { Self::Ignored } else { Self::NotTold }
    }
}

/// The server's variable of an option, under any of its names.
fn variable(family: Family, option: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let renamed = Reports::of(family).variable_of(option);
    let newest = newest_name(family, renamed.unwrap_or(option));
    let aliases = knowledge(family, newest).map_or(&[][..], |known| &known.aliases);
    let mut names = once(option).chain(renamed).chain(once(newest)).chain(aliases.iter().map(String::as_str));
    names.find(|name| variables.contains_key(*name)).map(ToOwned::to_owned)
}

/// An option of mysqld with a prefix, which makes it a switch or a limit of a variable.
fn prefixed(
    family: Family,
    option: &str,
    value: &str,
    variables: &BTreeMap<String, String>,
) -> Option<Asked> {
    if option.starts_with("maximum_") {
        return Some(Asked::NotTold);
    }
    let (rest, switch) = [("skip_", "OFF"), ("disable_", "OFF"), ("enable_", "ON")]
        .iter()
        .find_map(|(prefix, switch)| Some((option.strip_prefix(prefix)?, *switch)))?;
    let name = variable(family, rest, variables)?;
    let is_given = value.trim().is_empty() || is_on(value) == Some(true);
    Some(if is_given { Asked::Variable { name, value: switch.to_owned() } } else { Asked::NotTold })
}

/// The only variable whose name begins with an option of mysqld. But an option that is a switch may have such a name by
/// chance.
fn shortened(option: &str, value: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    if !is_number(value) {
        return None;
    }
    let mut long = variables.keys().filter(|name| name.starts_with(option));
    let found = long.next()?;
    long.next().is_none().then(|| found.clone())
}

/// Whether a value is a number and not a switch.
fn is_number(value: &str) -> bool {
    is_on(value).is_none() && amount(value).is_some()
}
