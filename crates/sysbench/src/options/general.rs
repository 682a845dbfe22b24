//! The options common to all tests.

use dyno_script::{GeneralOption, general_groups};

/// Every option, in the order of `--help`.
pub(crate) fn all() -> impl Iterator<Item = &'static GeneralOption> {
    general_groups().iter().flat_map(|group| group.options)
}

/// The option with this name, whose words are joined by dashes.
pub(crate) fn find(name: &str) -> Option<&'static GeneralOption> {
    all().find(|option| option.definition.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Checked as _;

    #[test]
    fn names_are_unique_and_defaults_are_values_of_their_kind() {
        let all: Vec<_> = all().map(|option| option.definition).collect();
        for (n, option) in all.iter().enumerate() {
            assert!(all[..n].iter().all(|other| other.name != option.name), "{} is there twice", option.name);
            if let Some(default) = option.default {
                assert_eq!(option.kind.wrong(default), None, "the default of {}", option.name);
            }
        }
    }

    #[test]
    fn older_names_are_those_of_options() {
        let newer: Vec<_> = all().filter_map(|option| option.older_name_of).collect();
        assert_eq!(newer, ["rate", "events", "time", "threads"]);
        assert!(newer.iter().all(|name| find(name).is_some()));
    }
}
