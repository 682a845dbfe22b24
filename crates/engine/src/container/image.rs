//! An image that is on this machine.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

use serde::Deserialize;

use super::error::ImageError;
use super::name::ImageName;
use super::options;
use super::tool::{ContainerTool, Output};

/// An image that is on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(super) tool: ContainerTool,
    pub(super) name: ImageName,
    /// The id that the tool gives the image. A later image of the same name has another id.
    pub(super) id: String,
    /// The digest, `sha256:…`. Everybody who pulls this digest gets the same image.
    digest: String,
}

/// The fields of the output of `image inspect` that Dyno reads.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    id: String,
    digest: Option<String>,
    repo_digests: Option<Vec<String>>,
    architecture: Option<String>,
}

impl Image {
    /// Finds the image of a name. `None` if it is not on this machine.
    pub(super) fn find(name: &ImageName) -> Result<Option<Self>, ImageError> {
        Self::find_by(ContainerTool::find()?, name)
    }

    fn find_by(tool: ContainerTool, name: &ImageName) -> Result<Option<Self>, ImageError> {
        let action = format!("look at the image {name}");
        let output = tool.output(tool.command(&["image", "inspect", name.as_str()]))?;
        if output.is_success() {
            return Self::read(tool, name, &output, &action).map(Some);
        }
        let complaint = output.errors.to_ascii_lowercase();
        // If there is no such image, docker prints the first message, and podman prints one of the others.
        let absent = ["no such image", "image not known", "unable to find"];
        if absent.iter().any(|words| complaint.contains(words)) {
            Ok(None)
        } else {
            Err(tool.failed(&action, &output))
        }
    }

    fn read(
        tool: ContainerTool,
        name: &ImageName,
        output: &Output,
        action: &str,
    ) -> Result<Self, ImageError> {
        let inspected =
            serde_json::from_str::<Vec<Inspected>>(&output.text).ok().and_then(|mut all| all.pop());
        let Some(inspected) = inspected else { return Err(tool.failed(action, output)) };
        if let Some(architecture) = inspected.architecture.as_deref().filter(|it| !it.is_empty())
            && architecture != architecture_here()
        {
            let (architecture, here) = (architecture.to_owned(), architecture_here().to_owned());
            return Err(ImageError::Architecture { image: name.to_string(), architecture, here });
        }
        let digest = inspected.published_digest(name);
        Ok(Self { tool, name: name.clone(), id: inspected.id, digest })
    }

    /// Pulls an image.
    pub(super) fn pull(name: &ImageName) -> Result<Self, ImageError> {
        let tool = ContainerTool::find()?;
        let action = format!("pull the image {name}");
        tool.succeed(tool.command(&["pull", name.as_str()]), &action)?;
        let absent = || ImageError::Failed {
            tool: tool.name(),
            action: action.clone(),
            complaint: "it reported success, but the image is not here".to_owned(),
        };
        Self::find_by(tool.clone(), name)?.ok_or_else(absent)
    }

    /// The image's name with its digest: `docker.io/library/mysql:8.4@sha256:…`.
    pub(crate) fn reference(&self) -> String {
        let name = self.name.as_str();
        if name.contains('@') { name.to_owned() } else { format!("{name}@{}", self.digest) }
    }

    /// The tool's id for the image, which no other image has.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// A command that runs a program of the image. The program sees no file of the host.
    pub(crate) fn program(&self, program: &OsStr) -> Command {
        let mut command = options::run(self);
        let mut entrypoint = OsStr::new("--entrypoint=").to_owned();
        entrypoint.push(program);
        command.arg(entrypoint).arg(&self.id);
        command
    }

    /// Runs a shell script in the image and returns its output.
    pub(super) fn ask(&self, script: &str, arguments: &[&OsStr], action: &str) -> Result<String, ImageError> {
        let mut command = self.program(OsStr::new("/bin/sh"));
        command.args(["-c", script, "sh"]).args(arguments);
        self.tool.succeed(command, action)
    }

