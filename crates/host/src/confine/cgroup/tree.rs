//! Finds the kernel's cgroups: the hierarchy of a controller, and the group of this process in it.
//!
//! Version 1 (the kernel's Documentation/admin-guide/cgroup-v1) has a hierarchy for each controller, or for a few
//! controllers. Version 2 (Documentation/admin-guide/cgroup-v2.rst) has one hierarchy for all. Both versions may be
//! mounted, each with some of the controllers.

use std::fs;
use std::path::{Path, PathBuf};

use procfs::process::{MountInfo, Process};
use procfs::{ProcError, ProcessCGroup};

/// A controller of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    /// CPU time.
    Cpu,
    /// CPUs and memory nodes.
    Cpuset,
    Memory,
    Io,
}

/// Version of cgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

/// Where a controller's groups are in the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HierarchyPosition {
    pub(crate) version: Version,
    /// The highest visible group.
    pub(crate) top: PathBuf,
    /// The group that this process is in.
    pub(crate) current: PathBuf,
    /// Whether `top` is the hierarchy's root, and not only the part that is mounted for a container.
    pub(crate) is_whole: bool,
}

/// The mounted hierarchies, and the groups of this process.
#[derive(Debug)]
pub(crate) struct Tree {
    mounts: Vec<MountInfo>,
    groups: Vec<ProcessCGroup>,
}

impl Controller {
    /// The controller's name in a version of cgroups. For block devices, the names differ.
    pub(crate) fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Cpu, _) => "cpu",
            (Self::Cpuset, _) => "cpuset",
            (Self::Memory, _) => "memory",
            (Self::Io, Version::V1) => "blkio",
            (Self::Io, Version::V2) => "io",
        }
    }
}

impl Tree {
    /// Reads the tree that this process sees, from `/proc/self/mountinfo` and `/proc/self/cgroup`.
    pub(crate) fn of_this_process() -> Result<Self, ProcError> {
        let me = Process::myself()?;
        Ok(Self { mounts: me.mountinfo()?.0, groups: me.cgroups()?.0 })
    }

    /// Position of a controller; `None` if it is in no mounted hierarchy.
    pub(crate) fn place(&self, controller: Controller) -> Option<HierarchyPosition> {
        self.place_v1(controller).or_else(|| self.place_v2(controller))
    }

    /// The group of this process in each mounted hierarchy. Hierarchies of version 1 that have no controller, such
    /// as systemd's, are left out. The hierarchy of version 2 is always included.
    pub(crate) fn own_groups(&self) -> Vec<PathBuf> {
        let of_mount = |mount: &MountInfo| {
            let (version, group) = match mount.fs_type.as_str() {
                "cgroup" => (Version::V1, self.groups.iter().find(|group| is_mounted_at(group, mount))?),
                "cgroup2" => (Version::V2, self.groups.iter().find(|group| group.hierarchy == 0)?),
                _ => return None,
            };
            Some(place(version, mount, group)?.current)
        };
        let mut groups: Vec<PathBuf> = self.mounts.iter().filter_map(of_mount).collect();
        groups.sort();
        groups.dedup();
        groups
    }

    fn place_v1(&self, controller: Controller) -> Option<HierarchyPosition> {
        let name = controller.name(Version::V1);
        let has_it = |mount: &&MountInfo| mount.fs_type == "cgroup" && mount.super_options.contains_key(name);
        let mount = self.mounts.iter().find(has_it)?;
        let group = self.groups.iter().find(|group| group.controllers.iter().any(|other| other == name))?;
        place(Version::V1, mount, group)
    }

    fn place_v2(&self, controller: Controller) -> Option<HierarchyPosition> {
        let mount = self.mounts.iter().find(|mount| mount.fs_type == "cgroup2")?;
        let group = self.groups.iter().find(|group| group.hierarchy == 0 && group.controllers.is_empty())?;
        let place = place(Version::V2, mount, group)?;
        has_word(&place.top.join("cgroup.controllers"), controller.name(Version::V2)).then_some(place)
    }
}

/// Whether a mount shows the version 1 hierarchy to which a group belongs. This is so if mount and group have a
/// controller in common.
fn is_mounted_at(group: &ProcessCGroup, mount: &MountInfo) -> bool {
    group.controllers.iter().any(|controller| mount.super_options.contains_key(controller))
}

