//! The profiles that come with Dyno: `settings/profiles/*.toml`.

use std::fs;
use std::path::Path;

use super::{Problem, Profile, ProfileError};
use crate::files::data;
use crate::files::near::nearest;

/// All built-in profiles, sorted by name.
///
/// # Panics
/// A built-in file is not a valid profile. This crate's tests rule this out.
pub fn builtin_profiles() -> Vec<Profile> {
    let files = data::files("profiles").into_iter();
    files.map(|(name, text)| Profile::parse(text, name).unwrap_or_else(|error| panic!("{error}"))).collect()
}

impl Profile {
    /// A built-in profile.
    ///
    /// # Errors
    /// There is no profile of that name. The error contains a similar name, if there is one, and the names of all
    /// profiles.
    pub fn builtin(name: &str) -> Result<Self, ProfileError> {
        let profiles = builtin_profiles();
        let known: Vec<String> = profiles.iter().map(|profile| profile.name.clone()).collect();
        profiles.into_iter().find(|profile| profile.name == name).ok_or_else(|| {
            let near = nearest(name, known.iter().map(String::as_str));
            ProfileError::of(name, Problem::UnknownProfile { name: name.to_owned(), near, known })
        })
    }

    /// Finds a profile: a `.toml` file, or the name of a built-in one.
    ///
    /// # Errors
    /// There is no such profile, or its file is invalid.
    pub fn find(name: &str) -> Result<Self, ProfileError> {
        let path = Path::new(name);
        if !name.contains('/') && path.extension().is_none_or(|extension| extension != "toml") {
            return Self::builtin(name);
        }
        let text = fs::read_to_string(path)
            .map_err(|error| ProfileError::of(name, Problem::Unreadable(error.to_string())))?;
        Self::parse(&text, name)
    }
}
