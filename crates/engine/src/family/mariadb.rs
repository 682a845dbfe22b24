//! Sets up, starts and queries MariaDB.

use super::mysqld::{Fork, bootstrap};
use crate::family::site::Site;
use crate::start::server::error::StartError;

#[derive(Debug)]
pub(super) struct Mariadb;

impl Fork for Mariadb {
    fn create_data(&self, site: &Site<'_>) -> Result<(), StartError> {
        // Since 10.4 `mysql.user` is a view that the account mariadb.sys must own.
        let accounts = if site.entry().is_at_least(10, 4) {
            "DELETE FROM global_priv WHERE User <> 'mariadb.sys';\nDELETE FROM db;\n"
        } else {
            "DELETE FROM user;\nDELETE FROM db;\n"
        };
        bootstrap(site, accounts)
    }

    fn grant(&self, site: &Site<'_>, account: &str) -> Vec<String> {
        let password = site.password;
        vec![format!("GRANT ALL ON *.* TO {account} IDENTIFIED BY '{password}' WITH GRANT OPTION")]
    }

    fn prints_defaults(&self) -> bool {
        false
    }
}
