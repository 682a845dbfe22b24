//! The plan key `endpoint`: which of a system's servers a load connects to.

use serde::Deserialize;

use crate::plan::keys::steps::command::Command;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::At;

/// Which of a system's servers a load connects to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "lowercase")]
pub enum Endpoint {
    /// The server that takes writes.
    #[default]
    Primary,
    /// Its replicas. Connections take them in turn.
    Replicas,
}

impl Endpoint {
    /// Returns the word for the endpoint in plans and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Replicas => "replicas",
        }
    }
}

/// The properties of a step that decide which endpoints its loads may use.
pub(in crate::plan) struct Connects<'a> {
    pub(in crate::plan) command: Command,
    pub(in crate::plan) has_drivers: bool,
    pub(in crate::plan) systems: &'a [System],
    /// Ids of the systems that do not run the step.
    pub(in crate::plan) not_for: &'a [String],
}

/// Reads the endpoint of a load. Every system that runs the step must have the endpoint.
pub(in crate::plan) fn read(own: Option<&At<Endpoint>>, of: &Connects<'_>) -> Result<Endpoint, Mistake> {
    let Some(own) = own.filter(|own| ***own == Endpoint::Replicas) else { return Ok(Endpoint::Primary) };
    if of.command == Command::Prepare {
        return Err(own.wrong("a replica takes no writes, so no load; leave `endpoint` out".to_owned()));
    }
    if of.has_drivers {
        return Err(
            own.wrong("drivers reach the primary alone; leave `endpoint` or `drivers` out".to_owned())
        );
    }
    let without =
        of.systems.iter().find(|system| system.replication.is_none() && !of.not_for.contains(&system.id));
    match without {
        Some(system) => {
            let id = &system.id;
            Err(own.wrong(format!(
                "system `{id}` has no replicas; give it `replicas`, or write `not_for = [\"{id}\"]` in the step"
            )))
        }
        None => Ok(Endpoint::Replicas),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse};

    const BACKGROUND: &str = "[[step.background]]\nid = \"readers\"\nworkload = \"oltp_point_select\"\noperation = \"query\"\nclients = 1\nendpoint = \"replicas\"\n";

    /// Reads the small plan in which each of the systems `ids` has a replica, with the text `more` at the end.
    fn replicated(ids: &[&str], more: &str) -> Result<crate::plan::Plan, String> {
        let mut text = TEXT.to_owned();
        for id in ids {
            text = text.replace(&format!("id = \"{id}\"\n"), &format!("id = \"{id}\"\nreplicas = 1\n"));
        }
        parse(&(text + more)).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_go_to_replicas_where_all_systems_have_some() {
        let plan = replicated(&["a", "b"], &format!("not_for = [\"c\"]\n{BACKGROUND}")).unwrap();
        let step = &plan.steps[1];
        assert_eq!((step.endpoint, step.background[0].endpoint), (Endpoint::Primary, Endpoint::Replicas));
        assert_eq!(step.measure, crate::plan::Measure::Whole, "a primary that is frozen has no lag");
        for (ids, more, problem) in [
            (
                &["a"][..],
                "not_for = [\"c\"]\nendpoint = \"replicas\"\n".to_owned(),
                "system `b` has no replicas",
            ),
            (&["a", "b"][..], BACKGROUND.to_owned(), "system `c` has no replicas"),
            (&["c"][..], String::new(), "has no replicas; leave `replicas` out"),
        ] {
            let error = replicated(ids, &more).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
        let of_load =
            TEXT.replacen("command = \"prepare\"", "command = \"prepare\"\nendpoint = \"replicas\"", 1);
        assert!(parse(&of_load).unwrap_err().to_string().contains("a replica takes no writes"));
    }
}
