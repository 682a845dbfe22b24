//! Makes file names from the names of plans, systems and steps.

use std::collections::BTreeSet;

/// A name of a plan, system or step is cut to this many characters before it becomes part of a file name. File systems
/// limit a file name to 255 bytes.
const LETTERS_MAX: usize = 50;

/// Returns a text that is safe as part of a file name. Characters that are not safe in file names are replaced.
pub fn plain_name(text: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = text.chars().map(plain).collect();
    name.trim_start_matches(['.', '-']).chars().take(LETTERS_MAX).collect()
}

/// The file names of an export. No name occurs twice.
#[derive(Default)]
pub(super) struct FileNames(BTreeSet<String>);

impl FileNames {
    /// Returns a file name with an extension. If another file already has this name, a number is added.
    pub(super) fn name(&mut self, stem: &str, extension: &str) -> String {
        let (mut name, mut number) = (format!("{stem}.{extension}"), 1);
        while !self.0.insert(name.clone()) {
            number += 1;
            name = format!("{stem}~{number}.{extension}");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_given_once() {
        assert_eq!(plain_name("../a b/c"), "a-b-c");
        assert_eq!(plain_name(&"ä".repeat(200)).chars().count(), LETTERS_MAX);
        let mut names = FileNames::default();
        assert_eq!(names.name("plan.a-b", "csv"), "plan.a-b.csv");
        assert_eq!(names.name("plan.a-b", "csv"), "plan.a-b~2.csv");
    }
}
