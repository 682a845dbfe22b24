//! The cgroups of a server.

mod group;
mod read_back;
mod tree;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use self::group::Group;
pub use self::group::IoCounts;
pub(crate) use self::group::{limit_io_v1, remove};
pub(crate) use self::read_back::NO_LIMIT_BYTES;
use self::tree::has_word;
pub(crate) use self::tree::{Controller, HierarchyPosition, Tree, Version};
use super::IoLimits;
use super::cpu_set::CpuSet;
use super::error::{At as _, ConfineError};
use super::in_force::{InForce, NotLimited, has_swap};

/// The groups of one server. Version 1 has a group for each controller, and version 2 has one group for all
/// controllers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cgroup {
    /// The group of each controller. For I/O in version 1, this is the hierarchy's root, which Dyno did not create.
    /// The reason is at [`limit_io`](Self::limit_io).
    groups: Vec<(Controller, Group)>,
}

impl Cgroup {
    /// Chooses the paths of the groups, without creating them. `name` is the name of each group. Controllers that
    /// are not available are left out.
    ///
    /// # Errors
    /// In version 2, neither the group of this process nor an ancestor can give these controllers to a child group.
    pub(crate) fn plan(tree: &Tree, name: &str, controllers: &[Controller]) -> Result<Self, ConfineError> {
        let places: Vec<_> =
            controllers.iter().filter_map(|each| Some((*each, tree.place(*each)?))).collect();
        let unified: Vec<_> = places.iter().filter(|(_, place)| place.version == Version::V2).collect();
        let unified_parent = match unified.first() {
            Some((_, place)) => {
                let names: Vec<_> = unified.iter().map(|(each, _)| each.name(Version::V2)).collect();
                Some(delegating(place, &names)?)
            }
            None => None,
        };
        let group = |(controller, place): (Controller, HierarchyPosition)| {
            let folder = match (controller, place.version) {
                (Controller::Io, Version::V1) => place.top,
                (_, Version::V1) => place.current.join(name),
                (_, Version::V2) => unified_parent.as_ref().unwrap_or(&place.current).join(name),
            };
            (controller, Group { version: place.version, folder })
        };
        Ok(Self { groups: places.into_iter().map(group).collect() })
    }

    fn group(&self, controller: Controller) -> Option<&Group> {
        self.groups.iter().find(|(other, _)| *other == controller).map(|(_, group)| group)
    }

