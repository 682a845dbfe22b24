//! An archive of the user's, such as the ones that vendors offer: `.tar.gz`, `.tar.xz` or `.zip`, from a file or by
//! curl from an address.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::download::integrity::Integrity;
use super::download::progress::Phase;
use super::download::tool::Tool;
use super::error::FetchError;
use super::unpack::{self, Tree};
use super::{Package, Workspace};
use crate::machine::folder;

/// An archive and its checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Fields")]
pub(crate) struct Tarball {
    #[serde(flatten)]
    place: Location,
    sha256: Sha256,
}

/// Where an archive is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Location {
    /// A file, relative to the entry's file.
    Path(PathBuf),
    /// An address.
    Url(Url),
}

/// An address that curl gets, which could do more for others than fetch over a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Url {
    text: String,
    is_encrypted: bool,
}

impl TryFrom<String> for Url {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let begins_with =
            |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        let is_encrypted = begins_with("https://");
        let is_plain = text.chars().all(|c| !c.is_whitespace() && !c.is_control());
        if is_plain && (is_encrypted || begins_with("http://")) {
            return Ok(Self { text, is_encrypted });
        }
        let file = text.strip_prefix("file://").unwrap_or("FILE");
        Err(format!(
            "'{text}' is no address to fetch from; write https://… or http://…, or path = \"{file}\" for a file"
        ))
    }
}

impl From<Url> for String {
    fn from(url: Url) -> Self {
        url.text
    }
}

impl Url {
    /// The protocols that curl may use for it and for where it is sent on to: the checksum makes up for what `http` lacks, but
    /// an address with `https` is not to be sent on without.
    fn protocols(&self) -> &'static str {
        if self.is_encrypted { "=https" } else { "=http,https" }
    }
}

/// What an entry may say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    path: Option<PathBuf>,
    url: Option<Url>,
    sha256: Sha256,
}

/// A checksum as `sha256sum` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Sha256 {
    digits: String,
    integrity: Integrity,
}

impl TryFrom<String> for Sha256 {
    type Error = String;

    fn try_from(digits: String) -> Result<Self, String> {
        let integrity = Integrity::from_sha256_digits(&digits)
            .ok_or_else(|| format!("'{digits}' is no checksum; write the 64 digits that sha256sum prints"))?;
        Ok(Self { digits, integrity })
    }
}

impl From<Sha256> for String {
    fn from(sha256: Sha256) -> Self {
        sha256.digits
    }
}

impl TryFrom<Fields> for Tarball {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        let place = match (fields.path, fields.url) {
            (Some(path), None) => Location::Path(path),
            (None, Some(url)) => Location::Url(url),
            _ => return Err("a tarball has a path or a url, and not both"),
        };
        Ok(Self { place, sha256: fields.sha256 })
    }
}

impl Tarball {
    pub(super) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let name = self.name();
        match &self.place {
            Location::Path(path) => self.unpack(path, workspace)?,
            Location::Url(url) => {
                let folder = workspace.cache.tool("curl").join(&self.sha256.digits);
                let _turn = folder::lock(&folder.with_extension("lock"))?;
                let archive = download(url, &folder.join(&name), workspace)?;
                let outcome = self.unpack(&archive, workspace);
                // A complete but wrong archive would never be downloaded again.
                folder::remove(&folder)?;
                outcome?;
            }
        }
        Ok(vec![Package { name, version: String::new() }])
    }

    /// Whether it is downloaded.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.place, Location::Url(_))
    }

    pub(super) fn obstacle(&self) -> Option<String> {
        match &self.place {
            Location::Path(path) => (!path.is_file()).then(|| format!("there is no file {}", path.display())),
            Location::Url(_) => None,
        }
    }

    pub(super) fn start_at(&mut self, folder: &Path) {
        if let Location::Path(path) = &mut self.place {
            *path = folder.join(&*path);
        }
    }

    /// The archive's file name, whose extension tells its kind.
    fn name(&self) -> String {
        let path = match &self.place {
            Location::Path(path) => path.as_path(),
            Location::Url(url) => Path::new(url.text.split(['?', '#']).next().unwrap_or_default()),
        };
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn unpack(&self, archive: &Path, workspace: &mut Workspace<'_>) -> Result<(), FetchError> {
        workspace.enter(Phase::Unpacking);
        self.sha256.integrity.check(&self.name(), archive)?;
        let unpacked = workspace.downloads.join("tarball");
        folder::create(&unpacked)?;
        unpack::by_name(archive, &unpacked)?;
        let (unpacked, tree) = (Tree::create(&unpacked)?, Tree::create(&workspace.tree)?);
        unpacked.move_up(&tree).map_err(|error| FetchError::unpack(archive, error))
    }
}

