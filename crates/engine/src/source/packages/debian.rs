//! Source `debian`: packages of another Debian release with all dependencies, including the C library. Their
//! programs run with the release's own dynamic loader.
//!
//! apt resolves dependencies as if nothing were installed. The repository's signed metadata and the keys of the
//! machine's `debian-archive-keyring` verify the packages. The newest patch version is taken and recorded.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::source::download::integrity::Integrity;
use crate::source::download::mirror::Mirror;
use crate::source::download::progress::Phase;
use crate::source::download::word::Word;
use crate::source::error::FetchError;
use crate::source::packages::apt_get::{AptGet, Update};
use crate::source::packages::deb;
use crate::source::workspace::{Package, Workspace};

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Packages and the release that they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Debian {
    /// The release's code name, such as `sid`.
    pub(in crate::source) release: Word,
    /// Package names. The first package gives the version.
    packages: Vec<Word>,
    /// The required prefix of the first package's version.
    version: String,
    /// Whether to take security updates.
    #[serde(default = "yes")]
    security: bool,
    /// Dependencies to leave out, because only scripts and clients of the server need them, and not the server itself.
    #[serde(default)]
    without: Vec<Word>,
}

fn yes() -> bool {
    true
}

impl Debian {
    pub(in crate::source) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let home = workspace.cache.tool(&format!("debian-{}", self.release));
        let (sources, status) = (home.join("sources.list"), home.join("status"));
        let apt = AptGet::with_sources(&home, &sources, &status);
        let _turn = folder::lock(&apt.lock_file())?;
        let update = self.update(&apt, &sources, &status, workspace)?;
        let archives = self.download(&apt, &status, workspace).map_err(|error| update.cause_of(error))?;
        workspace.enter(Phase::Unpacking);
        for archive in &archives {
            archive.integrity.check(&archive.name, &apt.archives().join(&archive.name))?;
        }
        let paths: Vec<_> = archives.iter().map(|archive| apt.archives().join(&archive.name)).collect();
        let packages = deb::unpack(&paths, self.main(), &self.version, workspace)?;
        folder::remove(&apt.archives())?;
        Ok(packages)
    }

    /// The package that gives the version.
    fn main(&self) -> &str {
        self.packages.first().map_or("", |package| package)
    }

    /// Why packages of another release cannot be fetched here.
    pub(in crate::source) fn obstacle(&self) -> Option<String> {
        if Mirror::configured().is_none() {
            return Some(format!(
                "no Debian mirror is among apt's sources here, to take {} from",
                self.release
            ));
        }
        let has_keys = Path::new(KEYRING).exists();
        (!has_keys).then(|| "Debian's keys are not here: install debian-archive-keyring".to_owned())
    }

    fn update(
        &self,
        apt: &AptGet,
        sources: &Path,
        status: &Path,
        workspace: &mut Workspace<'_>,
    ) -> Result<Update, FetchError> {
        let mut mirror = Mirror::configured().unwrap_or_default();
        if !self.security {
            mirror.security = None;
        }
        write(sources, &mirror.sources_of(&self.release, Path::new(KEYRING)))?;
        write(status, "")?;
        apt.update(workspace)
    }

    /// Downloads missing archives, and resumes partial ones.
    fn download(
        &self,
        apt: &AptGet,
        status: &Path,
        workspace: &mut Workspace<'_>,
    ) -> Result<Vec<Archive>, FetchError> {
        if !self.without.is_empty() {
            let show = apt.cache()?.args(["show", "--no-all-versions", "--"]).args(&self.without);
            write(status, &as_installed(&String::from_utf8_lossy(&show.run(workspace)?)))?;
        }
        let install = || {
            let options =
                ["install", "--yes", "--no-install-recommends", "--option=Acquire::ForceHash=SHA256"];
            Ok::<_, FetchError>(apt.get()?.args(options))
        };
        let packages = || ["--"].into_iter().chain(self.packages.iter().map(|package| &**package));
        // `--print-uris` lists only archives that are missing from apt's folder of archives. With an empty folder it
        // lists all archives.
        let listed =
            install()?.args(["--print-uris"]).args([apt.no_archives()?]).args(packages()).run(workspace)?;
        install()?.args(["--download-only"]).args(packages()).watching(&apt.archives()).run(workspace)?;
        Ok(String::from_utf8_lossy(&listed).lines().filter_map(Archive::listed).collect())
    }
}

/// An archive that apt would download.
#[derive(Debug, PartialEq, Eq)]
struct Archive {
    name: String,
    integrity: Integrity,
}

impl Archive {
    /// Parses a line of `--print-uris`: `'URI' NAME SIZE SHA256:DIGITS`.
    fn listed(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix('\'')?.split_whitespace().skip(1);
        let name = words.next()?.to_owned();
        let digits = words.nth(1)?.strip_prefix("SHA256:")?;
        Some(Self { name, integrity: Integrity::from_sha256_digits(digits)? })
    }
}

/// Converts the output of `apt-cache show` to the form of dpkg's status file.
fn as_installed(shown: &str) -> String {
    const KEPT: [&str; 5] = ["Package", "Version", "Architecture", "Multi-Arch", "Provides"];
    let is_kept = |line: &&str| line.split_once(':').is_some_and(|(field, _)| KEPT.contains(&field));
    let stanzas = shown.split("\n\n").filter(|stanza| stanza.trim_start().starts_with("Package:"));
    let installed = |stanza: &str| {
        let kept: Vec<&str> = stanza.lines().filter(is_kept).collect();
        kept.join("\n") + "\nStatus: install ok installed\n\n"
    };
    stanzas.map(installed).collect()
}

fn write(path: &Path, text: &str) -> Result<(), PathError> {
    if let Some(folder) = path.parent() {
        folder::create(folder)?;
    }
    fs::write(path, text).at("write", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_an_archive_is_read() {
        let digits = "ab".repeat(32);
        let line = format!("'http://mirror.test/pool/a_1%3a2.deb' a_1%3a2_amd64.deb 39320 SHA256:{digits}");
        let archive = Archive::listed(&line).unwrap();
        assert_eq!(archive.name, "a_1%3a2_amd64.deb");
        assert_eq!(Archive::listed(&line.replace("SHA256", "MD5Sum")), None);
        assert_eq!(Archive::listed("Need to get 3 MB"), None);
    }

    #[test]
    fn packages_to_leave_out_count_as_installed() {
        let shown = "Package: perl\nVersion: 5.42\nArchitecture: amd64\nDepends: libc6\nDescription: language\n more\n\n\
                     Package: rsync\nVersion: 3\nArchitecture: amd64\n\nN: a note";
        assert_eq!(
            as_installed(shown),
            "Package: perl\nVersion: 5.42\nArchitecture: amd64\nStatus: install ok installed\n\n\
             Package: rsync\nVersion: 3\nArchitecture: amd64\nStatus: install ok installed\n\n"
        );
    }
}
