//! `dyno engine cache`: lists and prunes the cache.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand, ValueEnum};
use dyno_engine::{Cache, CacheItem, CacheItemKind, PruneLimits, bytes_of_runs, cache_contents, prune_cache};
use indicatif::HumanBytes;

use crate::output;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const UNUSED_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// List the items of the cache with their sizes and last use, or remove them
#[derive(Debug, Args)]
#[command(
    after_help = "The cache contains fetched engines, snapshots of loaded data, templates (fresh data folders for servers to start \
with), and tools that fetch engines and examine servers. Dyno makes or fetches all of them again when it needs \
them. DYNO_CACHE names another folder.

Examples:
  dyno engine cache
  dyno engine cache prune --older-than 30d
  dyno engine cache prune --only snapshots --keep 10G
  dyno engine cache prune --all"
)]
pub(super) struct CacheCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Prune(Prune),
}

/// Remove unused items and leftovers of killed runs; removed items are made again when needed
#[derive(Debug, Args)]
struct Prune {
    /// Remove items that were not used for this time, such as 12h or 30d; 30d if --keep is not given
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    older_than: Option<Duration>,
    /// Remove the least recently used items until the rest fits this size, such as 500M or 10G
    #[arg(long, value_name = "SIZE", value_parser = dyno_host::parse_bytes)]
    keep: Option<u64>,
    /// Empty the cache: remove every item that is not in use
    #[arg(long, conflicts_with_all = ["older_than", "keep"])]
    all: bool,
    /// Remove only these kinds
    #[arg(long, value_name = "KIND,…", value_enum, value_delimiter = ',')]
    only: Vec<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Engines,
    Snapshots,
    Templates,
    Tools,
}

impl From<Kind> for CacheItemKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Engines => Self::Engine,
            Kind::Snapshots => Self::Snapshot,
            Kind::Templates => Self::Template,
            Kind::Tools => Self::Tool,
        }
    }
}

impl CacheCommand {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let cache = Cache::default_location();
        let text = match self.action {
            None => list(&cache_contents(&cache)?, bytes_of_runs(&cache), &cache),
            Some(Action::Prune(prune)) => removed(&prune_cache(&cache, &prune.limits())?),
        };
        output::print(&text)
    }
}

impl Prune {
    fn limits(&self) -> PruneLimits {
        let default = self.keep.is_none().then_some(UNUSED_FOR);
        let kinds: Vec<CacheItemKind> = self.only.iter().map(|kind| CacheItemKind::from(*kind)).collect();
        PruneLimits {
            kinds: if kinds.is_empty() { CacheItemKind::ALL.into() } else { kinds },
            unused_for: if self.all { None } else { self.older_than.or(default) },
            keep_bytes: if self.all { Some(0) } else { self.keep },
        }
    }
}

fn list(items: &[CacheItem], of_runs: u64, cache: &Cache) -> String {
    let mut text = format!("{}\n", cache.root().display());
    for kind in Kind::value_variants() {
        let items: Vec<_> = items.iter().filter(|item| item.kind == CacheItemKind::from(*kind)).collect();
        let _ = writeln!(text, "\n{}: {}", heading(*kind), total(items.iter().copied()));
        for item in items {
            let _ = writeln!(text, "{}", line(item));
        }
    }
    let all = items.iter().map(|item| item.disk_bytes).sum::<u64>() + of_runs;
    let _ = writeln!(text, "\ndata of runs: {}, removed as they end", HumanBytes(of_runs));
    let _ = writeln!(text, "in all: {}; `dyno engine cache prune --all` empties it", HumanBytes(all));
    text
}

fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Engines => "engines",
        Kind::Snapshots => "snapshots",
        Kind::Templates => "templates",
        Kind::Tools => "tools",
    }
}

fn removed(items: &[CacheItem]) -> String {
    let lines = items.iter().map(line).collect::<Vec<_>>();
    [lines, vec![format!("removed: {}\n", total(items.iter()))]].concat().join("\n")
}

fn line(item: &CacheItem) -> String {
    let size = HumanBytes(item.disk_bytes).to_string();
    let used = if item.is_in_use { "in use".to_owned() } else { ago(item.used_at) };
    format!("  {size:>11}  {used:14}  {}", item.name)
}

fn total<'a>(items: impl Iterator<Item = &'a CacheItem>) -> String {
    let sizes: Vec<_> = items.map(|item| item.disk_bytes).collect();
    if sizes.is_empty() {
        return "none".to_owned();
    }
    format!("{} in {}", HumanBytes(sizes.iter().sum()), sizes.len())
}

fn ago(moment: SystemTime) -> String {
    let age = SystemTime::now().duration_since(moment).unwrap_or_default();
    match age.as_secs() / DAY.as_secs() {
        0 => "used today".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_the_limit_where_none_is_given() {
        let prune = |keep, all, only| Prune { older_than: None, keep, all, only }.limits();
        let month = prune(None, false, vec![Kind::Snapshots]);
        assert_eq!(month.kinds, [CacheItemKind::Snapshot]);
        assert_eq!((month.unused_for, month.keep_bytes), (Some(30 * DAY), None));
        let kept = prune(Some(5), false, Vec::new());
        assert_eq!((kept.unused_for, kept.keep_bytes), (None, Some(5)));
        assert_eq!(kept.kinds, CacheItemKind::ALL);
        let all = prune(None, true, Vec::new());
        assert_eq!((all.unused_for, all.keep_bytes), (None, Some(0)));
    }
}