/// Returns the folder of a process's group below a mount. `None` if the mount does not show the group.
fn place(version: Version, mount: &MountInfo, group: &ProcessCGroup) -> Option<HierarchyPosition> {
    let below = Path::new(&group.pathname).strip_prefix(&mount.root).ok()?;
    let top = mount.mount_point.clone();
    // Joining an empty path would add a slash at the end.
    let current = if below.as_os_str().is_empty() { top.clone() } else { top.join(below) };
    Some(HierarchyPosition { version, top, current, is_whole: mount.root == "/" })
}

/// Whether a file of words, such as `cgroup.controllers`, contains a word. False if the file does not exist.
pub(crate) fn has_word(path: &Path, word: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.split_ascii_whitespace().any(|other| other == word))
}

#[cfg(test)]
pub(crate) mod tests {
    use procfs::process::MountInfos;
    use procfs::{FromBufRead as _, ProcessCGroups};

    use super::*;

    pub(crate) fn tree(mountinfo: &str, cgroup: &str) -> Tree {
        Tree {
            mounts: MountInfos::from_buf_read(mountinfo.as_bytes()).unwrap().0,
            groups: ProcessCGroups::from_buf_read(cgroup.as_bytes()).unwrap().0,
        }
    }

    #[test]
    fn a_controller_of_version_1_is_found_where_it_is_mounted() {
        let tree = tree(
            "32 31 0:29 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
             34 31 0:31 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n\
             38 31 0:35 /docker/c97 /cg/blkio rw - cgroup cgroup rw,blkio\n\
             41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n",
            "7:blkio:/docker/c97/a\n3:cpuset:/\n1:cpu,cpuacct:/\n0::/\n",
        );
        let place = |controller| tree.place(controller).unwrap();
        let cpuset = place(Controller::Cpuset);
        assert_eq!((cpuset.current.as_path(), cpuset.is_whole), (Path::new("/cg/cpuset"), true));
        let blkio = place(Controller::Io);
        assert_eq!(blkio.version, Version::V1);
        assert_eq!((blkio.current.as_path(), blkio.is_whole), (Path::new("/cg/blkio/a"), false));
        assert_eq!(tree.place(Controller::Memory), None);
    }

    #[test]
    fn a_controller_of_version_2_is_found_by_what_the_hierarchy_has() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cgroup.controllers"), "cpuset cpu io memory\n").unwrap();
        let mountinfo = format!("31 23 0:28 / {} rw - cgroup2 cgroup2 rw\n", root.path().display());
        let tree_at = |group| tree(&mountinfo, &format!("0::{group}\n"));
        let place = tree_at("/user.slice/session-1.scope").place(Controller::Io).unwrap();
        assert_eq!(place.version, Version::V2);
        assert_eq!(place.current, root.path().join("user.slice/session-1.scope"));
        assert_eq!(tree_at("/").place(Controller::Memory).unwrap().current, root.path());
        fs::write(root.path().join("cgroup.controllers"), "hugetlb\n").unwrap();
        assert_eq!(tree_at("/").place(Controller::Memory), None);
    }

    #[test]
    fn the_groups_of_this_process_are_those_with_controllers() {
        let tree = tree(
            "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
             33 31 0:30 / /cg/pids rw - cgroup cgroup rw,pids\n\
             34 31 0:31 / /cg/systemd rw - cgroup cgroup rw,xattr,name=systemd\n\
             41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n\
             42 31 0:39 / /tmp rw - tmpfs none rw\n",
            "3:pids:/a/b\n2:name=systemd:/c\n1:cpu,cpuacct:/\n0::/d\n",
        );
        let groups = ["/cg/cpu", "/cg/pids/a/b", "/cg/unified/d"].map(PathBuf::from);
        assert_eq!(tree.own_groups(), groups);
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_is_not_guessed_at() {
        let tree = tree("38 31 0:35 /a /cg/blkio rw - cgroup cgroup rw,blkio\n", "7:blkio:/b\n");
        assert_eq!(tree.place(Controller::Io), None);
    }
}
