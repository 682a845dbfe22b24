//! The connection over which the browser gets commands and sends answers and events.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Pipe {
    to: File,
    from: BufReader<File>,
    last_id: u64,
    /// Events that arrived while the client waited for an answer.
    events: VecDeque<Value>,
}

/// Starts a browser that reads commands from one pipe and writes answers to another.
pub(crate) fn spawn(program: &Path, profile: &Path) -> io::Result<(Child, Pipe)> {
    let (commands_out, commands_in) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let (answers_out, answers_in) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let mut command = Command::new(program);
    command.args([
        "--headless=new",
        "--remote-debugging-pipe",
        "--no-first-run",
        "--disable-gpu",
        "--hide-scrollbars",
    ]);
    command.args([
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-dev-shm-usage",
    ]);
    // The tests run as root in containers, where Chromium's own sandbox cannot be set up. The sandbox is not
    // needed, because all pages are the project's own.
    command.arg("--no-sandbox").arg(format!("--user-data-dir={}", profile.display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (reads, writes) = (commands_out.as_raw_fd(), answers_in.as_raw_fd());
    let place = move || {
        // One of the two descriptors may itself be 3 or 4, so both are first duplicated to higher numbers.
        let (reads, writes) = (duplicate_above(reads)?, duplicate_above(writes)?);
        // SAFETY: `dup2` may be called between fork and exec, and both descriptors are open.
        let is_placed = unsafe { libc::dup2(reads, 3) == 3 && libc::dup2(writes, 4) == 4 };
        if is_placed { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes only calls that are safe between fork and exec.
    unsafe { command.pre_exec(place) };
    let child = command.spawn()?;
    drop((commands_out, answers_in));
    Ok((child, Pipe::new(commands_in, answers_out)))
}

/// Duplicates a descriptor. The new number is at least 10, because 0 to 4 have a fixed meaning.
fn duplicate_above(descriptor: i32) -> io::Result<i32> {
    // SAFETY: `fcntl` may be called between fork and exec.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 10) };
    if copy < 0 { Err(io::Error::last_os_error()) } else { Ok(copy) }
}

impl Pipe {
    fn new(to: OwnedFd, from: OwnedFd) -> Self {
        Self { to: to.into(), from: BufReader::new(from.into()), last_id: 0, events: VecDeque::new() }
    }

    /// Sends a command and waits for its answer.
    ///
    /// # Panics
    /// The browser refuses the command, or has ended.
    pub(crate) fn call(&mut self, session: Option<&str>, method: &str, parameters: &Value) -> Value {
        self.try_call(session, method, parameters).unwrap_or_else(|refusal| panic!("{method}: {refusal}"))
    }

    /// Like [`Pipe::call`], but returns a refusal as an error.
    pub(crate) fn try_call(
        &mut self,
        session: Option<&str>,
        method: &str,
        parameters: &Value,
    ) -> Result<Value, Value> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let mut message = self.read();
            if message["id"] == self.last_id {
                return match message.get_mut("error") {
                    Some(refusal) => Err(refusal.take()),
                    None => Ok(message["result"].take()),
                };
            }
            self.events.push_back(message);
        }
    }

    /// Waits for the next event with the name `method` and removes it from the queue. Events with other names stay in
    /// the queue.
    pub(crate) fn wait_for(&mut self, session: &str, method: &str) -> Value {
        let is_it = |event: &Value| event["method"] == method && event["sessionId"] == session;
        loop {
            if let Some(at) = self.events.iter().position(is_it) {
                return self.events.remove(at).expect("it is there");
            }
            let message = self.read();
            self.events.push_back(message);
        }
    }

    /// Returns all events of a session that have arrived so far.
    pub(crate) fn events(&self, session: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |event| event["sessionId"] == session)
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser speaks");
        assert_eq!(bytes.pop(), Some(0), "the browser went away");
        serde_json::from_slice(&bytes).expect("the browser speaks JSON")
    }
}
