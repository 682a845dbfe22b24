//! The plan's tables `[[step.background]]`: workloads that run while the step's own is measured.

use std::collections::BTreeMap;

use dyno_load::{Rate, Script};
use dyno_store::{JoinRecord, Operation};
use serde::Deserialize;

use crate::plan::context::ParseContext;
use crate::plan::keys::steps::step::endpoint::{self, Connects, Endpoint};
use crate::plan::keys::steps::workload::script;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, ClientsNumber, Scalars};

/// A background load. It runs while the step's own workload is measured.
#[derive(Clone, Debug)]
pub struct Background {
    /// Name of the background load in the step. Its step id in reports is `STEP.NAME`.
    pub id: String,
    pub script: Script,
    /// The servers that the load connects to.
    pub endpoint: Endpoint,
    /// The script's options, which override those of the data set.
    pub options: BTreeMap<String, String>,
    /// The operation that is counted for the rate in reports.
    pub operation: Operation,
    /// Number of connections. It is the same for every number of clients of the step.
    pub clients: u32,
    /// Times at which connections join, in order. After the last join, all `clients` connections run. Empty if all
    /// connections run from the start.
    pub joins: Vec<JoinRecord>,
    /// Rate of an open loop, in events a second over all connections of this load. `None` for a closed loop.
    pub rate: Option<Rate>,
}

/// A workload that runs while the step's own is measured.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct BackgroundTable {
    /// Its name. Its id in reports is STEP.NAME.
    id: String,
    /// A built-in workload, or a .lua or .pgbench file.
    workload: At<String>,
    /// The workload's options.
    #[serde(default)]
    options: Scalars,
    /// Which of a system's servers it connects to.
    endpoint: Option<At<Endpoint>>,
    /// The operation that its rate counts; by default transactions, which are events.
    #[cfg_attr(test, schemars(with = "Option<crate::plan::schema::Words<Operation>>"))]
    operation: Option<Operation>,
    /// Connections: a number that run all the time, or the times at which more of them join.
    clients: At<ClientsKey>,
    /// Events due a second (open loop), over all its connections.
    rate: Option<At<Above0>>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum ClientsKey {
    #[serde(rename = "a number")]
    #[cfg_attr(test, schemars(untagged))]
    Constant(ClientsNumber),
    #[serde(rename = "a list")]
    #[cfg_attr(test, schemars(untagged))]
    Joins(Vec<At<JoinTable>>),
}

/// A time from which more connections run events.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct JoinTable {
    /// Seconds since measuring began.
    at_seconds: Above0,
    /// Connections that run from then on, including those before.
    clients: ClientsNumber,
}

impl Background {
    /// Multiplies the times at which clients join by a factor.
    pub(in crate::plan) fn stretch(&mut self, factor: f64) {
        self.joins.iter_mut().for_each(|join| join.at_seconds *= factor);
    }
}

impl BackgroundTable {
    /// Reads the table. `seconds` are the seconds of the step, `earlier` are the step's background loads before
    /// this one, and `of` decides which servers the load can connect to.
    pub(in crate::plan) fn read(
        self,
        seconds: f64,
        earlier: &[Background],
        of: &Connects<'_>,
        context: &ParseContext<'_>,
    ) -> Result<Background, Mistake> {
        let joins = match &*self.clients {
            ClientsKey::Constant(_) => Vec::new(),
            ClientsKey::Joins(list) => joins(list, seconds)?,
        };
        if let (false, Some(other)) = (joins.is_empty(), earlier.iter().find(|it| !it.joins.is_empty())) {
            return Err(self.clients.wrong(format!(
                "clients of `{}` join too, but only one background load of a step may have clients that join; give this one a number",
                other.id
            )));
        }
        if let (false, Some(rate)) = (joins.is_empty(), &self.rate) {
            return Err(rate.wrong("clients that join run as fast as they can; leave `rate` out".to_owned()));
        }
        Ok(Background {
            id: self.id,
            endpoint: endpoint::read(self.endpoint.as_ref(), of)?,
            script: self.workload.read(|name| script(name, &self.options.0, context))?,
            options: self.options.0,
            operation: self.operation.unwrap_or_default(),
            clients: match &*self.clients {
                ClientsKey::Constant(number) => number.0 as u32,
                ClientsKey::Joins(_) => joins.last().map_or(0, |join| join.clients),
            },
            joins,
            rate: self.rate.map(|rate| Rate::steady(rate.0)),
        })
    }
}

/// Reads the times at which clients join. The times must be in order and within the step's seconds. At each time, there
/// must be more clients than at the previous time.
fn joins(list: &[At<JoinTable>], seconds: f64) -> Result<Vec<JoinRecord>, Mistake> {
    let mut joins: Vec<JoinRecord> = Vec::new();
    for table in list {
        let join = JoinRecord { at_seconds: table.at_seconds.0, clients: table.clients.0 as u32 };
        let wrong =
            |key: &str, wanted: String| Err(table.wrong(Problem::OutOfRange { key: key.to_owned(), wanted }));
        if join.at_seconds >= seconds {
            return wrong("at_seconds", format!("below {seconds}, at which the step ends"));
        }
        if let Some(before) = joins.last() {
            if join.at_seconds <= before.at_seconds {
                return wrong("at_seconds", format!("above {}, the time before it", before.at_seconds));
            }
            if join.clients <= before.clients {
                let wanted =
                    format!("above {}, the number before it: it counts all that run", before.clients);
                return wrong("clients", wanted);
            }
        }
        joins.push(join);
    }
    Ok(joins)
}
