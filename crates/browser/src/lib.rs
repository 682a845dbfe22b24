//! A headless Chromium for tests of web pages. It opens pages, evaluates expressions in them and takes screenshots.
//!
//! The crate speaks the `DevTools` protocol with the browser over the two pipes of `--remote-debugging-pipe`, which
//! are the file descriptors 3 and 4. Messages are JSON. A zero byte ends each message.
//! (<https://chromedevtools.github.io/devtools-protocol/>)
//!
//! # Why
//!
//! A pipe needs no port and no WebSocket, and no driver has to be installed beside the browser.

mod page;
mod pipe;

use std::path::PathBuf;
use std::process::Child;

use tempfile::TempDir;

pub use page::{Page, Scheme};
use pipe::Pipe;

/// A running browser without open pages. Dropping the value ends the browser's processes.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    pipe: Pipe,
    /// The folder of the browser's profile, cache and crash reports. It is removed when the browser is dropped.
    _profile: TempDir,
}

/// Returns the path of this machine's browser, or the reason why none was found.
///
/// # Errors
/// No folder of `PATH` has a program with one of the known names.
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
    /// The browser refuses to open the page. The panic message contains the browser's answer.
    pub fn open(&mut self, address: &str, width: u32, height: u32, scheme: Scheme) -> Page<'_> {
        Page::open(&mut self.pipe, address, width, height, scheme)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser's renderer processes end with its main process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
