//! The options that every container gets.
//!
//! These options switch off what Dyno provides itself and what would disturb a measurement: the container's own
//! network, its limits, and copies of its log. The container keeps the image's files and account, and the tool's filter
//! of system calls.

use std::fs;
use std::process::Command;

use dyno_host::Account;
use rustix::process::{Resource, getegid, geteuid, getrlimit};

use super::image::Image;

/// Marks containers of Dyno: `podman ps --filter label=dyno`.
const LABEL: &str = "dyno";

/// The beginning of a command that runs a container. The image and its program follow.
pub(super) fn run(image: &Image) -> Command {
    let mut command =
        image.tool.command(&["run", "--rm", "--pull=never", "--log-driver=none", "--no-healthcheck"]);
    command.arg(format!("--label={LABEL}"));
    command.args(["--network=host", "--ipc=host", "--pid=host", "--uts=host"]);
    command.args(["--cap-drop=ALL", "--security-opt=no-new-privileges", "--security-opt=label=disable"]);
    command.arg("--pids-limit=-1");
    // A container gets the largest number of open files that this process may have, like a server outside a container.
    let files = limit(getrlimit(Resource::Nofile).maximum);
    command.arg(format!("--ulimit=nofile={files}:{files}"));
    let processes = limit(processes_max());
    command.arg(format!("--ulimit=nproc={processes}:{processes}"));
    let account = Account::instead_of_root().map(Account::number);
    let (user, group) =
        account.map_or_else(|| (geteuid().as_raw(), getegid().as_raw()), |number| (number, number));
    command.arg(format!("--user={user}:{group}"));
    if image.tool.is_podman() {
        // Without this option, podman would copy the image's volumes at each start.
        command.arg("--image-volume=ignore");
        if account.is_none() {
            // Without this option, this user would be root inside the container. The server would be another user, who
            // could not write to this user's folders.
            command.arg("--userns=keep-id");
        }
    }
    command
}

/// Returns the largest number of processes that this user may have. Returns `None` for any number. The kernel's limit
/// for all users is considered too, because podman lowers its own limit to the kernel's limit, and cannot raise it
/// again.
fn processes_max() -> Option<u64> {
    let of_user = getrlimit(Resource::Nproc).maximum;
    let of_kernel = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap_or_default().trim().parse().ok();
    of_user.into_iter().chain(of_kernel).min()
}

fn limit(limit: Option<u64>) -> String {
    limit.map_or_else(|| "-1".to_owned(), |limit| limit.to_string())
}
