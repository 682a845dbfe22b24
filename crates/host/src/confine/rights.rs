//! Checks the requirements of a confinement.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::thread::{CapabilitySet, capabilities};

use super::cgroup::{Controller, HierarchyPosition, Tree, Version};
use super::confinement::Confinement;
use super::cpu_set::CpuSet;
use super::missing::{LOOP_CONTROL, Lack, Missing};
use super::volume;
use crate::power::FUSE;

impl Confinement {
    /// Checks whether this process can create the confinement, without creating anything.
    ///
    /// # Errors
    /// The rights, controllers, devices, tools and CPUs that are missing, and limits that are invalid.
    pub fn check_rights(&self) -> Result<(), Missing> {
        let mut lacks: Vec<Lack> = self.check_limits().err().map(Lack::from).into_iter().collect();
        lacks.extend(self.missing_cpus());
        if self.volume_bytes().is_some() {
            lacks.extend(missing_for_a_volume());
        }
        if self.latency_us.is_some() {
            lacks.extend(missing_for_a_served_disk());
        }
        let tree = Tree::of_this_process().ok();
        let needed = self.controllers_needed();
        lacks.extend(needed.into_iter().filter_map(|each| missing_controller(tree.as_ref(), each)));
        // If two controllers share a group, both checks may give the same message.
        lacks.dedup_by_key(|lack| lack.to_string());
        if lacks.is_empty() { Ok(()) } else { Err(Missing(lacks)) }
    }

    /// The controllers that the confinement requires. CPUs can be limited without a controller.
    fn controllers_needed(&self) -> Vec<Controller> {
        let memory = self.memory_bytes.map(|_| Controller::Memory);
        memory.into_iter().chain((!self.io.is_none()).then_some(Controller::Io)).collect()
    }

    /// The controllers to use: the required ones, and optional ones that are available.
    pub(super) fn controllers(&self, tree: &Tree) -> Vec<Controller> {
        let mut controllers = self.controllers_needed();
        let is_available = |controller| missing_controller(Some(tree), controller).is_none();
        if self.server_cpus.is_some() && is_available(Controller::Cpuset) {
            controllers.push(Controller::Cpuset);
        }
        // Version 2 charges the write-back of a page to the group that owns the page, but only if memory is
        // accounted in the same group.
        let is_io_v2 = tree.place(Controller::Io).is_some_and(|place| place.version == Version::V2);
        let is_accounted = controllers.contains(&Controller::Memory);
        if controllers.contains(&Controller::Io)
            && is_io_v2
            && !is_accounted
            && is_available(Controller::Memory)
        {
            controllers.push(Controller::Memory);
        }
        controllers
    }

    fn missing_cpus(&self) -> Option<Lack> {
        let allowed = CpuSet::allowed()?;
        let mut wanted = self.server_cpus.iter().chain(&self.client_cpus);
        let cpu = wanted.find_map(|cpus| cpus.first_outside(&allowed))?;
        Some(Lack::Cpu { cpu, allowed })
    }
}

pub(crate) fn missing_for_a_volume() -> Vec<Lack> {
    let mut lacks = Vec::new();
    let effective = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    if !effective.contains(CapabilitySet::SYS_ADMIN) {
        lacks.push(Lack::Root);
    } else if File::options().read(true).write(true).open(LOOP_CONTROL).is_err() {
        lacks.push(Lack::LoopControl);
    }
    if volume::mkfs().is_none() {
        lacks.push(Lack::Mkfs);
    }
    lacks
}

/// Returns the requirement that is missing for a disk that this process provides by FUSE. `None` if nothing is
/// missing.
pub(crate) fn missing_for_a_served_disk() -> Option<Lack> {
    File::options().read(true).write(true).open(FUSE).is_err().then_some(Lack::Fuse)
}

fn missing_controller(tree: Option<&Tree>, controller: Controller) -> Option<Lack> {
    let Some(place) = tree.and_then(|tree| tree.place(controller)) else {
        return Some(Lack::Controller(controller.name(Version::V2)));
    };
    match (controller, place.version) {
        (Controller::Io, Version::V1) if !place.is_whole => Some(Lack::Part(place.top)),
        (Controller::Io, Version::V1) => missing_group(place.top),
        (_, Version::V1) => missing_group(place.current),
        (_, Version::V2) => missing_group_v2(&place),
    }
}

fn missing_group(folder: PathBuf) -> Option<Lack> {
    (!is_writable(&folder)).then_some(Lack::Group(folder))
}

/// Checks whether this process can create a group in version 2, as a child of its own group or of an ancestor of that
/// group. Returns the reason if it cannot.
fn missing_group_v2(place: &HierarchyPosition) -> Option<Lack> {
    let mut groups = place.current.ancestors().take_while(|group| group.starts_with(&place.top));
    (!groups.any(is_writable)).then(|| Lack::Group(place.current.clone()))
}

/// Whether this process can create files in a folder with its effective rights. These may differ from the rights of
/// the user who started the process.
fn is_writable(folder: &Path) -> bool {
    accessat(CWD, folder, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(confinement: &Confinement) -> String {
        confinement.check_rights().map_or_else(|missing| missing.to_string(), |()| String::new())
    }

    #[test]
    fn nothing_needs_no_rights() {
        assert_eq!(missing(&Confinement::default()), "");
        let cpus = CpuSet::allowed();
        assert_eq!(missing(&Confinement { client_cpus: cpus, ..Confinement::default() }), "");
    }

    #[test]
    fn everything_that_is_missing_is_on_one_line() {
        let confinement = Confinement {
            server_cpus: Some("1023".parse().unwrap()),
            memory_bytes: Some(1),
            ..Confinement::default()
        };
        let line = missing(&confinement);
        assert!(line.starts_with("`memory` must be at least 1048576; dyno may not use CPU 1023"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn a_controller_that_is_nowhere_is_named() {
        let lack = missing_controller(None, Controller::Io).unwrap();
        assert!(lack.to_string().starts_with("the cgroup controller io is not there"), "{lack}");
    }
}
