//! Sets of CPUs, in the kernel's notation (`0-3,6`).

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::str::FromStr;

use rustix::thread::{self, Pid, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

/// Number of CPUs in an affinity mask, which is the highest possible CPU plus one.
const CPUS_MAX: u32 = thread::CpuSet::MAX_CPU as u32;

/// A set of at least one CPU. CPUs are identified by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CpuSet(BTreeSet<u32>);

/// A text that is not a set of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a set of CPUs; write numbers below {CPUS_MAX} and ranges of them, such as 0-3,6")]
pub struct CpuSetError {
    text: String,
}

impl CpuSet {
    /// The CPUs that this process may use; `None` if the kernel does not report them.
    pub fn allowed() -> Option<Self> {
        Self::allowed_to(None)
    }

    /// The CPUs on which a thread, or the main thread of a process, may run. `None` if the thread is gone.
    pub fn of_process(pid: u32) -> Option<Self> {
        Self::allowed_to(Some(Pid::from_raw(pid.cast_signed())?))
    }

    /// The CPUs that a process may use. `None` stands for the calling thread.
    fn allowed_to(pid: Option<Pid>) -> Option<Self> {
        let mask = sched_getaffinity(pid).ok()?;
        let cpus: BTreeSet<u32> = (0..CPUS_MAX).filter(|cpu| mask.is_set(*cpu as usize)).collect();
        (!cpus.is_empty()).then_some(Self(cpus))
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The lowest CPU of this set that is not in the other set; `None` if all are in it.
    pub fn first_outside(&self, other: &Self) -> Option<u32> {
        self.0.difference(&other.0).next().copied()
    }

    /// Splits the set into cores. Hardware threads of one core are together. Cores are in the order of their first
    /// CPUs.
    pub(crate) fn cores(&self) -> Vec<Self> {
        let mut cores: Vec<(String, BTreeSet<u32>)> = Vec::new();
        for cpu in self.0.iter().copied() {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            let siblings = fs::read_to_string(file).unwrap_or_else(|_| cpu.to_string());
            match cores.iter_mut().find(|(known, _)| *known == siblings) {
                Some((_, cpus)) => cpus.extend([cpu]),
                None => cores.push((siblings, [cpu].into())),
            }
        }
        cores.into_iter().map(|(_, cpus)| Self(cpus)).collect()
    }

    /// The CPUs of all sets. At least one set must be given.
    pub(crate) fn union(sets: &[Self]) -> Self {
        Self(sets.iter().flat_map(|set| set.0.iter().copied()).collect())
    }

    pub(crate) fn mask(&self) -> AffinityMask {
        let mut mask = thread::CpuSet::new();
        for cpu in &self.0 {
            mask.set(*cpu as usize);
        }
        AffinityMask(mask)
    }
}

/// A set of CPUs in the form that the system call needs.
#[derive(Clone, Debug)]
pub(crate) struct AffinityMask(thread::CpuSet);

impl AffinityMask {
    /// Restricts the calling thread, and processes that it starts later, to these CPUs. Makes one system call and
    /// allocates nothing.
    pub(crate) fn assume(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.0)?)
    }

    /// Restricts another thread, or the main thread of another process, to these CPUs. Threads and processes that
    /// this thread starts later are restricted too.
    pub(crate) fn give(&self, pid: u32) -> io::Result<()> {
        let pid = Pid::from_raw(pid.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
        Ok(sched_setaffinity(Some(pid), &self.0)?)
    }
}

/// Restricts a command and its descendants to these CPUs. This needs no special rights. Spawning the command fails
/// if this process may use none of the CPUs.
pub fn pin_command<'a>(command: &'a mut Command, cpus: &CpuSet) -> &'a mut Command {
    let mask = cpus.mask();
    // SAFETY: between fork and exec the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(move || mask.assume()) }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    fn from_str(text: &str) -> Result<Self, CpuSetError> {
        let number = |text: &str| text.trim().parse().ok().filter(|cpu| *cpu < CPUS_MAX);
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(number(first)?..=number(last)?).filter(|range| !range.is_empty())
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        let cpus = ranges.ok_or_else(|| CpuSetError { text: text.to_owned() })?.into_iter().flatten();
        Ok(Self(cpus.collect()))
    }
}

impl TryFrom<String> for CpuSet {
    type Error = CpuSetError;

    fn try_from(text: String) -> Result<Self, CpuSetError> {
        text.parse()
    }
}

impl From<CpuSet> for String {
    fn from(cpus: CpuSet) -> Self {
        cpus.to_string()
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut cpus = self.0.iter().copied().peekable();
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if_eq(&(last + 1)) {
                last = next;
            }
            match last {
                _ if last == first => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn a_set_is_written_as_the_kernel_writes_it() {
        for (text, kernels) in [("0-3,6", "0-3,6"), ("6, 3,2,1,0", "0-3,6"), ("5", "5"), ("1-1,2-3", "1-3")] {
            assert_eq!(set(text).to_string(), kernels);
        }
        assert_eq!(set("0-3,6").count(), 5);
    }

    #[test]
    fn what_is_no_set_is_refused() {
        for text in ["", "a", "3-1", "0,", "-1", "0-", "1024", "0-99999999999", "0x3"] {
            let error = text.parse::<CpuSet>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn sets_are_compared() {
        assert_eq!(set("0-3").first_outside(&set("0-1")), Some(2));
        assert_eq!(set("0-1").first_outside(&set("0-3")), None);
    }

    #[test]
    fn a_set_survives_the_trip_as_json() {
        let json = serde_json::to_value(set("0-3,6")).unwrap();
        assert_eq!(json, "0-3,6");
        assert_eq!(serde_json::from_value::<CpuSet>(json).unwrap(), set("0-3,6"));
        assert!(serde_json::from_value::<CpuSet>("3-".into()).is_err());
    }

    #[test]
    fn a_pinned_command_runs_where_it_is_told() {
        let one = CpuSet(BTreeSet::from([*CpuSet::allowed().unwrap().0.first().unwrap()]));
        let mut command = Command::new("grep");
        pin_command(command.args(["Cpus_allowed_list", "/proc/self/status"]), &one);
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(output.split_whitespace().last(), Some(one.to_string().as_str()));
    }
}
