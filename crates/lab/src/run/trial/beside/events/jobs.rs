//! The jobs of events that use connections. The connections are open before the event is due.

use dyno_load::{Job, Script, Target, Tuning, lua_string};

/// Time limit for the connections of an event to open, in seconds.
const CONNECT_SECONDS: f64 = 120.0;

/// A script that executes a statement. After the script has connected, it first prints another statement, by which
/// another connection can end this script's session.
const SQL: &str = "
local own = {
  mysql = { 'SELECT CONNECTION_ID()', 'KILL %s' },
  pgsql = { 'SELECT pg_backend_pid()', 'SELECT pg_terminate_backend(%s)' },
}
function thread_init()
  local driver = sysbench.sql.driver()
  con = driver:connect()
  local session = own[driver:name()]
  if session then
    print(string.format(session[2], con:query_row(session[1])))
  end
end
function event()
  con:query(STATEMENT)
end
";

/// Opens a connection and keeps it open.
const CONNECTION: &str = "
local ffi = require('ffi')
ffi.cdef('int usleep(unsigned int us);')
function event()
  local con = sysbench.sql.driver():connect()
  con:query('SELECT 1')
  ffi.C.usleep(HOLD_US)
  con:disconnect()
end
";

/// Begins a transaction that has a snapshot, and leaves it open.
const TRANSACTION: &str = "
local ffi = require('ffi')
ffi.cdef('int usleep(unsigned int us);')
local begin = {
  mysql = { 'START TRANSACTION WITH CONSISTENT SNAPSHOT' },
  pgsql = { 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1' },
  sqlite = { 'BEGIN', 'SELECT count(*) FROM sqlite_master' },
}
function thread_init()
  con = sysbench.sql.driver():connect()
end
function event()
  for _, statement in ipairs(begin[sysbench.sql.driver():name()]) do
    con:query(statement)
  end
  ffi.C.usleep(HOLD_US)
  con:query('ROLLBACK')
end
";

/// Executes a statement once.
const PLAIN: &str = "
function event()
  sysbench.sql.driver():connect():query(STATEMENT)
end
";

pub(super) fn sql(statement: &str, target: Target) -> Job {
    waiting(1, SQL.replace("STATEMENT", &lua_string(statement)), target)
}

pub(super) fn connections(number: u32, hold_seconds: f64, target: Target) -> Job {
    waiting(number, holding(CONNECTION, hold_seconds), target)
}

pub(super) fn transaction(seconds: f64, target: Target) -> Job {
    waiting(1, holding(TRANSACTION, seconds), target)
}

/// The job that ends an event's session. `statement` is what the event has printed. The job begins at once.
pub(super) fn end_of_session(statement: &str, target: Target) -> Job {
    Job { awaits_begin: false, ..waiting(1, PLAIN.replace("STATEMENT", &lua_string(statement)), target) }
}

fn holding(source: &str, seconds: f64) -> String {
    source.replace("HOLD_US", &((seconds * 1e6) as u64).to_string())
}

/// Makes a job that runs one event on each of its connections. The job waits until it is ordered to begin.
fn waiting(connections: u32, source: String, target: Target) -> Job {
    let script = Script { name: "the event".to_owned(), source, search_path: Vec::new() };
    Job {
        connections,
        events: Some(u64::from(connections)),
        awaits_begin: true,
        tuning: Tuning { start_seconds_max: CONNECT_SECONDS, ..Tuning::default() },
        ..Job::new(target, script, "run")
    }
}

#[cfg(test)]
mod tests {
    use dyno_load::{Address, Protocol, check_syntax};

    use super::*;

    #[test]
    fn no_statement_ends_its_script() {
        let target = || Target::new(Protocol::Mysql, vec![Address::Unix("s".into())]);
        let statement = "ALTER TABLE `a` ADD c TEXT DEFAULT ']]\"\\' -- STATEMENT\n";
        for job in [
            sql(statement, target()),
            connections(3, 0.5, target()),
            transaction(60.0, target()),
            end_of_session(statement, target()),
        ] {
            check_syntax(&job.script).unwrap();
            assert_eq!(job.events, Some(u64::from(job.connections)));
        }
        assert!(transaction(60.0, target()).script.source.contains("usleep(60000000)"));
    }
}
