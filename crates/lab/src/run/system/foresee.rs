//! Finds out what a run would encounter on running servers, for `--dry-run`. Nothing is changed on the servers.

use dyno_engine::{HoldError, Remote, Survey};

use super::intent::{Intent, running};
use crate::plan::Plan;
use crate::run::error::{RunError, SystemError};

/// What a run would encounter on a running system.
#[derive(Debug)]
pub struct Foreseen {
    pub system: String,
    /// The address of the server and its database.
    pub address: String,
    pub found: Found,
}

/// The state of a database.
#[derive(Debug)]
pub enum Found {
    /// The state is unknown, because the server refuses the connection.
    Unknown(SystemError),
    /// The plan loads no tables into the database.
    NoLoads,
    /// The database does not exist. Dyno would create it.
    Nothing,
    /// The loads would be refused. `names` are the tables that Dyno did not make.
    Refused { names: Vec<String>, reason: HoldError },
    /// The loads may begin.
    Tables {
        /// The tables that earlier runs have made.
        made: Vec<String>,
        /// The tables that Dyno did not make and that the loads may drop.
        may_drop: Vec<String>,
        /// Whether the loaded tables stay after the run.
        keeps: bool,
    },
}

/// Looks into the databases of a plan's running servers.
pub fn foresee(plan: &Plan) -> Vec<Foreseen> {
    let foreseen = running(plan).map(|(system, dsn)| {
        let intent = Intent::of(plan, system, dsn);
        let found = Remote::connect(dsn).map_or_else(
            |error| Found::Unknown(error.into()),
            |remote| found(&remote, intent, dsn.names_database()),
        );
        Foreseen { system: system.id.clone(), address: dsn.to_string(), found }
    });
    foreseen.collect()
}

fn found(remote: &Remote, intent: Intent, names_database: bool) -> Found {
    if !names_database {
        return Found::Nothing;
    }
    let survey = match Survey::of(remote) {
        Ok(survey) => survey,
        Err(HoldError::Remote(error)) => return Found::Unknown(error.into()),
        Err(reason) => return Found::Refused { names: Vec::new(), reason },
    };
    let (names, made) = (survey.foreign(), survey.made());
    match survey.check() {
        _ if !intent.loads => Found::NoLoads,
        Err(reason) if !intent.may_drop => Found::Refused { names, reason },
        _ => Found::Tables { made, may_drop: names, keeps: intent.keeps },
    }
}

impl Foreseen {
    /// Returns an error if a run would be refused.
    ///
    /// # Errors
    /// The run would be refused.
    pub fn check(self) -> Result<(), RunError> {
        match self.found {
            Found::Refused { reason, .. } => {
                Err(RunError::Hold { system: self.system, source: Box::new(reason) })
            }
            _ => Ok(()),
        }
    }
}
