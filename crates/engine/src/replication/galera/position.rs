//! The position of a node's data in a cluster's order of transactions.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use crate::machine::path_error::{At as _, PathError};
use crate::replication::write_new;

/// The file in which Galera keeps the position while the server is down.
const FILE: &str = "grastate.dat";
/// UUID of the cluster that Dyno records for data that was in no cluster.
const FIRST_CLUSTER: &str = "64796e6f-0000-4000-8000-000000000001";
/// The UUID that a server records if it does not know its cluster.
const NO_CLUSTER: &str = "00000000-0000-0000-0000-000000000000";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The cluster's UUID.
    cluster: String,
    /// Number of the last transaction. -1 while the server runs, and after it was killed.
    number: i64,
}

impl Position {
    /// The position that a server's data folder records. `None` if the data was in no cluster.
    pub(super) fn read(data: &Path) -> Result<Option<Self>, PathError> {
        let path = data.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self::of_state(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).at("read", &path),
        }
    }

    /// The position of data that was in no cluster.
    pub(super) fn first() -> Self {
        Self { cluster: FIRST_CLUSTER.to_owned(), number: 0 }
    }

    /// Records the position in the data folder of a server. Also allows the server to begin a cluster.
    pub(super) fn write(&self, data: &Path) -> Result<(), PathError> {
        let Self { cluster, number } = self;
        let text = format!(
            "# GALERA saved state\nversion: 2.1\nuuid:    {cluster}\nseqno:   {number}\nsafe_to_bootstrap: 1\n"
        );
        write_new(&data.join(FILE), &text)
    }

    fn of_state(text: &str) -> Option<Self> {
        let value = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
        };
        let cluster = value("uuid")?.to_owned();
        (cluster != NO_CLUSTER).then_some(Self { cluster, number: value("seqno")?.parse().ok()? })
    }

    /// The position in a line of the log of `--wsrep-recover`.
    pub(super) fn of_log(line: &str) -> Option<Self> {
        line.split_once("Recovered position: ")?.1.split_whitespace().next()?.parse().ok()
    }

    pub(super) fn is_known(&self) -> bool {
        self.number >= 0 && self.cluster != NO_CLUSTER
    }
}

impl std::str::FromStr for Position {
    type Err = ();

    /// Parses `UUID:NUMBER`. Ignores the identifiers of domains that may follow after a comma.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (cluster, rest) =
            text.split_once(':').filter(|(cluster, _)| cluster.len() == NO_CLUSTER.len()).ok_or(())?;
        let number = rest.split(',').next().unwrap_or_default().parse().map_err(drop)?;
        Ok(Self { cluster: cluster.to_owned(), number })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.cluster, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_node_says_where_it_is_unless_it_was_killed() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Position::read(folder.path()).unwrap(), None);
        Position::first().write(folder.path()).unwrap();
        let first = Position::read(folder.path()).unwrap().unwrap();
        assert!(first.is_known());
        assert_eq!(first.to_string(), format!("{FIRST_CLUSTER}:0"));
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("seqno:   0", "seqno:   -1")).unwrap();
        assert!(!Position::read(folder.path()).unwrap().unwrap().is_known());
        fs::write(&path, text.replace(FIRST_CLUSTER, NO_CLUSTER)).unwrap();
        assert_eq!(Position::read(folder.path()).unwrap(), None, "it joined no cluster");
    }

    #[test]
    fn a_recovered_position_is_read_from_the_log() {
        let line =
            |position: &str| format!("2026-11-29 10:33:56 0 [Note] WSREP: Recovered position: {position}");
        let found = Position::of_log(&line(&format!("{FIRST_CLUSTER}:6,0-1-2"))).unwrap();
        assert_eq!(found.to_string(), format!("{FIRST_CLUSTER}:6"));
        assert!(!Position::of_log(&line(&format!("{NO_CLUSTER}:-1"))).unwrap().is_known());
        assert_eq!(Position::of_log("2026-11-29 10:33:56 0 [Note] WSREP: Initializing"), None);
    }
}
