//! The names of variables, and of the files of a workload.

use std::collections::HashMap;

/// Variables that a run sets by itself.
pub const BUILTIN_VARIABLES: [&str; 4] = ["client_id", "default_seed", "random_seed", "scale"];

/// The ending of a script's file name.
const ENDING: &str = ".pgbench";

/// The variables of a program, by number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    list: Vec<String>,
    slots: HashMap<String, usize>,
}

impl Names {
    /// The number of a variable. A new variable gets the next number.
    pub(crate) fn slot(&mut self, name: &str) -> usize {
        if let Some(slot) = self.find(name) {
            return slot;
        }
        self.slots.insert(name.to_owned(), self.list.len());
        self.list.push(name.to_owned());
        self.list.len() - 1
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
    }

    /// All names, in order of their numbers.
    pub(crate) fn all(&self) -> &[String] {
        &self.list
    }
}

/// Whether a variable may begin with this letter.
pub(crate) fn begins_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii()
}

/// Whether a variable's name may contain this letter.
pub(crate) fn is_in_name(letter: char) -> bool {
    begins_name(letter) || letter.is_ascii_digit()
}

/// Whether this can be the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(begins_name) && text.chars().all(is_in_name)
}

/// The length in bytes of the name at the beginning of a text. 0 if the text does not begin with a name.
pub(crate) fn name_bytes(text: &str) -> usize {
    if text.starts_with(begins_name) {
        text.find(|letter: char| !is_in_name(letter)).unwrap_or(text.len())
    } else {
        0
    }
}

/// A script of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFile {
    pub path: String,
    /// The weight when a script is chosen at random.
    pub weight: u32,
}

/// The script files of a workload, which is written as `a.pgbench`, or with weights as `a.pgbench@3, b.pgbench`. `None`
/// if the workload does not have this form.
pub fn script_files(workload: &str) -> Option<Vec<ScriptFile>> {
    workload.split(',').map(|part| script_file(part.trim())).collect()
}

fn script_file(part: &str) -> Option<ScriptFile> {
    let (path, weight) = match part.rsplit_once('@') {
        Some((path, weight)) if path.ends_with(ENDING) => (path, weight.parse().ok()?),
        _ => (part, 1),
    };
    path.ends_with(ENDING).then(|| ScriptFile { path: path.to_owned(), weight })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_a_letter() {
        assert!(["a", "_1", "naccounts", "größe"].iter().all(|name| is_name(name)));
        assert!(!["", "1a", "a b", "a-b", "?column?"].iter().any(|name| is_name(name)));
        assert_eq!([name_bytes("aid;"), name_bytes("9"), name_bytes("é1 ")], [3, 0, 3]);
    }

    #[test]
    fn a_workload_names_files_with_weights() {
        let file = |path: &str, weight| ScriptFile { path: path.to_owned(), weight };
        assert_eq!(script_files("a.pgbench"), Some(vec![file("a.pgbench", 1)]));
        assert_eq!(
            script_files("x@y/a.pgbench@3, b.pgbench@0"),
            Some(vec![file("x@y/a.pgbench", 3), file("b.pgbench", 0)])
        );
        for other in ["tpcc", "mine.lua", "a.pgbench,mine.lua", "a.pgbench@x", "a.pgbench@-1", ""] {
            assert_eq!(script_files(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_keeps_its_number() {
        let mut names = Names::default();
        assert_eq!([names.slot("a"), names.slot("b"), names.slot("a")], [0, 1, 0]);
        assert_eq!((names.find("b"), names.find("c")), (Some(1), None));
    }
}
