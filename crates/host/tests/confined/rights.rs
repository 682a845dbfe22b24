//! Messages for a user without rights.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use dyno_host::{Confinement, IoLimits};
use dyno_testing::dyno_test;

use crate::left::ROLE;
use crate::{everything, privileged};

/// The kernel's overflow user, which has no rights.
const NOBODY: u32 = 65534;

#[dyno_test(privileged)]
fn a_user_without_rights_is_told_what_is_missing_and_needs_none_for_cpus() {
    // This user can read neither folders below /root nor the folder of this program's tests, so the program is
    // copied to a readable folder.
    let folder = tempfile::tempdir_in(std::env::temp_dir()).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let program = folder.path().join("program");
    // Another process copies the file. If this process wrote it, a child that another test starts meanwhile could
    // keep the file open for writing, and then the file could not be executed.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    let output = Command::new(program).env(ROLE, "rights").uid(NOBODY).gid(NOBODY).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let [cpus, io, memory] = lines[..] else { panic!("{text}") };
    assert_eq!(cpus, "cpus: ok");
    assert!(io.starts_with("io: a volume can only be mounted by root: run dyno as root"), "{io}");
    assert!(memory.starts_with("memory: no cgroup can be made in /"), "{memory}");
}

/// Prints a line for each kind of limit, which says whether this user may set it.
pub(crate) fn report() {
    let all = everything();
    let cpus = Confinement { server_cpus: all.server_cpus, ..Confinement::default() };
    let io = Confinement { io: IoLimits::of_iops(500), ..Confinement::default() };
    let memory = Confinement { memory_bytes: all.memory_bytes, ..Confinement::default() };
    for (name, confinement) in [("cpus", cpus), ("io", io), ("memory", memory)] {
        let outcome = confinement.check_rights();
        println!("{name}: {}", outcome.map_or_else(|missing| missing.to_string(), |()| "ok".to_owned()));
    }
}
