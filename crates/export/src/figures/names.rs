//! Names of files after plans, systems and steps.

use std::collections::BTreeSet;

/// Most characters of a name, which file systems limit to 255 bytes.
const LETTERS_MAX: usize = 50;

/// A text as a part of a file's name, without characters that are not safe there.
pub fn plain_name(text: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = text.chars().map(plain).collect();
    name.trim_start_matches(['.', '-']).chars().take(LETTERS_MAX).collect()
}

/// Unique names of files.
#[derive(Default)]
pub(super) struct FileNames(BTreeSet<String>);

impl FileNames {
    /// A name with an extension. If it is taken, it gets a number.
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
