//! How to reach a server.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The TCP address that servers listen on.
pub const HOST: &str = "127.0.0.1";

/// The database of every server. sysbench's scripts expect this name.
pub const DATABASE: &str = "sbtest";

/// Where a server is and how to log in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The product, such as `mariadb`.
    pub engine: String,
    /// The version that the server reports.
    pub version: String,
    pub socket: PathBuf,
    /// The server's port at [`HOST`].
    pub port: u16,
    /// The superuser.
    pub user: String,
    /// The superuser's random password.
    pub password: String,
    pub pid: u32,
    /// The server's data folder.
    pub datadir: PathBuf,
}

/// Prints everything but the password.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("engine", &self.engine)
            .field("version", &self.version)
            .field("socket", &self.socket)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("pid", &self.pid)
            .field("datadir", &self.datadir)
            .finish_non_exhaustive()
    }
}

/// Returns 128 random bits in hexadecimal. Such a word needs no quotes in SQL, shells or configuration files.
pub(crate) fn random_word() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::from)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_in_debug_output() {
        let password = random_word().unwrap();
        let access = Access {
            engine: "mysql".to_owned(),
            version: "5.6.24".to_owned(),
            socket: PathBuf::from("/tmp/s"),
            port: 3306,
            user: "root".to_owned(),
            password: password.clone(),
            pid: 1,
            datadir: PathBuf::from("/tmp/d"),
        };
        assert_eq!(password.len(), 32);
        assert!(!format!("{access:?}").contains(&password));
        assert_ne!(password, random_word().unwrap());
    }
}
