//! A headless Chromium for the tests of pages. It opens pages, evaluates expressions in them and takes screenshots.
//!
//! It uses the `DevTools` protocol over the pipe of `--remote-debugging-pipe`, which uses the file descriptors 3 and 4.
//! Messages are JSON, each ended by a zero byte. No port and no WebSocket is needed.
//! (<https://chromedevtools.github.io/devtools-protocol/>)
//!
//! # Why
//!
//! A pipe needs no port, no web socket and no driver to install beside the browser.

mod page;
mod pipe;

use std::path::PathBuf;
use std::process::Child;

use tempfile::TempDir;

pub use page::{Page, Scheme};
use pipe::Pipe;

/// A browser without open pages. Dropping it ends its processes.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    pipe: Pipe,
    /// Folder of its profile, cache and crash reports. It is removed with the browser.
    _profile: TempDir,
}

/// The path of this machine's browser, or the reason why there is none.
///
/// # Errors
/// No program with a known name is in the path.
pub fn find() -> Result<PathBuf, String> {
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name)));
    places
        .find(|place| place.is_file())
        .ok_or_else(|| "no chromium in the path; `apt-get install chromium`".to_owned())
}

impl Browser {
    /// Starts this machine's browser.
    ///
    /// # Errors
    /// There is no browser, or it does not start.
    pub fn start() -> Result<Self, String> {
        let program = find()?;
        let profile = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (child, pipe) = pipe::spawn(&program, profile.path())
            .map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Self { child, pipe, _profile: profile })
    }

    /// Opens an address in a new page and waits until it is loaded.
    ///
    /// # Panics
    /// The browser refuses; the message holds its answer.
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
