use super::tree::tests::tree;
use super::*;

const ALL: [Controller; 3] = [Controller::Cpuset, Controller::Memory, Controller::Io];

/// Makes a tree of version 2 in a folder. It has the group `group` of this process, and the ancestors of this group.
fn unified(root: &Path, group: &str) -> Tree {
    fs::create_dir_all(root.join(group)).unwrap();
    for folder in Path::new(group).ancestors() {
        fs::write(root.join(folder).join("cgroup.controllers"), "cpuset cpu io memory pids\n").unwrap();
        fs::write(root.join(folder).join("cgroup.subtree_control"), "pids\n").unwrap();
    }
    tree(&format!("31 23 0:28 / {} rw - cgroup2 cgroup2 rw\n", root.display()), &format!("0::/{group}\n"))
}

#[test]
fn version_1_takes_a_group_a_controller_and_the_root_for_devices() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    let mount = |name: &str| {
        fs::create_dir_all(folder(name).join("session")).unwrap();
        format!("38 31 0:35 / {} rw - cgroup cgroup rw,{name}\n", folder(name).display())
    };
    let mounts = mount("cpuset") + &mount("memory") + &mount("blkio");
    let tree = tree(&mounts, "7:blkio:/session\n4:memory:/session\n3:cpuset:/session\n");
    let cgroup = Cgroup::plan(&tree, "dyno-a", &ALL).unwrap();
    assert_eq!(cgroup.folders(), [folder("cpuset/session/dyno-a"), folder("memory/session/dyno-a")]);
    assert_eq!(cgroup.lasting_io_limits(), Some(folder("blkio").as_path()));
    cgroup.make().unwrap();
    for folder in cgroup.folders() {
        fs::write(folder.join("cgroup.procs"), "").unwrap();
    }
    fs::write(folder("blkio/cgroup.procs"), "").unwrap();
    assert_eq!(cgroup.open_to_join().unwrap().len(), 3);
}

#[test]
fn version_2_takes_one_group_for_all_controllers() {
    let root = tempfile::tempdir().unwrap();
    let tree = unified(root.path(), "user.slice/session.scope");
    let parent = root.path().join("user.slice/session.scope");
    let cgroup = Cgroup::plan(&tree, "dyno-a", &ALL).unwrap();
    assert_eq!(cgroup.folders(), [parent.join("dyno-a")]);
    assert_eq!(cgroup.lasting_io_limits(), None);
    // The kernel would add each controller to the file. A plain file keeps only the last one that was written.
    assert_eq!(fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap(), "+io");
}

#[test]
fn a_group_that_was_not_given_a_controller_is_passed_over_for_one_above_it() {
    let root = tempfile::tempdir().unwrap();
    let tree = unified(root.path(), "user.slice/session.scope");
    fs::write(root.path().join("user.slice/session.scope/cgroup.controllers"), "pids\n").unwrap();
    let cgroup = Cgroup::plan(&tree, "dyno-a", &[Controller::Io, Controller::Memory]).unwrap();
    assert_eq!(cgroup.folders(), [root.path().join("user.slice/dyno-a")]);
}

#[test]
fn where_no_group_can_pass_controllers_on_that_is_said() {
    let root = tempfile::tempdir().unwrap();
    let tree = unified(root.path(), "crowded");
    for folder in [root.path().join("crowded"), root.path().to_owned()] {
        // A file that cannot be opened for writing simulates the kernel's refusal.
        fs::remove_file(folder.join("cgroup.subtree_control")).unwrap();
        fs::create_dir(folder.join("cgroup.subtree_control")).unwrap();
    }
    let error = Cgroup::plan(&tree, "dyno-a", &[Controller::Io]).unwrap_err();
    assert!(matches!(&error, ConfineError::Crowded { controllers, .. } if controllers == "io"), "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
}

#[test]
fn controllers_that_are_nowhere_take_no_group() {
    let cgroup = Cgroup::plan(&tree("", ""), "dyno-a", &ALL).unwrap();
    assert_eq!(cgroup.folders(), [""; 0].map(PathBuf::from));
    cgroup.limit_memory(1 << 30).unwrap();
}