    /// Returns the content of the first of `paths` that exists, or `None` if none exists.
    pub(crate) fn read_first(&self, paths: &[&OsStr]) -> Result<Option<String>, ImageError> {
        const SCRIPT: &str = "for file; do if [ -f \"$file\" ]; then echo; cat \"$file\"; exit; fi; done";
        let text = self.ask(SCRIPT, paths, &format!("read files of the image {}", self.name))?;
        // The script prints a line break before the content, so an empty file differs from a missing one.
        Ok(text.strip_prefix('\n').map(str::to_owned))
    }
}

impl Inspected {
    /// Returns the digest of the image's manifest, by which registries know the image. If the image is in several
    /// repositories, prefers the digest in the repository of `name`. If the image is in no repository, returns the
    /// digest of its configuration.
    fn published_digest(&self, name: &ImageName) -> String {
        let published = || self.repo_digests.iter().flatten().filter_map(|name| name.split_once('@'));
        // docker lists the repository `docker.io/library/mysql` as `mysql`.
        let is_of_name = |repository: &str| {
            let shortened = || name.repository().strip_suffix(repository);
            shortened().is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let of_registry =
            published().find(|(repository, _)| is_of_name(repository)).or_else(|| published().next());
        let of_registry = of_registry.map(|(_, digest)| digest.to_owned());
        let digest = of_registry.or_else(|| self.digest.clone().filter(|digest| !digest.is_empty()));
        digest.unwrap_or_else(|| {
            if self.id.contains(':') { self.id.clone() } else { format!("sha256:{}", self.id) }
        })
    }
}

/// This machine's architecture, as images name it (`GOARCH`).
fn architecture_here() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Finds an image with a fake container tool, which runs `script`.
    fn inspected_by(script: &str) -> Result<Option<Image>, ImageError> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("podman");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Image::find_by(ContainerTool::at(program), &"docker.io/library/mysql:8.4".parse().unwrap())
    }

    fn says(json: &str) -> Image {
        inspected_by(&format!("echo '{json}'")).unwrap().unwrap()
    }

    #[test]
    fn the_digest_is_the_one_that_registries_know() {
        let pulled = says(
            r#"[{"Id":"sha256:cafe","RepoDigests":["docker.io/library/mysql@sha256:beef"],"Architecture":""}]"#,
        );
        assert_eq!(pulled.reference(), "docker.io/library/mysql:8.4@sha256:beef");
        assert_eq!(pulled.id(), "sha256:cafe");
        let imported = says(r#"[{"Id":"cafe","Digest":"sha256:f00d","RepoDigests":[]}]"#);
        assert_eq!(imported.reference(), "docker.io/library/mysql:8.4@sha256:f00d");
        for own in ["mysql@sha256:beef", "library/mysql@sha256:beef", "docker.io/library/mysql@sha256:beef"] {
            let elsewhere = "registry.example/a/mysql@sha256:f00d";
            let in_two = says(&format!(r#"[{{"Id":"cafe","RepoDigests":["{elsewhere}","{own}"]}}]"#));
            assert_eq!(in_two.reference(), "docker.io/library/mysql:8.4@sha256:beef", "{own}");
        }
        let of_docker = says(r#"[{"Id":"sha256:cafe","RepoDigests":null}]"#);
        assert_eq!(of_docker.reference(), "docker.io/library/mysql:8.4@sha256:cafe");
    }

    #[test]
    fn an_image_that_is_not_here_is_no_error_and_anything_else_is() {
        for complaint in [
            "Error: inspecting object: docker.io/library/mysql:8.4: image not known",
            "Error: No such image: docker.io/library/mysql:8.4",
        ] {
            let absent = inspected_by(&format!("echo '[]'; echo '{complaint}' >&2; exit 125"));
            assert!(absent.unwrap().is_none(), "{complaint}");
        }
        let error = inspected_by("echo 'Cannot connect to the Docker daemon' >&2; exit 1").unwrap_err();
        assert!(error.to_string().ends_with(": Cannot connect to the Docker daemon"), "{error}");
    }

    #[test]
    fn an_image_for_other_machines_is_refused() {
        let error = inspected_by(r#"echo '[{"Id":"cafe","Architecture":"mips"}]'"#).unwrap_err().to_string();
        assert!(error.contains("is built for mips, this machine is"), "{error}");
    }
}
