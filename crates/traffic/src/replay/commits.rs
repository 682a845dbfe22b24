//! The statements of traffic whose changes others may need: where transactions end.

use crate::error::TrafficError;
use crate::file::TrafficFile;

/// Most commits of a replay that keeps their order. They take 24 bytes each.
const COMMITS_MAX: u64 = 50_000_000;

/// All commits of traffic, in the order in which they ended: the ends of transactions, and statements outside of
/// transactions that may change something. Those that failed changed nothing.
#[derive(Debug)]
pub struct Commits {
    /// When each ended, in µs, as in the traffic file.
    ends_us: Vec<i64>,
    /// The ids of their statements in ascending order, each with its place in the order.
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

    /// The commits with these ends, in µs, and statement ids.
    pub fn of(mut commits: Vec<(i64, i64)>) -> Self {
        commits.sort_unstable();
        let mut places: Vec<(i64, u32)> =
            commits.iter().zip(0..).map(|((_, id), place)| (*id, place)).collect();
        places.sort_unstable();
        Self { ends_us: commits.into_iter().map(|(ended_us, _)| ended_us).collect(), places }
    }

    /// Their number.
    pub fn len(&self) -> u32 {
        self.ends_us.len() as u32
    }

    /// Whether the traffic has none.
    pub fn is_empty(&self) -> bool {
        self.ends_us.is_empty()
    }

    /// The number of commits that had ended before a statement began. They are the first ones in the order.
    pub fn before(&self, began_us: i64) -> u32 {
        self.ends_us.partition_point(|ended_us| *ended_us < began_us) as u32
    }

    /// The place of a statement in the order, if it is a commit.
    pub fn place(&self, statement_id: i64) -> Option<u32> {
        let found = self.places.binary_search_by_key(&statement_id, |(id, _)| *id).ok()?;
        Some(self.places[found].1)
    }
}
