//! Facts that all files of a run share: its key, its partition, and columns that every trial repeats.

use dyno_store::{Completeness, HostRecord, RunId, RunIdentity, Store};
use sha2::{Digest as _, Sha256};

use super::partition::Partition;
use crate::error::ExportError;

/// Bytes of the hash in a key. The probability that two of 100,000 runs have the same key is 3e-10.
const KEY_BYTES: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunFacts {
    pub(super) id: RunId,
    pub(super) key: String,
    pub(super) completeness: Completeness,
    /// When the run started, in milliseconds since 1970 UTC.
    pub(super) started_at_ms: i64,
    pub(super) dyno_version: String,
    pub(super) cpu_model: Option<String>,
    pub(super) cpus: Option<i64>,
    pub(super) memory_bytes: Option<i64>,
    partition: Partition,
}

impl RunFacts {
    pub(super) fn read(store: &Store, id: RunId) -> Result<Self, ExportError> {
        let identity = store.run_identity(id)?;
        let host: HostRecord = serde_json::from_str(&identity.host).unwrap_or_default();
        let integer = |number: Option<u64>| number.and_then(|number| i64::try_from(number).ok());
        let (plan, dyno_version) = store
            .connection()
            .query_row("SELECT plan_name, dyno_version FROM run WHERE id = ?1", [id.0], |row| {
                Ok((row.get::<_, String>(0)?, row.get(1)?))
            })
            .map_err(|error| store.error(error))?;
        Ok(Self {
            id,
            key: key(&identity),
            completeness: store.completeness(id)?,
            started_at_ms: identity.started_at_ms,
            dyno_version,
            cpus: integer(host.cpus),
            memory_bytes: integer(host.memory_bytes),
            partition: Partition::new(&plan, identity.started_at_ms, host.hostname.as_deref()),
            cpu_model: host.cpu_model,
        })
    }

    /// Returns the name of the file that has this run's rows of `table`. The name is relative to the folder of the data
    /// set.
    pub(super) fn file_name(&self, table: &str) -> String {
        format!("{table}/{}/{}.parquet", self.partition.folder(), self.key)
    }
}

/// Returns the key of a run: the first digits of a hash of the run's identity. A run has the same key in every
/// results file. The exception is a run on several hosts that has no round yet: its key changes with the first round,
/// which sets the run's host.
fn key(identity: &RunIdentity) -> String {
    let mut hash = Sha256::new();
    hash.update(identity.started_at_ms.to_le_bytes());
    hash.update(identity.seed.to_le_bytes());
    for text in [&identity.host, &identity.plan_text] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let first = hash.finalize().iter().take(KEY_BYTES).fold(0_u64, |key, byte| key << 8 | u64::from(*byte));
    format!("{first:0digits$x}", digits = 2 * KEY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_differ_in_anything_have_other_keys() {
        let run = RunIdentity {
            started_at_ms: 1,
            seed: 2,
            host: "{}".to_owned(),
            plan_text: "name = \"a\"".to_owned(),
        };
        assert_eq!(key(&run).len(), 2 * KEY_BYTES);
        assert_eq!(key(&run), key(&run.clone()));
        let others = [
            RunIdentity { started_at_ms: 2, ..run.clone() },
            RunIdentity { seed: 1, ..run.clone() },
            RunIdentity { host: "{".to_owned(), plan_text: "}name = \"a\"".to_owned(), ..run.clone() },
            RunIdentity { plan_text: String::new(), ..run.clone() },
        ];
        for other in others {
            assert_ne!(key(&run), key(&other), "{other:?}");
        }
    }
}
