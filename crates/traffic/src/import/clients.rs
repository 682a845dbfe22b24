//! Names of users, which are kept or hashed.

use std::hash::{BuildHasher as _, RandomState};

/// Converts names of users to the form that the file keeps.
///
/// A hash uses a random key (`SipHash`) that is never written. The same user has the same hash within one file, but
/// nobody can find the user by hashing a list of names.
#[derive(Debug)]
pub(super) struct Users {
    key: RandomState,
    keep: bool,
}

impl Users {
    pub(super) fn new(keep: bool) -> Self {
        Self { key: RandomState::new(), keep }
    }

    pub(super) fn hash(&self, user: &[u8]) -> u64 {
        self.key.hash_one(user)
    }

    pub(super) fn name(&self, user: &[u8]) -> String {
        if self.keep {
            String::from_utf8_lossy(user).into_owned()
        } else {
            format!("{:016x}", self.hash(user))
        }
    }
}
