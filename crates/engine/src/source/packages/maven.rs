//! Source `maven`: an artefact of a Maven repository, by `mvn dependency:copy`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::machine::folder;
use crate::machine::path_error::At as _;
use crate::source::download::integrity::Integrity;
use crate::source::download::progress::Phase;
use crate::source::download::tool::Tool;
use crate::source::download::word::Word;
use crate::source::error::FetchError;
use crate::source::lock::Lock;
use crate::source::unpack;
use crate::source::workspace::{Package, Workspace};

/// The plugin that downloads. Its version is fixed, so that fetches are the same everywhere.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/// How an artefact is checked if its entry has no checksum.
pub(in crate::source) const CHECK: &str = "Maven's SHA-1";

/// One artefact. It must be a zip archive, such as a jar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Maven {
    group: Word,
    artifact: Word,
    version: Word,
    classifier: Option<Word>,
    packaging: Word,
    /// The artefact's checksum. If there is none, Maven's own checksum is verified, and the artefact is pinned in
    /// `lock.toml`.
    integrity: Option<Integrity>,
    /// A folder inside the archive. Only its content is unpacked.
    #[serde(default)]
    folder: String,
    /// Folders and files to unpack. Empty for all.
    #[serde(default)]
    only: Vec<String>,
    /// The name of a `.tar.xz` inside the artefact that contains all files. `None` if the artefact itself contains
    /// them.
    archive: Option<String>,
}

impl Maven {
    pub(in crate::source) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let folder = workspace.downloads.join("maven");
        folder::create(&folder)?;
        self.download(workspace, &folder)?;
        let archive = folder.join(self.file_name());
        workspace.enter(Phase::Unpacking);
        if let Some(integrity) = &self.integrity {
            integrity.check(&self.artifact, &archive)?;
        } else {
            let lock = Lock::of_user(workspace.cache.root());
            let new = lock.compare(&archive, &self.file_name(), &self.place(), CHECK)?;
            workspace.new_pins.extend(new);
        }
        if let Some(inner) = &self.archive {
            unpack::tar_xz_in_zip(&archive, inner, &workspace.tree)?;
        } else {
            let wanted = unpack::Wanted { folder: &self.folder, only: &self.only };
            unpack::zip(&archive, &workspace.tree, &wanted)?;
        }
        Ok(vec![Package { name: self.artifact.clone().into(), version: self.version.clone().into() }])
    }

    /// Downloads into a Maven repository in the cache. The plugin stays there for the next fetch. The artefact is
    /// removed from there, because it is large and is unpacked at once. A partial artefact stays, and Maven resumes its
    /// download.
    fn download(&self, workspace: &mut Workspace<'_>, folder: &Path) -> Result<(), FetchError> {
        let repository = workspace.cache.tool("maven");
        let _turn = folder::lock(&repository.with_extension("lock"))?;
        let artifact = repository.join(self.group.replace('.', "/")).join(&*self.artifact);
        let tool = copy(&self.coordinates(), &repository, folder);
        // Without this option, Maven only warns about a wrong checksum.
        let strict = self.integrity.is_none().then_some("--strict-checksums");
        tool.args(strict).watching(&artifact).run(workspace)?;
        Ok(folder::remove(&artifact)?)
    }

    /// The name under which the artefact is pinned. `None` if the entry has its checksum.
    pub(in crate::source) fn pinned_file(&self) -> Option<String> {
        self.integrity.is_none().then(|| self.file_name())
    }

    /// Where the artefact comes from: `maven` and its coordinates.
    pub(in crate::source) fn place(&self) -> String {
        format!("maven {}", self.coordinates())
    }

    pub(in crate::source) fn version(&self) -> &str {
        &self.version
    }

    /// Returns the artefact's coordinates: `group:artifact:version:packaging[:classifier]`.
    fn coordinates(&self) -> String {
        let mut parts = vec![&self.group, &self.artifact, &self.version, &self.packaging];
        parts.extend(&self.classifier);
        parts.into_iter().map(|part| &**part).collect::<Vec<_>>().join(":")
    }

    fn file_name(&self) -> String {
        let classifier = self.classifier.as_ref().map(|name| format!("-{name}")).unwrap_or_default();
        format!("{}-{}{classifier}.{}", self.artifact, self.version, self.packaging)
    }
}

/// The command that downloads an artefact into a local repository and copies it from there to a folder.
fn copy(coordinates: &str, repository: &Path, folder: &Path) -> Tool {
    Tool::new("mvn")
        // Without `--update-snapshots`, Maven remembers failures for a day.
        .args(["--batch-mode", "--quiet", "--update-snapshots", PLUGIN])
        .args([format!("-Dmaven.repo.local={}", repository.display())])
        .args([format!("-Dartifact={coordinates}")])
        .args([format!("-DoutputDirectory={}", folder.display())])
        .current_dir(folder)
}

/// Returns the text of `maven-metadata.xml`, a repository's list of an artefact's versions. Maven downloads it to find
/// the newest version.
pub(in crate::source) fn metadata(
    group: &Word,
    artifact: &Word,
    workspace: &mut Workspace<'_>,
) -> Result<String, FetchError> {
    let repository = workspace.cache.tool("maven");
    let _turn = folder::lock(&repository.with_extension("lock"))?;
    let place = repository.join(group.replace('.', "/")).join(&**artifact);
    folder::remove(&place)?;
    workspace.enter(Phase::Listing);
    // The `pom` is a small description of the artefact. Maven fetches the list of versions to find the newest `pom`.
    let downloads = workspace.downloads.clone();
    copy(&format!("{group}:{artifact}:RELEASE:pom"), &repository, &downloads).run(workspace)?;
    let files = fs::read_dir(&place).at("read", &place)?.flatten().map(|item| item.path());
    let is_metadata = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("maven-metadata") && name.ends_with(".xml")
    };
    let found = files.filter(is_metadata).filter_map(|file| fs::read_to_string(file).ok());
    let texts: Vec<String> = found.collect();
    folder::remove(&place)?;
    Ok(texts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artefact_is_named_as_maven_names_it() {
        let word = |text: &str| Word::try_from(text.to_owned()).unwrap();
        let mut artefact = Maven {
            group: word("com.example"),
            artifact: word("server"),
            version: word("8.0"),
            classifier: Some(word("linux")),
            packaging: word("zip"),
            integrity: Some(Integrity::of(b"")),
            folder: String::new(),
            only: Vec::new(),
            archive: None,
        };
        assert_eq!(artefact.coordinates(), "com.example:server:8.0:zip:linux");
        assert_eq!(artefact.file_name(), "server-8.0-linux.zip");
        artefact.classifier = None;
        assert_eq!(artefact.coordinates(), "com.example:server:8.0:zip");
        assert_eq!(artefact.file_name(), "server-8.0.zip");
    }
}
