//! A process that uses a core from time to time, like other processes on a shared machine.

use std::process::{Child, Command, Stdio};

/// Alternates between busy and idle phases of random lengths up to a second, until its parent has ended.
const SCRIPT: &str = "
import os, random, time
parent = os.getppid()
while os.getppid() == parent:
    until = time.time() + random.random()
    while time.time() < until: pass
    time.sleep(random.random())
";

/// The process. Dropping this ends it.
pub(super) struct Neighbour(Option<Child>);

impl Neighbour {
    /// Starts the process. Without Python it prints a message and starts none.
    pub(super) fn start() -> Self {
        let child = Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::null()).spawn();
        if let Err(error) = &child {
            eprintln!("there is no busy neighbour: {error}");
        }
        Self(child.ok())
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // Fails if the process has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
