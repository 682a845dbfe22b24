//! Finds the databases in data that Dyno did not make, and collects their statistics.

use std::time::Duration;

use dyno_client::{Client, ClientError};

use crate::catalogue::entry::Family;
use crate::start::access::DATABASE;
use crate::start::server::Server;

/// Time limit of a query.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lists the databases that have tables. The database with the most tables comes first.
const MYSQL_DATABASES: &str = "SELECT table_schema FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND \
    table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') \
    GROUP BY table_schema ORDER BY COUNT(*) DESC, table_schema";
/// Lists the databases that somebody has created. The largest comes first. `sbtest`, which Dyno creates in each server,
/// comes last.
const POSTGRES_DATABASES: &str = "SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate \
    AND datname <> 'postgres' ORDER BY datname = 'sbtest', pg_database_size(oid) DESC, datname";
const MYSQL_STATISTICS: &str = "SELECT CONCAT('ANALYZE NO_WRITE_TO_BINLOG TABLE `', REPLACE(table_schema, '`', '``'), '`.`', \
    REPLACE(table_name, '`', '``'), '`') FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND \
    table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')";

impl Server {
    /// Returns the database that contains the data that Dyno did not make. If there are several, returns the database
    /// with the most tables, or for PostgreSQL the largest. If there is none, returns [`DATABASE`].
    ///
    /// # Errors
    /// The server does not answer.
    pub fn main_database(&self) -> Result<String, ClientError> {
        let query = match self.family() {
            Family::Postgres => POSTGRES_DATABASES,
            Family::Mysql | Family::Mariadb | Family::Sqlite => MYSQL_DATABASES,
        };
        let names = first_column(&mut self.connect(PATIENCE)?, query)?;
        Ok(names.into_iter().next().unwrap_or_else(|| DATABASE.to_owned()))
    }

    /// Collects the statistics of all tables, as an administrator would do after loading data.
    ///
    /// # Errors
    /// The server refuses a statement, or does not answer.
    pub(crate) fn collect_statistics(&self) -> Result<(), ClientError> {
        if self.family() == Family::Postgres {
            let databases = first_column(
                &mut self.connect(PATIENCE)?,
                "SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate",
            )?;
            for database in databases {
                let mut client = self.connect_to(&database, PATIENCE)?;
                client.set_patience(None)?;
                client.execute(b"VACUUM (ANALYZE)", None)?;
            }
            return Ok(());
        }
        let mut client = self.connect(PATIENCE)?;
        let statements = first_column(&mut client, MYSQL_STATISTICS)?;
        client.set_patience(None)?;
        statements.iter().try_for_each(|statement| client.execute(statement.as_bytes(), None))
    }
}

fn first_column(client: &mut Client, query: &str) -> Result<Vec<String>, ClientError> {
    let rows = client.query(query)?.rows;
    Ok(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}
