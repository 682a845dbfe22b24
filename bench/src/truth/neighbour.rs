//! A process that uses a core now and then, as others on a shared machine do.

use std::process::{Child, Command, Stdio};

/// Busy for a while, then idle for a while, of random lengths up to a second each.
const SCRIPT: &str = "
import random, time
while True:
    until = time.time() + random.random()
    while time.time() < until: pass
    time.sleep(random.random())
";

/// It ends when this is dropped.
pub(super) struct Neighbour(Option<Child>);

impl Neighbour {
    /// Without Python there is none, and that is said.
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
            // One that has ended already needs no killing.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
