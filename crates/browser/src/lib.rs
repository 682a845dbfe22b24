//! A headless Chromium for the tests of pages: opens them, asks them, looks at them.
//!
//! It speaks the `DevTools` protocol over the pipe that `--remote-debugging-pipe` makes of the file descriptors 3
//! and 4 (messages are JSON, each ended by a zero byte), so it needs no port and no WebSocket.
//! (<https://chromedevtools.github.io/devtools-protocol/>)

mod page;
mod pipe;

use std::path::PathBuf;
use std::process::Child;

use tempfile::TempDir;

pub use page::{Page, Scheme};
use pipe::Pipe;

/// A browser with nothing open. Dropping it ends its processes.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    pipe: Pipe,
    /// Its profile, cache and crash reports, which go with it.
    _profile: TempDir,
}

/// The browser of this machine; the reason if there is none.
///
/// # Errors
/// No program of a known name is in the path.
pub fn find() -> Result<PathBuf, String> {
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name)));
    places
        .find(|place| place.is_file())
        .ok_or_else(|| "no chromium in the path; `apt-get install chromium`".to_owned())
}

impl Browser {
    /// Starts the browser of this machine.
    ///
    /// # Errors
    /// There is none, or it does not start.
    pub fn start() -> Result<Self, String> {
        let program = find()?;
        let profile = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (child, pipe) = pipe::spawn(&program, profile.path())
            .map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Self { child, pipe, _profile: profile })
    }

    /// Opens an address in a page of its own and waits until it is loaded.
    ///
    /// # Panics
    /// If the browser does not do as it is told, with what it said.
    pub fn open(&mut self, address: &str, width: u32, height: u32, scheme: Scheme) -> Page<'_> {
        Page::open(&mut self.pipe, address, width, height, scheme)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its renderers end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
