//! Takes samples, and counts equal stacks.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::address_space::AddressSpace;
use super::output::threads;
use super::tool::StackTool;
use super::{SampledStacks, ThreadStack, symbols};
use crate::processes::counters::descendants;

/// Time after which a program that takes stacks counts as stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why stacks cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The process has ended.
    #[error("the process {pid} has ended")]
    Ended { pid: u32 },
    /// The program could not show a stack.
    #[error(
        "eu-stack shows no stack of the process {pid}: {message}; tracing the process requires CAP_SYS_PTRACE, or the same user and kernel.yama.ptrace_scope = 0"
    )]
    Refused {
        pid: u32,
        /// The last line that the program printed.
        message: String,
    },
    /// The program cannot be run.
    #[error("eu-stack cannot be run: {0}")]
    NotRun(#[from] io::Error),
    /// The program does not end.
    #[error("eu-stack did not end within {} s and was killed", PATIENCE.as_secs())]
    Stuck,
}

/// Takes samples of a process and its children.
///
/// Threads are stopped one after the other, each for the time that it takes to walk its stack. A sample therefore
/// does not show a single moment, and the process as a whole never stands still.
#[derive(Debug)]
pub struct StackSampler {
    tool: StackTool,
    pid: u32,
    spaces: Vec<AddressSpace>,
    counts: HashMap<RawStack, u32>,
    lengths_ms: Vec<f64>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RawStack {
    thread: String,
    /// Index in `spaces`.
    space: usize,
    /// The addresses, innermost first.
    addresses: Vec<u64>,
}

impl StackSampler {
    pub fn new(tool: StackTool, pid: u32) -> Self {
        Self { tool, pid, spaces: Vec::new(), counts: HashMap::new(), lengths_ms: Vec::new() }
    }

    /// Takes one sample. Children that end meanwhile are left out.
    ///
    /// # Errors
    /// The process has ended, or its stacks may not be read. Earlier samples are kept.
    pub fn sample(&mut self) -> Result<(), StackError> {
        let began = Instant::now();
        let mut found = vec![(self.pid, self.take(self.pid)?)];
        for child in descendants(self.pid) {
            if let Ok(output) = self.take(child) {
                found.push((child, output));
            }
        }
        self.lengths_ms.push(began.elapsed().as_secs_f64() * 1000.0);
        for (pid, output) in found {
            self.count(pid, &output);
        }
        Ok(())
    }

    /// Number of samples so far.
    pub fn samples(&self) -> u32 {
        self.lengths_ms.len() as u32
    }

    /// Finds the names of the functions, and returns all stacks. The process may have ended by now.
    pub fn finish(mut self) -> SampledStacks {
        let mut stacks = Vec::new();
        for (at, space) in self.spaces.iter().enumerate() {
            let of_space = || self.counts.iter().filter(move |(raw, _)| raw.space == at);
            let addresses: BTreeSet<u64> =
                of_space().flat_map(|(raw, _)| raw.addresses.iter().copied()).collect();
            let addresses: Vec<u64> = addresses.into_iter().collect();
            let frames = symbols::frames(&self.tool, space, &addresses);
            stacks.extend(of_space().map(|(raw, &count)| ThreadStack {
                thread: raw.thread.clone(),
                frames:
                    raw.addresses.iter().rev().filter_map(|address| frames.get(address).cloned()).collect(),
                count,
            }));
        }
        self.lengths_ms.sort_by(f64::total_cmp);
        let sample_ms_median = self.lengths_ms.get(self.lengths_ms.len() / 2).copied().unwrap_or_default();
        SampledStacks { samples: self.samples(), sample_ms_median, stacks }
    }

    fn count(&mut self, pid: u32, output: &str) {
        let Some(space) = AddressSpace::of(pid) else { return };
        let space = self.spaces.iter().position(|known| *known == space).unwrap_or_else(|| {
            self.spaces.push(space);
            self.spaces.len() - 1
        });
        for (tid, addresses) in threads(output) {
            let thread = fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
            let raw = RawStack { thread: thread.trim_end().to_owned(), space, addresses };
            *self.counts.entry(raw).or_default() += 1;
        }
    }

