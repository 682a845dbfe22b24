//! Source `maven`: an artefact of a Maven repository, by `mvn dependency:copy`.

use serde::{Deserialize, Serialize};

use super::download::integrity::Integrity;
use super::download::progress::Phase;
use super::download::tool::Tool;
use super::download::word::Word;
use super::error::FetchError;
use super::{Package, Workspace, unpack};
use crate::machine::folder;

/// The downloading plugin, pinned so that fetches are the same everywhere.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/// One artefact, which must be a zip archive, as jars are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Maven {
    group: Word,
    artifact: Word,
    version: Word,
    classifier: Option<Word>,
    packaging: Word,
    integrity: Integrity,
    /// The folder inside the archive to unpack.
    #[serde(default)]
    folder: String,
    /// Folders and files to unpack; empty for all.
    #[serde(default)]
    only: Vec<String>,
    /// The `.tar.xz` inside that holds everything.
    archive: Option<String>,
}

impl Maven {
    pub(super) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let folder = workspace.downloads.join("maven");
        folder::create(&folder)?;
        self.download(workspace, &folder)?;
        let archive = folder.join(self.file_name());
        workspace.enter(Phase::Unpacking);
        self.integrity.check(&self.artifact, &archive)?;
        if let Some(inner) = &self.archive {
            unpack::tar_xz_in_zip(&archive, inner, &workspace.tree)?;
        } else {
            let wanted = unpack::Wanted { folder: &self.folder, only: &self.only };
            unpack::zip(&archive, &workspace.tree, &wanted)?;
        }
        Ok(vec![Package { name: self.artifact.clone().into(), version: self.version.clone().into() }])
    }

    /// A Maven repository in the cache: the plugin stays for the next fetch, the artefact is removed, since it is large
    /// and unpacked right away. A partial artefact stays, and Maven resumes its download.
    fn download(&self, workspace: &mut Workspace<'_>, folder: &std::path::Path) -> Result<(), FetchError> {
        let repository = workspace.cache.tool("maven");
        let _turn = folder::lock(&repository.with_extension("lock"))?;
        let artifact = repository.join(self.group.replace('.', "/")).join(&*self.artifact);
        Tool::new("mvn")
            // Without this option Maven remembers failures for a day.
            .args(["--batch-mode", "--quiet", "--update-snapshots", PLUGIN])
            .args([format!("-Dmaven.repo.local={}", repository.display())])
            .args([format!("-Dartifact={}", self.coordinates())])
            .args([format!("-DoutputDirectory={}", folder.display())])
            .current_dir(folder)
            .watching(&artifact)
            .run(workspace)?;
        Ok(folder::remove(&artifact)?)
    }

    /// `group:artifact:version:packaging[:classifier]`.
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
            integrity: Integrity::of(b""),
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
