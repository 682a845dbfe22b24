//! Finds the variable that an option sets.

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
    /// A variable and its value. `name` is the name that the server itself uses.
    Variable { name: String, value: String },
    /// A setting that the server does not have. The server accepts the option and ignores it.
    Ignored,
    /// Something that no variable of the server shows.
    NotTold,
}

impl Asked {
    /// Finds out what an option requests. Names are recognised in the same way as servers recognise them: written
    /// with `-` or `_`, or under the name in another version. Options of mysqld may also have a prefix, or be
    /// shortened.
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
        // MariaDB accepts options of other versions and ignores them. Other servers refuse to start. An option that
        // is a switch without a variable may belong to a plugin (innodb_cmp), so it does not count as ignored.
        let is_of_other_version = is_known(option, family)
            || knowledge(family, option).is_some()
            || family == Family::Mariadb && option.starts_with("innodb_") && is_number(value);
        let is_ignored = is_loose || is_of_other_version;
        if is_ignored { Self::Ignored } else { Self::NotTold }
    }
}

/// The server's variable that an option sets, under any of the option's names.
fn variable(family: Family, option: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let renamed = Reports::of(family).variable_of(option);
    let newest = newest_name(family, renamed.unwrap_or(option));
    let aliases = knowledge(family, newest).map_or(&[][..], |known| &known.aliases);
    let mut names = once(option).chain(renamed).chain(once(newest)).chain(aliases.iter().map(String::as_str));
    names.find(|name| variables.contains_key(*name)).map(ToOwned::to_owned)
}

/// Interprets an option of mysqld with a prefix: `skip_`, `disable_` and `enable_` switch a variable off or on, and
/// `maximum_` limits a variable.
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

/// The only variable whose name begins with this option of mysqld. Switches are not looked up, because a switch may
/// have the beginning of a variable's name by chance.
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
