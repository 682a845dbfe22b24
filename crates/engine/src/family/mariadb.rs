//! MariaDB.

use std::process::Command;

use dyno_client::Dialect;

use super::{Procedure, Site, mysqld};
use crate::cache::home::Home;
use crate::machine::path_error::PathError;
use crate::start::server::StartError;

#[derive(Debug)]
pub(super) struct Mariadb;

impl Procedure for Mariadb {
    fn user(&self) -> &'static str {
        mysqld::USER
    }

    fn socket_name(&self, _port: u16) -> String {
        mysqld::SOCKET.to_owned()
    }

    fn own_settings(&self) -> &'static [&'static str] {
        mysqld::OWN_SETTINGS
    }

    fn initialize(&self, site: &Site<'_>) -> Result<(), StartError> {
        // Since 10.4 `mysql.user` is a view that the account mariadb.sys must own.
        let accounts = if site.entry().is_at_least(10, 4) {
            "DELETE FROM global_priv WHERE User <> 'mariadb.sys';\nDELETE FROM db;\n"
        } else {
            "DELETE FROM user;\nDELETE FROM db;\n"
        };
        mysqld::bootstrap(site, accounts)
    }

    fn take_over(&self, site: &Site<'_>) -> Result<(), StartError> {
        Ok(mysqld::forget_others(&site.home.data())?)
    }

    fn server(&self, site: &Site<'_>) -> Result<Command, PathError> {
        let mut statements = vec![mysqld::create_database()];
        for account in mysqld::accounts(site) {
            let password = site.password;
            statements
                .push(format!("GRANT ALL ON *.* TO {account} IDENTIFIED BY '{password}' WITH GRANT OPTION"));
        }
        mysqld::server(site, &statements)
    }

    fn tidy(&self, home: &Home) -> Result<(), PathError> {
        mysqld::tidy(home)
    }

    fn dialect(&self) -> Dialect {
        Dialect::MYSQL
    }

    fn version_query(&self) -> &'static str {
        mysqld::VERSION_QUERY
    }

    fn variables_query(&self) -> &'static str {
        mysqld::VARIABLES_QUERY
    }

    fn scans_query(&self) -> &'static str {
        mysqld::SCANS_QUERY
    }

    fn overwritten_logs(&self) -> Option<&'static str> {
        Some(mysqld::INNODB_LOGS)
    }
}
