//! Runs apt with its own state in the cache. The machine's package lists may be missing or old, and must not be
//! changed.

use std::path::{Path, PathBuf};

use crate::machine::folder;
use crate::machine::path_error::PathError;
use crate::source::download::network;
use crate::source::download::progress::Phase;
use crate::source::download::tool::Tool;
use crate::source::error::FetchError;
use crate::source::workspace::Workspace;

/// apt's state and cache in Dyno's cache.
pub(in crate::source) struct AptGet {
    home: PathBuf,
    options: Vec<String>,
}

/// The result of an update of package lists. A failure is not an error yet, because the wanted package may be in older
/// lists. apt reports success even if it could reach no server.
pub(in crate::source) struct Update {
    failure: Option<FetchError>,
}

impl AptGet {
    /// Makes an apt that has its own state and the machine's own sources.
    pub(in crate::source) fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), options: Vec::new() }
    }

    /// Makes an apt that knows only the sources in one file, and the installed packages in another file.
    pub(in crate::source) fn with_sources(home: &Path, sources: &Path, status: &Path) -> Self {
        let none = Path::new("/dev/null");
        let options = [
            ("Dir::State::status", status),
            ("Dir::Etc::SourceList", sources),
            ("Dir::Etc::SourceParts", none),
            ("Dir::Etc::Preferences", none),
            ("Dir::Etc::PreferencesParts", none),
        ];
        let options = options.map(|(name, value)| format!("--option={name}={}", value.display()));
        Self { home: home.to_owned(), options: options.to_vec() }
    }

    /// Returns the path of the lock file of apt's state. A process that uses the state holds the lock.
    pub(in crate::source) fn lock_file(&self) -> PathBuf {
        self.home.with_extension("lock")
    }

    /// The folder in which `install --download-only` writes archives. Partial archives stay in its folder `partial` for
    /// the next try.
    pub(in crate::source) fn archives(&self) -> PathBuf {
        self.home.join("cache/archives")
    }

    /// The option that hides downloaded archives from apt.
    pub(in crate::source) fn no_archives(&self) -> Result<String, PathError> {
        let empty = self.home.join("cache/none");
        folder::create(&empty.join("partial"))?;
        Ok(format!("--option=Dir::Cache::Archives={}", empty.display()))
    }

    /// `apt-get` with options. The caller adds the command.
    pub(in crate::source) fn get(&self) -> Result<Tool, PathError> {
        self.tool("apt-get")
    }

    /// `apt-cache` with options. The caller adds the command.
    pub(in crate::source) fn cache(&self) -> Result<Tool, PathError> {
        self.tool("apt-cache")
    }

    fn tool(&self, name: &'static str) -> Result<Tool, PathError> {
        folder::create(&self.home.join("state/lists/partial"))?;
        folder::create(&self.archives().join("partial"))?;
        let own = [
            "--quiet".to_owned(),
            format!("--option=Dir::State={}", self.home.join("state").display()),
            format!("--option=Dir::Cache={}", self.home.join("cache").display()),
            // Locks are off: this apt never writes the machine's own state, and a lock of Dyno protects this apt's
            // state.
            "--option=Debug::NoLocking=1".to_owned(),
            // By default apt downloads as an account that cannot write in a home folder.
            "--option=APT::Sandbox::User=".to_owned(),
            "--option=Acquire::Languages=none".to_owned(),
        ];
        Ok(Tool::new(name).args(own).args(&self.options))
    }

    /// Updates the package lists, as far as possible.
    pub(in crate::source) fn update(&self, workspace: &mut Workspace<'_>) -> Result<Update, FetchError> {
        workspace.enter(Phase::Listing);
        let failure = match self.get()?.args(["update"]).run(workspace) {
            Ok(output) => network::complaint(&output)
                .map(|complaint| FetchError::Unreachable { tool: "apt-get", complaint }),
            Err(failure) => Some(failure),
        };
        Ok(Update { failure })
    }
}

impl Update {
    /// Returns the cause of an error that occurred after this update. If no list could be downloaded, this is the
    /// update's failure, because apt's own message ("unable to locate package") would mislead.
    pub(in crate::source) fn cause_of(self, error: FetchError) -> FetchError {
        match error {
            FetchError::ToolFailed { .. } => self.failure.unwrap_or(error),
            _ => error,
        }
    }
}
