//! The commits of the traffic, whose changes later statements may need.

use crate::error::TrafficError;
use crate::file::TrafficFile;

/// Largest number of commits of a replay that keeps their order. A commit takes 24 bytes.
const COMMITS_MAX: u64 = 50_000_000;

/// All commits of the traffic, in the order in which they ended. Commits are the ends of transactions, definitions such
/// as `CREATE TABLE`, and other statements outside of transactions that may change something. Statements that failed
/// are left out, because they changed nothing.
#[derive(Debug)]
pub struct Commits {
    /// When each commit ended, in µs since `began_at_us` of the traffic file.
    ends_us: Vec<i64>,
    /// The ids of the commits' statements, ascending. Each has the position of its commit in `ends_us`.
    places: Vec<(i64, u32)>,
}

impl Commits {
    /// Reads the commits of a file.
    ///
    /// # Errors
    /// The file is damaged, or it has more than 50 million commits.
    pub fn read(file: &TrafficFile) -> Result<Self, TrafficError> {
        let mut commits: Vec<(i64, i64)> = Vec::new();
        let mut all: u64 = 0;
        file.for_commits(|id, ended_us| {
            all += 1;
            if all <= COMMITS_MAX {
                commits.push((ended_us, id));
            }
        })?;
        if all > COMMITS_MAX {
            return Err(TrafficError::TooManyCommits { path: file.path().to_owned(), most: COMMITS_MAX });
        }
        Ok(Self::of(commits))
    }

    /// Creates the order from the ends of commits, in µs, and the ids of their statements.
    pub fn of(mut commits: Vec<(i64, i64)>) -> Self {
        commits.sort_unstable();
        let mut places: Vec<(i64, u32)> =
            commits.iter().zip(0..).map(|((_, id), place)| (*id, place)).collect();
        places.sort_unstable();
        Self { ends_us: commits.into_iter().map(|(ended_us, _)| ended_us).collect(), places }
    }

    /// The number of commits.
    pub fn len(&self) -> u32 {
        self.ends_us.len() as u32
    }

    /// Whether there are no commits.
    pub fn is_empty(&self) -> bool {
        self.ends_us.is_empty()
    }

    /// The number of commits that had ended before a statement began. These are the first commits in the order.
    pub fn before(&self, began_us: i64) -> u32 {
        self.ends_us.partition_point(|ended_us| *ended_us < began_us) as u32
    }

    /// Returns the position of a statement's commit in the order. `None` if the statement is no commit.
    pub fn place(&self, statement_id: i64) -> Option<u32> {
        let found = self.places.binary_search_by_key(&statement_id, |(id, _)| *id).ok()?;
        Some(self.places[found].1)
    }
}
