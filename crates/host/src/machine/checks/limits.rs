//! The limits that cgroups, usually those of a container, set for this process.

use std::fs;
use std::path::Path;

use crate::confine::{Controller, HierarchyPosition, NO_LIMIT_BYTES, Tree, Version};

/// Limits of this process; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnLimits {
    /// CPU time per elapsed time: 1.5 for one and a half CPUs.
    pub cpus: Option<f64>,
    /// Memory, page cache included, in bytes.
    pub memory_bytes: Option<u64>,
}

pub(super) fn own() -> OwnLimits {
    let Ok(tree) = Tree::of_this_process() else { return OwnLimits::default() };
    OwnLimits {
        cpus: lowest(tree.place(Controller::Cpu), cpus).filter(|cpus| cpus.is_finite()),
        memory_bytes: lowest(tree.place(Controller::Memory), memory_bytes),
    }
}

/// The lowest of the limits of this process's group and of the group's ancestors. All of these limits apply.
fn lowest<T: PartialOrd>(
    place: Option<HierarchyPosition>,
    limit: fn(Version, &Path) -> Option<T>,
) -> Option<T> {
    let place = place?;
    let groups = place.current.ancestors().take_while(|group| group.starts_with(&place.top));
    let limits = groups.filter_map(|group| limit(place.version, group));
    limits.reduce(|lowest, other| if other < lowest { other } else { lowest })
}

fn cpus(version: Version, group: &Path) -> Option<f64> {
    let read = |file| fs::read_to_string(group.join(file)).ok();
    let (quota_us, period_us) = match version {
        Version::V1 => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
        Version::V2 => {
            read("cpu.max")?.split_once(' ').map(|(quota, period)| (quota.into(), period.into()))?
        }
    };
    // "No limit" is -1 in version 1 and `max` in version 2.
    let quota_us: u64 = quota_us.trim().parse().ok()?;
    Some(quota_us as f64 / period_us.trim().parse::<f64>().ok()?)
}

fn memory_bytes(version: Version, group: &Path) -> Option<u64> {
    let file = match version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    let bytes: u64 = fs::read_to_string(group.join(file)).ok()?.trim().parse().ok()?;
    (bytes < NO_LIMIT_BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(version: Version, root: &Path) -> HierarchyPosition {
        fs::create_dir_all(root.join("a/b")).unwrap();
        HierarchyPosition { version, top: root.to_owned(), current: root.join("a/b"), is_whole: true }
    }

    #[test]
    fn the_lowest_limit_on_the_way_up_holds_in_version_2() {
        let root = tempfile::tempdir().unwrap();
        let place = place(Version::V2, root.path());
        fs::write(root.path().join("a/b/cpu.max"), "max 100000\n").unwrap();
        fs::write(root.path().join("a/cpu.max"), "150000 100000\n").unwrap();
        fs::write(root.path().join("a/b/memory.max"), "2097152\n").unwrap();
        fs::write(root.path().join("a/memory.max"), "1048576\n").unwrap();
        assert_eq!(lowest(Some(place.clone()), cpus), Some(1.5));
        assert_eq!(lowest(Some(place), memory_bytes), Some(1 << 20));
    }

    #[test]
    fn no_limit_is_none_in_version_1() {
        let root = tempfile::tempdir().unwrap();
        let place = place(Version::V1, root.path());
        let group = root.path().join("a/b");
        fs::write(group.join("cpu.cfs_quota_us"), "-1\n").unwrap();
        fs::write(group.join("cpu.cfs_period_us"), "100000\n").unwrap();
        fs::write(group.join("memory.limit_in_bytes"), "9223372036854771712\n").unwrap();
        assert_eq!(lowest(Some(place.clone()), cpus), None);
        assert_eq!(lowest(Some(place.clone()), memory_bytes), None);
        fs::write(group.join("cpu.cfs_quota_us"), "50000\n").unwrap();
        fs::write(group.join("memory.limit_in_bytes"), "1048576\n").unwrap();
        assert_eq!(lowest(Some(place.clone()), cpus), Some(0.5));
        assert_eq!(lowest(Some(place), memory_bytes), Some(1 << 20));
    }

    #[test]
    fn a_controller_that_is_nowhere_limits_nothing() {
        assert_eq!(lowest(None, memory_bytes), None);
    }
}
