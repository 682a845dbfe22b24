//! MySQL.

use std::process::Command;

use dyno_client::Dialect;

use super::{Procedure, Site, mysqld};
use crate::cache::home::Home;
use crate::catalogue::entry::Entry;
use crate::machine::path_error::PathError;
use crate::start::server::StartError;

#[derive(Debug)]
pub(super) struct Mysql;

impl Procedure for Mysql {
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
        if is_modern(site.entry()) {
            mysqld::initialize(site)
        } else {
            mysqld::bootstrap(site, "DELETE FROM user;\nDELETE FROM db;\n")
        }
    }

    fn take_over(&self, site: &Site<'_>) -> Result<(), StartError> {
        Ok(mysqld::forget_others(&site.home.data())?)
    }

    fn server(&self, site: &Site<'_>) -> Result<Command, PathError> {
        let mut statements = vec![mysqld::create_database()];
        for account in mysqld::accounts(site) {
            statements.extend(grant(&account, site.password, is_modern(site.entry())));
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

    fn help(&self, site: &Site<'_>) -> Option<Command> {
        Some(mysqld::help(site))
    }
}

/// From 5.7 on the server creates its data folder itself and has statements for accounts.
fn is_modern(entry: &Entry) -> bool {
    entry.is_at_least(5, 7)
}

fn grant(account: &str, password: &str, is_modern: bool) -> Vec<String> {
    if is_modern {
        vec![
            format!("CREATE USER IF NOT EXISTS {account}"),
            format!("ALTER USER {account} IDENTIFIED BY '{password}'"),
            format!("GRANT ALL ON *.* TO {account} WITH GRANT OPTION"),
        ]
    } else {
        vec![format!("GRANT ALL ON *.* TO {account} IDENTIFIED BY '{password}' WITH GRANT OPTION")]
    }
}