/// Downloads, and resumes an earlier attempt.
fn download(url: &Url, archive: &Path, workspace: &mut Workspace<'_>) -> Result<PathBuf, FetchError> {
    let folder = archive.parent().unwrap_or(Path::new(""));
    folder::create(folder)?;
    Tool::new("curl")
        .args(["--fail", "--location", "--silent", "--show-error", "--retry", "3", "--continue-at", "-"])
        .args(["--output".as_ref(), archive.as_os_str()])
        .args(["--proto", url.protocols(), "--proto-redir", url.protocols(), "--globoff"])
        .args(["--", &url.text])
        .watching(folder)
        .run(workspace)?;
    Ok(archive.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;
    use crate::cache::location::Cache;
    use crate::source::is_installed;

    fn parse(text: &str) -> Result<Tarball, toml::de::Error> {
        toml::from_str(&text.replace("DIGITS", &"ab".repeat(32)))
    }

    #[test]
    fn an_archive_is_a_path_or_a_url_with_a_checksum() {
        let tarball = parse("url = 'http://x.test/a-1.tar.gz?raw=1'\nsha256 = 'DIGITS'").unwrap();
        assert_eq!(tarball.name(), "a-1.tar.gz");
        let mut tarball = parse("path = 'a.zip'\nsha256 = 'DIGITS'").unwrap();
        tarball.start_at(Path::new("/own"));
        assert_eq!(tarball.place, Location::Path(PathBuf::from("/own/a.zip")));
        assert!(tarball.obstacle().unwrap().contains("/own/a.zip"));
        for (url, protocols) in [("HTTPS://x.test/a.zip", "=https"), ("http://x.test/a.zip", "=http,https")] {
            let tarball = parse(&format!("url = '{url}'\nsha256 = 'DIGITS'")).unwrap();
            assert!(matches!(tarball.place, Location::Url(url) if url.protocols() == protocols));
        }
        for url in
            ["-K/tmp/x", "--config=x", "file:///x/a.zip", "gopher://x/", "ftp://x/", "x.test", "https://x y"]
        {
            let error = parse(&format!("url = '{url}'\nsha256 = 'DIGITS'")).unwrap_err().to_string();
            assert!(error.contains(&format!("'{url}' is no address")), "{error}");
        }
        for wrong in ["path = 'a.zip'", "sha256 = 'DIGITS'", "path = 'a'\nurl = 'b'\nsha256 = 'DIGITS'"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("path = 'a.zip'\nsha256 = 'DIGITSx'").unwrap_err().to_string().contains("sha256sum"));
    }

    #[test]
    fn what_an_entry_says_is_what_a_manifest_keeps() {
        let tarball = parse("path = '/a.zip'\nsha256 = 'DIGITS'").unwrap();
        let kept = serde_json::to_string(&tarball).unwrap();
        assert_eq!(serde_json::from_str::<Tarball>(&kept).unwrap(), tarball);
    }

    /// Answers one request with a place to go on at.
    fn send_on_to(place: &str) -> (u16, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answer = format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n");
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = client.read(&mut request).unwrap();
            client.write_all(answer.as_bytes()).unwrap();
        });
        (port, server)
    }

    #[test]
    fn curl_is_not_sent_on_to_a_file() {
        // A proxy would not come here.
        if !is_installed("curl") || std::env::var_os("http_proxy").is_some() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "precious").unwrap();
        let (port, server) = send_on_to(&format!("file://{}", secret.display()));
        let url = Url::try_from(format!("http://127.0.0.1:{port}/a.zip")).unwrap();
        let archive = folder.path().join("a.zip");
        let error = download(
            &url,
            &archive,
            &mut Workspace {
                cache: &Cache::new(folder.path()),
                downloads: folder.path().to_owned(),
                tree: folder.path().to_owned(),
                total_bytes: 0,
                progress: &mut |_| (),
            },
        );
        server.join().unwrap();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("rotocol") && error.contains("file"), "{error}");
        assert!(!std::fs::read_to_string(&archive).unwrap_or_default().contains("precious"));
    }
}
