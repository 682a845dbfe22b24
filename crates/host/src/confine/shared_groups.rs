//! Moves a process that another program started into the groups of this process.

use std::fs;
use std::path::PathBuf;

use super::cgroup::Tree;
use super::confined::unreadable;
use super::error::{At as _, ConfineError};

/// Puts a process into every cgroup that this process is in. The kernel then schedules and accounts the process as
/// a child of this process.
///
/// # Errors
/// The process has ended, or this user may not move it into one of the cgroups. An error with one cgroup does not
/// prevent the process from joining the others.
pub fn share_groups(pid: u32) -> Result<(), ConfineError> {
    let tree = Tree::of_this_process().map_err(|error| unreadable(&error))?;
    let enter = |group: PathBuf| {
        let path = group.join("cgroup.procs");
        fs::write(&path, pid.to_string()).at("write", &path)
    };
    let entered: Vec<_> = tree.own_groups().into_iter().map(enter).collect();
    entered.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_gone_cannot_be_moved() {
        // No process has this id, because it is above the largest id of any kernel (proc(5), `pid_max`).
        let outcome = share_groups(1 << 30);
        let is_refused = |error: &ConfineError| error.to_string().contains("cgroup.procs");
        // There is no error if the container shows no groups, because then there is no group to join.
        assert!(outcome.as_ref().err().is_none_or(is_refused), "{outcome:?}");
    }
}