    /// Takes the stacks of one process, and returns them as the program prints them.
    fn take(&self, pid: u32) -> Result<String, StackError> {
        let mut command = self.tool.eu_stack();
        command.args(["-q", "-p", &pid.to_string()]);
        let printed = run(command).inspect_err(|_| go_on(pid))?;
        // Status 1 means that some stacks are incomplete, such as those of threads that ended meanwhile.
        if matches!(printed.status.code(), Some(0 | 1)) && !printed.output.is_empty() {
            return Ok(printed.output);
        }
        let line = printed.errors.lines().last().unwrap_or("no reason given");
        // The path of the program is removed from the message.
        let message = line.split_once(": ").map_or(line, |(_, reason)| reason).to_owned();
        if has_ended(pid) {
            Err(StackError::Ended { pid })
        } else {
            Err(StackError::Refused { pid, message })
        }
    }
}

/// Continues a process that is still stopped because its tracer was killed.
fn go_on(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // An error is ignored, because it means that the process has ended.
        let _ = kill_process(pid, Signal::CONT);
    }
}

fn has_ended(pid: u32) -> bool {
    let process = i32::try_from(pid).ok().and_then(|pid| procfs::process::Process::new(pid).ok());
    process.and_then(|process| process.stat().ok()).is_none_or(|stat| matches!(stat.state, 'Z' | 'X'))
}

struct Printed {
    status: ExitStatus,
    output: String,
    errors: String,
}

/// Runs a program to its end, with a time limit.
fn run(mut command: Command) -> Result<Printed, StackError> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (send, receive) = mpsc::channel();
    // Each pipe has a reading thread, because a full pipe would stop the program.
    read(child.stdout.take(), 0, &send);
    read(child.stderr.take(), 1, &send);
    drop(send);
    let mut texts = [String::new(), String::new()];
    let deadline = Instant::now() + PATIENCE;
    loop {
        match receive.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((at, text)) => texts[at] = text,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                end(&mut child)?;
                return Err(StackError::Stuck);
            }
        }
    }
    let [output, errors] = texts;
    Ok(Printed { status: child.wait()?, output, errors })
}

fn read(pipe: Option<impl Read + Send + 'static>, at: usize, send: &mpsc::Sender<(usize, String)>) {
    let (Some(mut pipe), send) = (pipe, send.clone()) else { return };
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // If reading fails, the bytes that were read so far are used.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = send.send((at, String::from_utf8_lossy(&bytes).into_owned()));
    });
}

fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A sampler of the process `pid`. Both of its programs are the shell script `script`.
    fn sampler(script: &str, pid: u32) -> (tempfile::TempDir, StackSampler) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["eu-stack", "eu-addr2line"] {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let tool = StackTool::in_folder(folder.path(), None).unwrap();
        // A process that another test starts may hold the new file open for writing until it executes its own
        // program. Executing the file fails until then.
        let is_busy = |result: io::Result<_>| {
            result.is_err_and(|error| error.kind() == io::ErrorKind::ExecutableFileBusy)
        };
        while is_busy(tool.eu_stack().output()) || is_busy(tool.eu_addr2line().output()) {}
        (folder, StackSampler::new(tool, pid))
    }

    #[test]
    fn a_right_that_is_missing_is_told_in_the_words_of_the_program() {
        let refuse = "echo \"$0: dwfl_linux_proc_report: Permission denied\" >&2; exit 2";
        let (_folder, mut sampler) = sampler(refuse, std::process::id());
        let error = sampler.sample().unwrap_err().to_string();
        let words =
            ": dwfl_linux_proc_report: Permission denied; tracing the process requires CAP_SYS_PTRACE";
        assert!(error.contains(words), "{error}");
        assert!(!error.contains('\n') && sampler.finish().samples == 0);
    }

    #[test]
    fn a_process_that_has_ended_is_told_as_that() {
        let (_folder, mut sampler) = sampler("exit 2", u32::MAX >> 1);
        assert!(matches!(sampler.sample(), Err(StackError::Ended { .. })));
    }

    #[test]
    fn much_output_on_both_pipes_does_not_stop_a_program() {
        let talk = "for i in 1 2 3 4 5 6 7 8; do printf '%20000s\\n' x; printf '%20000s\\n' y >&2; done\n\
                    echo \"TID $$:\"; echo '#0  0x0000000000000010'; exit 1";
        // The test samples a process of its own, because this process also has children of other tests.
        let mut server = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (_folder, mut sampler) = sampler(talk, server.id());
        sampler.sample().unwrap();
        sampler.sample().unwrap();
        let found = sampler.finish();
        server.kill().unwrap();
        server.wait().unwrap();
        assert_eq!(found.samples, 2);
        let counts: Vec<u32> = found.stacks.iter().map(|stack| stack.count).collect();
        assert_eq!((counts.iter().sum::<u32>(), found.stacks[0].frames.len()), (2, 1));
    }
}
