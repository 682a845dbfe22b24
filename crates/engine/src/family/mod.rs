//! Sets up, starts and queries servers. Each family has a file.

mod mariadb;
mod mysql;
pub(crate) mod mysqld;
mod postgres;
pub(crate) mod site;

use self::site::Procedure;
use crate::catalogue::entry::Family;

/// The procedure of a family. `None` for a family without a server.
pub(crate) fn procedure(family: Family) -> Option<&'static dyn Procedure> {
    match family {
        Family::Mysql => Some(&mysql::Mysql),
        Family::Mariadb => Some(&mariadb::Mariadb),
        Family::Postgres => Some(&postgres::Postgres),
        Family::Sqlite => None,
    }
}
