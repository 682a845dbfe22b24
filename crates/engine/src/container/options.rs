//! The options that every container gets.
//!
//! They take from it what Dyno gives a server by itself or what would only blur a measurement: a network of its own, limits
//! of its own, copies of its log. What is left is what a container is for: the files of the image, the account, the filter of
//! system calls.

use std::fs;
use std::process::Command;

use dyno_host::Account;
use rustix::process::{Resource, getegid, geteuid, getrlimit};

use super::image::Image;

/// Marks containers of Dyno: `podman ps --filter label=dyno`.
const LABEL: &str = "dyno";

/// A command that runs a container, without the image and what it is to run.
pub(super) fn run(image: &Image) -> Command {
    let mut command =
        image.tool.command(&["run", "--rm", "--pull=never", "--log-driver=none", "--no-healthcheck"]);
    command.arg(format!("--label={LABEL}"));
    command.args(["--network=host", "--ipc=host", "--pid=host", "--uts=host"]);
    command.args(["--cap-drop=ALL", "--security-opt=no-new-privileges", "--security-opt=label=disable"]);
    command.arg("--pids-limit=-1");
    // Those of a server that this process starts itself: as many files as it may have open.
    let files = limit(getrlimit(Resource::Nofile).maximum);
    command.arg(format!("--ulimit=nofile={files}:{files}"));
    let processes = limit(processes_max());
    command.arg(format!("--ulimit=nproc={processes}:{processes}"));
    let account = Account::instead_of_root().map(Account::number);
    let (user, group) =
        account.map_or_else(|| (geteuid().as_raw(), getegid().as_raw()), |number| (number, number));
    command.arg(format!("--user={user}:{group}"));
    if image.tool.is_podman() {
        // Folders that the image has volumes for would be copied at each start.
        command.arg("--image-volume=ignore");
        if account.is_none() {
            // Otherwise this user would be root inside, and another user could not write to its folders.
            command.arg("--userns=keep-id");
        }
    }
    command
}

/// The most processes that the user of this process may have; none for any number. podman lowers its own limit to the
/// number that the kernel has for all users, and may not raise it again.
fn processes_max() -> Option<u64> {
    let of_user = getrlimit(Resource::Nproc).maximum;
    let of_kernel = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap_or_default().trim().parse().ok();
    of_user.into_iter().chain(of_kernel).min()
}

fn limit(limit: Option<u64>) -> String {
    limit.map_or_else(|| "-1".to_owned(), |limit| limit.to_string())
}