    /// The folders of groups that Dyno creates, without duplicates.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let is_ours = |(controller, group): &&(Controller, Group)| {
            (*controller, group.version) != (Controller::Io, Version::V1)
        };
        let mut folders: Vec<_> =
            self.groups.iter().filter(is_ours).map(|(_, group)| group.folder.clone()).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    pub(crate) fn make(&self) -> Result<(), ConfineError> {
        self.folders().iter().try_for_each(|folder| fs::create_dir(folder).at("create", folder))
    }

    /// Restricts the server to some CPUs. This includes the threads that the kernel runs for the server, such as
    /// those of `io_uring`, which ignore affinity masks. Does nothing if the controller is not available.
    pub(crate) fn limit_cpus(&self, cpus: &CpuSet) -> Result<(), ConfineError> {
        self.group(Controller::Cpuset).map_or(Ok(()), |group| group.limit_cpus(cpus))
    }

    pub(crate) fn limit_memory(&self, bytes: u64) -> Result<(), ConfineError> {
        self.group(Controller::Memory).map_or(Ok(()), |group| group.limit_memory(bytes))
    }

    /// Limits I/O on a device (`MAJOR:MINOR`).
    ///
    /// When version 1 writes pages back, it does not know which group owns them, and charges them to the root
    /// group. A limit on the root group does not apply to other groups. The limit is therefore set on the root
    /// group, and the server joins the root group. Only the server uses the device, so the limit applies to the
    /// server alone. Version 2 has no limits on the root group, but knows the owner of a page if memory is
    /// accounted in the same group.
    pub(crate) fn limit_io(&self, device: &str, io: &IoLimits) -> Result<(), ConfineError> {
        self.group(Controller::Io).map_or(Ok(()), |group| group.limit_io(device, io))
    }

    /// Returns the folder of the group in which the I/O limits must be removed when the server has ended. `None` in
    /// version 2, where the kernel removes the limits together with the group.
    pub(crate) fn lasting_io_limits(&self) -> Option<&Path> {
        self.group(Controller::Io)
            .filter(|group| group.version == Version::V1)
            .map(|group| group.folder.as_path())
    }

    /// Opens the files through which a process joins the groups. They are opened here, because a child between fork
    /// and exec cannot build paths.
    pub(crate) fn open_to_join(&self) -> Result<Vec<File>, ConfineError> {
        let mut folders = self.folders();
        folders.extend(self.lasting_io_limits().map(Path::to_owned));
        let open = |folder: PathBuf| {
            let path = folder.join("cgroup.procs");
            File::options().write(true).open(&path).at("open", &path)
        };
        folders.into_iter().map(open).collect()
    }

    pub(crate) fn io_counts(&self, device: &str) -> Option<IoCounts> {
        self.group(Controller::Io)?.io_counts(device)
    }

    /// Returns the limits on memory, swap and I/O that are in force for a server. `device` is `MAJOR:MINOR`. The
    /// fields for CPUs and the volume's size stay empty.
    pub(crate) fn in_force(&self, pid: u32, device: Option<&str>) -> InForce {
        let group = |controller| self.group(controller).filter(|group| group.holds(pid));
        let memory = group(Controller::Memory);
        let io = group(Controller::Io).zip(device).map(|(group, device)| group.io_limits(device));
        InForce {
            memory_bytes: memory.and_then(Group::memory_limit_bytes),
            swap_bytes: memory.and_then(Group::swap_limit_bytes),
            io: io.unwrap_or_default(),
            ..InForce::default()
        }
    }

    /// Returns the requested limits that these groups cannot enforce.
    pub(crate) fn not_limited(&self, limits_cpus: bool, limits_memory: bool) -> Vec<NotLimited> {
        let memory = self.group(Controller::Memory);
        let counts_no_swap = memory.is_some_and(|group| !group.counts_swap());
        let io_v2 = self.group(Controller::Io).is_some_and(|group| group.version == Version::V2);
        let not_limited = [
            (NotLimited::Swap, limits_memory && counts_no_swap && has_swap()),
            (NotLimited::KernelThreads, limits_cpus && self.group(Controller::Cpuset).is_none()),
            (NotLimited::WriteBack, io_v2 && memory.is_none()),
        ];
        not_limited.into_iter().filter(|(_, is_so)| *is_so).map(|(what, _)| what).collect()
    }

    pub(crate) fn memory_limit_bytes(&self) -> Option<u64> {
        self.group(Controller::Memory)?.memory_limit_bytes()
    }

    pub(crate) fn memory_usage_bytes(&self) -> Option<u64> {
        self.group(Controller::Memory)?.memory_usage_bytes()
    }

    pub(crate) fn memory_peak_bytes(&self) -> Option<u64> {
        self.group(Controller::Memory)?.memory_peak_bytes()
    }

    pub(crate) fn oom_kills(&self) -> Option<u64> {
        self.group(Controller::Memory)?.oom_kills()
    }
}

/// Number of processes in this process's group that the kernel killed for lack of memory. `None` if the kernel does
/// not count them.
pub(crate) fn oom_kills_in_own_group() -> Option<u64> {
    let place = Tree::of_this_process().ok()?.place(Controller::Memory)?;
    Group { version: place.version, folder: place.current }.oom_kills_without_children()
}

/// Finds the nearest group whose children can have controllers, from the group of this process upwards.
///
/// In version 2 a group that contains processes cannot give controllers to its children, unless it is the root. A
/// group can only give controllers that it has. So the group of this process is usually not suitable, but one of
/// its ancestors is. Controllers that are enabled here stay enabled, because another run may use them.
fn delegating(place: &HierarchyPosition, controllers: &[&str]) -> Result<PathBuf, ConfineError> {
    for group in place.current.ancestors().take_while(|group| group.starts_with(&place.top)) {
        let (given, passed_on) = (group.join("cgroup.controllers"), group.join("cgroup.subtree_control"));
        if controllers.iter().all(|name| has_word(&given, name))
            && controllers.iter().all(|name| has_word(&passed_on, name) || pass_on(&passed_on, name))
        {
            return Ok(group.to_owned());
        }
    }
    Err(ConfineError::Crowded { group: place.current.clone(), controllers: controllers.join(", ") })
}

fn pass_on(subtree_control: &Path, controller: &str) -> bool {
    fs::write(subtree_control, format!("+{controller}")).is_ok()
}

#[cfg(test)]
mod tests;
