//! The platform that a build must fit: the processor and the C library.

use std::env;
use std::fmt;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The processor and the C library of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// The processor architecture, such as `x86_64`.
    pub(crate) architecture: String,
    /// The version of the GNU C library, such as `2.36`. `None` if the machine has another C library.
    pub(crate) glibc: Option<String>,
}

impl Platform {
    /// This machine's platform. The version of the C library comes from the machine itself, because Dyno may have
    /// been built with another C library.
    pub(crate) fn here() -> Self {
        static GLIBC: OnceLock<Option<String>> = OnceLock::new();
        let glibc = GLIBC.get_or_init(glibc).clone();
        Self { architecture: env::consts::ARCH.to_owned(), glibc }
    }
}

/// Prints text such as `x86_64 with glibc 2.36`.
impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.glibc {
            Some(glibc) => write!(f, "{} with glibc {glibc}", self.architecture),
            None => write!(f, "{} without glibc", self.architecture),
        }
    }
}

fn glibc() -> Option<String> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    said.trim().strip_prefix("glibc ").map(ToOwned::to_owned)
}
