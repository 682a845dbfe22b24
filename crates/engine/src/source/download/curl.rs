//! Downloads by curl, which knows the machine's proxies and certificates.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::tool::Tool;
use crate::machine::folder;
use crate::machine::path_error::At as _;
use crate::source::error::FetchError;
use crate::source::workspace::Workspace;

/// Messages of curl and servers if a download cannot be continued. The file on disk may be complete already, or may
/// belong to another archive.
const CANNOT_CONTINUE: [&str; 2] = ["error: 416", "byte ranges"];

/// An address for curl. Only `http` and `https` are allowed, because curl can also read local files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Url {
    text: String,
    is_encrypted: bool,
}

/// An address with `https`. TLS proves that the server belongs to the owner of the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Https(Url);

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
            "'{text}' is not an address to fetch from; write https://… or http://…, or path = \"{file}\" for a file"
        ))
    }
}

impl From<Url> for String {
    fn from(url: Url) -> Self {
        url.text
    }
}

impl Url {
    pub(in crate::source) fn text(&self) -> &str {
        &self.text
    }

    /// The name of the file at the address. Its extension shows the archive's kind.
    pub(in crate::source) fn file_name(&self) -> String {
        let path = Path::new(self.text.split(['?', '#']).next().unwrap_or_default());
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The protocols that curl may use for the address and for redirections. For an address with `http`, only the
    /// checksum protects the file. An address with `https` must not be redirected to `http`.
    pub(in crate::source) fn protocols(&self) -> &'static str {
        if self.is_encrypted { "=https" } else { "=http,https" }
    }
}

impl TryFrom<String> for Https {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match Url::try_from(text)? {
            url if url.is_encrypted => Ok(Self(url)),
            url => Err(format!("'{}' is not encrypted; write https://…", url.text)),
        }
    }
}

impl From<Https> for String {
    fn from(https: Https) -> Self {
        https.0.text
    }
}

impl Https {
    pub(in crate::source) fn url(&self) -> &Url {
        &self.0
    }

    /// Appends a file's name to this address of a folder. Returns the address of the file.
    pub(in crate::source) fn join(&self, file: &str) -> Url {
        Url { text: format!("{}/{file}", self.0.text.trim_end_matches('/')), is_encrypted: true }
    }
}

/// Downloads a file. Continues a partial file of an earlier attempt. If the transfer breaks off, tries again after
/// each attempt that brought more bytes.
pub(in crate::source) fn download(
    url: &Url,
    file: &Path,
    workspace: &mut Workspace<'_>,
) -> Result<(), FetchError> {
    folder::create(file.parent().unwrap_or(Path::new("")))?;
    let mut had = length(file);
    loop {
        let Err(error) = attempt(url, file, workspace) else { return Ok(()) };
        let FetchError::ToolFailed { output, .. } = &error else { return Err(error) };
        let has = length(file);
        let is_refused = output.iter().any(|line| CANNOT_CONTINUE.iter().any(|words| line.contains(words)));
        if had > 0 && is_refused {
            fs::remove_file(file).at("remove", file)?;
            had = 0;
        } else if has > had {
            had = has;
        } else {
            return Err(error);
        }
    }
}

fn attempt(url: &Url, file: &Path, workspace: &mut Workspace<'_>) -> Result<(), FetchError> {
    let tool = Tool::new("curl")
        .args(["--fail", "--location", "--silent", "--show-error", "--retry", "3", "--continue-at", "-"])
        // Gives up a connection on which nothing arrives for a minute.
        .args(["--connect-timeout", "20", "--speed-limit", "1", "--speed-time", "60"])
        .args(["--output".as_ref(), file.as_os_str()])
        .args(["--proto", url.protocols(), "--proto-redir", url.protocols(), "--globoff"])
        .args(["--", &url.text])
        .watching(file.parent().unwrap_or(Path::new("")));
    tool.run(workspace).map(drop)
}

/// Size of a file in bytes. 0 if it does not exist.
fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;
    use crate::cache::location::Cache;
    use crate::source::is_installed;

    #[test]
    fn a_folder_s_address_is_encrypted() {
        let folder = Https::try_from("https://x.test/a/".to_owned()).unwrap();
        assert_eq!(folder.join("b.tar.gz").text(), "https://x.test/a/b.tar.gz");
        let error = Https::try_from("http://x.test/a".to_owned()).unwrap_err();
        assert!(error.contains("not encrypted"), "{error}");
        assert!(Https::try_from("--config=x".to_owned()).is_err());
    }

    /// Starts a server that redirects one request to another address. Returns the server's port.
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
        // The test is skipped if curl would use a proxy, because the proxy cannot reach this test's server.
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
                new_pins: Vec::new(),
                progress: &mut |_| (),
            },
        );
        server.join().unwrap();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("rotocol") && error.contains("file"), "{error}");
        assert!(!std::fs::read_to_string(&archive).unwrap_or_default().contains("precious"));
    }
}
