//! `dyno engine cache`: what the cache holds, and its pruning.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use dyno_engine::{Cache, CacheItem, CacheItemKind, PruneLimits, cache_contents, prune_cache};
use indicatif::HumanBytes;

use crate::output;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const UNUSED_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// List fetched engines and snapshots of loaded data with size and last use, or remove them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno engine cache
  dyno engine cache prune --older-than 30d
  dyno engine cache prune --snapshots --keep 10G")]
pub(super) struct CacheCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Prune(Prune),
}

/// Remove engines and snapshots that were not used for long; they are fetched and loaded again when needed
#[derive(Debug, Args)]
struct Prune {
    /// Remove what was not used for this time, such as 12h or 30d; 30d if --keep is not given
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    older_than: Option<Duration>,
    /// Remove the least recently used until the rest fits this size, such as 500M or 10G
    #[arg(long, value_name = "SIZE", value_parser = dyno_host::parse_bytes)]
    keep: Option<u64>,
    /// Remove engines only
    #[arg(long, conflicts_with = "snapshots")]
    engines: bool,
    /// Remove snapshots only
    #[arg(long)]
    snapshots: bool,
}

impl CacheCommand {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let cache = Cache::default_location();
        let text = match self.action {
            None => list(&cache_contents(&cache)?, &cache),
            Some(Action::Prune(prune)) => removed(&prune_cache(&cache, &prune.limits())?),
        };
        output::print(&text)
    }
}

impl Prune {
    fn limits(&self) -> PruneLimits {
        let default = self.keep.is_none().then_some(UNUSED_FOR);
        PruneLimits {
            engines: !self.snapshots,
            snapshots: !self.engines,
            unused_for: self.older_than.or(default),
            keep_bytes: self.keep,
        }
    }
}

fn list(items: &[CacheItem], cache: &Cache) -> String {
    let mut text = format!("{}\n", cache.root().display());
    for (heading, is_of_it) in [("engines", is_engine as fn(&CacheItem) -> bool), ("snapshots", is_snapshot)]
    {
        let items: Vec<_> = items.iter().filter(|item| is_of_it(item)).collect();
        let _ = writeln!(text, "\n{heading}: {}", total(items.iter().copied()));
        for item in items {
            let _ = writeln!(text, "{}", line(item));
        }
    }
    text
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

fn is_engine(item: &CacheItem) -> bool {
    matches!(item.kind, CacheItemKind::Engine { .. })
}

fn is_snapshot(item: &CacheItem) -> bool {
    matches!(item.kind, CacheItemKind::Snapshot { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_the_limit_where_none_is_given() {
        let prune = Prune { older_than: None, keep: None, engines: false, snapshots: true };
        let limits = prune.limits();
        assert_eq!((limits.engines, limits.snapshots), (false, true));
        assert_eq!(limits.unused_for, Some(30 * DAY));
        let kept = Prune { keep: Some(5), ..prune }.limits();
        assert_eq!((kept.unused_for, kept.keep_bytes), (None, Some(5)));
    }
}
