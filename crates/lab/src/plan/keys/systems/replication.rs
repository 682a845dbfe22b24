//! Systems with replicas: the system keys `replicas`, `replication` and `replica_delay_seconds`.

use dyno_engine::{Family, Replication, ReplicationMode};
use serde::Deserialize;

use crate::plan::keys::systems::source::Source;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{At, Whole};

/// Number of replicas of a system. Each replica is a separate server.
pub(in crate::plan) type ReplicasNumber = Whole<1, 8>;
/// Delay of replicas, in seconds. It is limited because a delayed replica answers its first login only after the
/// delay.
pub(in crate::plan) type DelaySeconds = Whole<1, 60>;

/// What a commit waits for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(in crate::plan) enum ModeKey {
    /// A commit waits for no replica.
    Asynchronous,
    /// A commit waits until one replica has received the transaction.
    SemiSynchronous,
    /// A commit waits until all replicas have received the transaction.
    Synchronous,
    /// A Galera cluster of MariaDB: a commit waits for all replicas, and these take writes too.
    Galera,
}

impl From<ModeKey> for ReplicationMode {
    fn from(key: ModeKey) -> Self {
        match key {
            ModeKey::Asynchronous => Self::Asynchronous,
            ModeKey::SemiSynchronous => Self::SemiSynchronous,
            ModeKey::Synchronous => Self::Synchronous,
            ModeKey::Galera => Self::Galera,
        }
    }
}

/// The keys of a system that set its replicas.
pub(in crate::plan) struct Keys {
    pub(in crate::plan) replicas: Option<At<ReplicasNumber>>,
    pub(in crate::plan) mode: Option<At<ModeKey>>,
    pub(in crate::plan) delay_seconds: Option<At<DelaySeconds>>,
}

impl Keys {
    /// Reads how the system is replicated. Returns `None` if it has no replicas. `has_data` says whether the system
    /// starts with data (`data` or `upgrade_of`).
    pub(in crate::plan) fn read(
        &self,
        source: &Source,
        has_data: bool,
    ) -> Result<Option<Replication>, Mistake> {
        let Some(replicas) = &self.replicas else {
            let needs = |key: &str| format!("`{key}` is for systems with `replicas`; say how many there are");
            return match self {
                Self { mode: Some(at), .. } => Err(at.wrong(needs("replication"))),
                Self { delay_seconds: Some(at), .. } => Err(at.wrong(needs("replica_delay_seconds"))),
                _ => Ok(None),
            };
        };
        if !source.is_started_by_dyno() {
            return Err(replicas.wrong(
                "Dyno makes replicas only of servers that it starts; leave `replicas` out".to_owned(),
            ));
        }
        if !source.starts_server() {
            return Err(replicas.wrong(
                "an engine inside the load process has no replicas; leave `replicas` out".to_owned(),
            ));
        }
        if has_data {
            let problem = "a system with `data` or `upgrade_of` cannot have replicas; leave `replicas` out";
            return Err(replicas.wrong(problem.to_owned()));
        }
        let mode = self.mode.as_ref().map_or_else(ReplicationMode::default, |mode| (**mode).into());
        if let Some(at) = &self.mode
            && let Some(problem) = refusal(mode, replicas.0 as u32, source)
        {
            return Err(at.wrong(problem.to_owned()));
        }
        if let Some(at) = self.delay_seconds.as_ref().filter(|_| mode == ReplicationMode::Galera) {
            let problem =
                "the nodes of a Galera cluster hold nothing back; leave `replica_delay_seconds` out";
            return Err(at.wrong(problem.to_owned()));
        }
        Ok(Some(Replication {
            mode,
            replicas: replicas.0 as u32,
            delay_seconds: self.delay_seconds.as_ref().map_or(0, |delay| delay.0 as u32),
        }))
    }
}

/// Returns why servers of a source cannot be replicated in a mode.
fn refusal(mode: ReplicationMode, replicas: u32, source: &Source) -> Option<&'static str> {
    match (mode, source.family()) {
        (ReplicationMode::Synchronous, Family::Mariadb) if replicas > 1 => Some(
            "a commit of MariaDB waits for one replica at most; write `semi-synchronous` or `galera`, or have one \
             replica",
        ),
        (ReplicationMode::Galera, family) if family != Family::Mariadb => {
            Some("Galera is a cluster of MariaDB; write another mode, or an engine `mariadb@…`")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse};

    fn with(keys: &str) -> Result<Option<Replication>, String> {
        const ENGINE: &str = "engine = \"mariadb@10.11/rocksdb\"\n";
        let text = TEXT.replacen(ENGINE, &format!("{ENGINE}{keys}\n"), 1);
        assert_ne!(text, TEXT);
        let plan = parse(&text).map_err(|error| error.to_string())?;
        Ok(plan.systems.iter().find_map(|system| system.replication))
    }

    #[test]
    fn replicas_are_asynchronous_unless_the_plan_says_otherwise() {
        assert_eq!(with(""), Ok(None));
        let replication =
            |mode, replicas, delay_seconds| Ok(Some(Replication { mode, replicas, delay_seconds }));
        assert_eq!(with("replicas = 2"), replication(ReplicationMode::Asynchronous, 2, 0));
        let keys = "replicas = 2\nreplication = \"semi-synchronous\"\nreplica_delay_seconds = 3";
        assert_eq!(with(keys), replication(ReplicationMode::SemiSynchronous, 2, 3));
        let keys = "replicas = 1\nreplication = \"synchronous\"";
        assert_eq!(with(keys), replication(ReplicationMode::Synchronous, 1, 0));
        let keys = "replicas = 2\nreplication = \"galera\"";
        assert_eq!(with(keys), replication(ReplicationMode::Galera, 2, 0));
    }

    #[test]
    fn keys_that_do_not_fit_are_refused_with_what_to_do() {
        for (keys, problem) in [
            ("replication = \"synchronous\"", "`replication` is for systems with `replicas`"),
            ("replica_delay_seconds = 3", "`replica_delay_seconds` is for systems with `replicas`"),
            (
                "replicas = 2\nreplication = \"synchronous\"",
                "a commit of MariaDB waits for one replica at most",
            ),
            ("replicas = 0", "from 1 to 8"),
            (
                "replicas = 2\nreplication = \"galera\"\nreplica_delay_seconds = 3",
                "the nodes of a Galera cluster hold nothing back",
            ),
        ] {
            let error = with(keys).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
