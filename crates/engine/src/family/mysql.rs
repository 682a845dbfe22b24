//! Sets up, starts and queries MySQL.

use super::mysqld::{Fork, bootstrap, initialize};
use crate::catalogue::entry::Entry;
use crate::family::site::Site;
use crate::start::server::error::StartError;

#[derive(Debug)]
pub(super) struct Mysql;

impl Fork for Mysql {
    fn create_data(&self, site: &Site<'_>) -> Result<(), StartError> {
        if is_modern(site.entry()) {
            initialize(site)
        } else {
            bootstrap(site, "DELETE FROM user;\nDELETE FROM db;\n")
        }
    }

    fn grant(&self, site: &Site<'_>, account: &str) -> Vec<String> {
        let password = site.password;
        if is_modern(site.entry()) {
            vec![
                format!("CREATE USER IF NOT EXISTS {account}"),
                format!("ALTER USER {account} IDENTIFIED BY '{password}'"),
                format!("GRANT ALL ON *.* TO {account} WITH GRANT OPTION"),
            ]
        } else {
            vec![format!("GRANT ALL ON *.* TO {account} IDENTIFIED BY '{password}' WITH GRANT OPTION")]
        }
    }

    fn prints_defaults(&self) -> bool {
        true
    }
}

/// Whether the version is 5.7 or later. Such a server creates its data folder itself, and has statements for
/// accounts.
fn is_modern(entry: &Entry) -> bool {
    entry.is_at_least(5, 7)
}
