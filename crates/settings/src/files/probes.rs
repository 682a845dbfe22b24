//! Facts that are needed to search for the settings that cause a difference: `settings/probes/`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use dyno_engine::Family;
use serde::Deserialize;

use crate::files::data;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Probes {
    together: Vec<Vec<String>>,
    of_data: BTreeSet<String>,
    of_version: BTreeSet<String>,
}

static MYSQL: LazyLock<Probes> = LazyLock::new(|| Probes::read("mysql"));
static POSTGRES: LazyLock<Probes> = LazyLock::new(|| Probes::read("postgres"));
static SQLITE: LazyLock<Probes> = LazyLock::new(|| Probes::read("sqlite"));

impl Probes {
    fn read(name: &str) -> Self {
        let files = data::files("probes");
        let text = files.iter().find(|(file, _)| *file == name).map_or("", |(_, text)| *text);
        toml::from_str(text).unwrap_or_else(|error| panic!("settings/probes/{name}.toml: {error}"))
    }

    fn of(family: Family) -> &'static Self {
        match family {
            Family::Mysql | Family::Mariadb => &MYSQL,
            Family::Postgres => &POSTGRES,
            Family::Sqlite => &SQLITE,
        }
    }
}

/// Returns whether a setting concerns the data. With another value of such a setting, a server would load different
/// tables, or could not read the tables that were loaded with this value.
pub fn is_of_data(family: Family, setting: &str) -> bool {
    Probes::of(family).of_data.contains(&plain_name(setting))
}

/// Whether one version of a family may refuse another version's value of a setting.
pub fn is_of_version(family: Family, setting: &str) -> bool {
    Probes::of(family).of_version.contains(&plain_name(setting))
}

/// Divides settings into groups that are changed together. Groups are in the order of their first settings.
pub fn together(family: Family, settings: Vec<String>) -> Vec<Vec<String>> {
    let group_of = |setting: &str| {
        let groups = &Probes::of(family).together;
        groups.iter().position(|group| group.contains(&plain_name(setting)))
    };
    let mut groups: Vec<Vec<String>> = Vec::new();
    for setting in settings {
        let group = group_of(&setting);
        match groups.iter_mut().find(|known| group.is_some() && group_of(&known[0]) == group) {
            Some(known) => known.push(setting),
            None => groups.push(vec![setting]),
        }
    }
    groups
}

/// A setting's name in lower case and with underscores. Plans may write it with hyphens.
pub fn plain_name(setting: &str) -> String {
    setting.to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(settings: &[&str]) -> Vec<Vec<String>> {
        together(Family::Mariadb, settings.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn the_size_of_log_files_goes_with_their_number() {
        let found = groups(&["innodb_log_file_size", "sort_buffer_size", "innodb-log-files-in-group"]);
        assert_eq!(
            found,
            [vec!["innodb_log_file_size", "innodb-log-files-in-group"], vec!["sort_buffer_size"]]
        );
        assert_eq!(groups(&["innodb_log_file_size", "join_buffer_size"]).len(), 2);
    }

    #[test]
    fn settings_of_each_family_say_whether_tables_depend_on_them() {
        assert!(is_of_data(Family::Mysql, "innodb_page_size"));
        assert!(!is_of_data(Family::Mysql, "innodb_buffer_pool_size"));
        assert!(is_of_data(Family::Sqlite, "page_size") && !is_of_data(Family::Sqlite, "cache_size"));
        assert!(is_of_version(Family::Mysql, "sql_mode") && !is_of_version(Family::Sqlite, "page_size"));
        assert!(is_of_data(Family::Postgres, "default_toast_compression"));
    }
}
