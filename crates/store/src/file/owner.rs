//! Identifies the process of a run, to distinguish killed runs from active ones.

use std::fs;

/// The current process as `boot id, pid, start time`. A pid alone is not unique, because it is reused and has no
/// meaning on another host or after a reboot. The three together are unique.
pub(crate) fn current() -> String {
    describe(std::process::id()).unwrap_or_else(|| "unknown".to_owned())
}

/// Whether a process that [`current`] described is alive and runs on this host.
pub(crate) fn is_alive(owner: &str) -> bool {
    let pid = owner.split(' ').nth(1).and_then(|pid| pid.parse().ok());
    pid.and_then(describe).is_some_and(|now| now == owner)
}

/// Describes a living process in the form of [`current`]; `None` if there is no such process.
pub(crate) fn describe(pid: u32) -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // proc_pid_stat(5): the second field is a name in parentheses, which may contain spaces and parentheses. The
    // state is field 3 and the start time field 22.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let started = fields.nth(22 - 3 - 1)?;
    (state != "Z").then(|| format!("{} {pid} {started}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_a_later_one_with_its_pid_is_another() {
        let me = current();
        assert!(is_alive(&me));
        assert!(!is_alive(&format!("{me}0")));
        assert!(!is_alive(&me.replacen('-', "_", 1)), "another boot");
        assert!(!is_alive("unknown"));
    }

    #[test]
    fn a_process_that_ended_is_dead_even_before_its_parent_reaps_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = describe(child.id()).unwrap();
        assert!(is_alive(&owner));
        child.kill().unwrap();
        while fs::read_to_string(format!("/proc/{}/stat", child.id()))
            .is_ok_and(|stat| !stat.contains(") Z "))
        {
            std::thread::yield_now();
        }
        assert!(!is_alive(&owner));
        child.wait().unwrap();
    }
}
