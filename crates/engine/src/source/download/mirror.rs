//! The machine's Debian mirrors, from its apt sources: sources.list(5), in both formats.

use std::fs;
use std::path::{Path, PathBuf};

/// Code names of Debian's releases, and the names that move from one release to the next.
const RELEASES: [&str; 10] =
    ["bullseye", "bookworm", "trixie", "forky", "duke", "sid", "unstable", "testing", "stable", "oldstable"];

/// The machine's mirrors of Debian's archive and security archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::source) struct Mirror {
    /// URI of the archive.
    pub(in crate::source) archive: String,
    /// URI of the security archive, if the machine has one.
    pub(in crate::source) security: Option<String>,
}

/// One URI and one suite from apt's sources. Sources without the component `main` are left out.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    uri: String,
    suite: String,
}

impl Mirror {
    /// Reads `/etc/apt`. `None` if it names no Debian mirror.
    pub(in crate::source) fn configured() -> Option<Self> {
        Self::from_texts(&texts(Path::new("/etc/apt")))
    }

    /// Finds Debian's mirrors. Third parties offer packages for Debian releases too, but only Debian has a suite of
    /// updates. So a mirror with such a suite comes first.
    fn from_texts(texts: &[(PathBuf, String)]) -> Option<Self> {
        let listed: Vec<Listed> = texts
            .iter()
            .flat_map(|(path, text)| {
                if path.extension().is_some_and(|extension| extension == "sources") {
                    stanzas(text)
                } else {
                    one_line_each(text)
                }
            })
            .collect();
        let with = |suffix: &str| {
            let is_suite =
                |suite: &str| suite.strip_suffix(suffix).is_some_and(|name| RELEASES.contains(&name));
            listed.iter().find(|listed| is_suite(&listed.suite)).map(|listed| listed.uri.clone())
        };
        Some(Self { archive: with("-updates").or_else(|| with(""))?, security: with("-security") })
    }

    /// Returns the lines of an apt sources file (sources.list(5)) for another Debian release.
    pub(in crate::source) fn sources_of(&self, release: &str, keyring: &Path) -> String {
        let line =
            |uri: &str, suite: &str| format!("deb [signed-by={}] {uri} {suite} main\n", keyring.display());
        let mut sources = line(&self.archive, release);
        // The unstable release has no separate updates and security fixes.
        if !["sid", "unstable"].contains(&release) {
            sources += &line(&self.archive, &format!("{release}-updates"));
            let security = self.security.iter();
            sources.extend(security.map(|uri| line(uri, &format!("{release}-security"))));
        }
        sources
    }
}

/// The files that apt reads its sources from.
fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let parts = fs::read_dir(folder.join("sources.list.d")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = parts
        .map(|item| item.path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "list" || extension == "sources")
        })
        .collect();
    paths.sort();
    paths.insert(0, folder.join("sources.list"));
    paths.into_iter().filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?))).collect()
}

/// Parses lines of the form `deb [options] URI SUITE COMPONENT…`.
fn one_line_each(text: &str) -> Vec<Listed> {
    text.lines().filter_map(one_line).collect()
}

fn one_line(line: &str) -> Option<Listed> {
    let line = line.split('#').next()?;
    let mut rest = line.trim().strip_prefix("deb")?.strip_prefix(char::is_whitespace)?.trim_start();
    if rest.starts_with('[') {
        rest = rest.split_once(']')?.1;
    }
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    let listed = Listed { uri: uri.to_owned(), suite: suite.to_owned() };
    (words.any(|component| component == "main") && !uri.starts_with("cdrom:")).then_some(listed)
}

/// Parses the format deb822: stanzas of `Field: value` with an empty line between them.
fn stanzas(text: &str) -> Vec<Listed> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.split(|line| line.trim().is_empty()).flat_map(stanza).collect()
}

fn stanza(lines: &[&str]) -> Vec<Listed> {
    let field = |name: &str| -> Vec<&str> {
        let mut fields = lines.iter().filter_map(|line| line.split_once(':'));
        let value = fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        value.unwrap_or_default().split_whitespace().collect()
    };
    if !field("Types").contains(&"deb")
        || !field("Components").contains(&"main")
        || field("Enabled") == ["no"]
    {
        return Vec::new();
    }
    let suites = field("Suites");
    let pairs = |uri: &str| -> Vec<Listed> {
        let listed = |suite: &&str| Listed { uri: uri.to_owned(), suite: (*suite).to_owned() };
        suites.iter().map(listed).collect()
    };
    field("URIs").into_iter().flat_map(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror(name: &str, text: &str) -> Option<Mirror> {
        Mirror::from_texts(&[(PathBuf::from(name), text.to_owned())])
    }

    #[test]
    fn a_mirror_is_found_in_stanzas() {
        let text = "# ours\nTypes: deb\nURIs: http://other.test/debian\nSuites: bookworm\nComponents: main\n\n\
                    Types: deb deb-src\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\n\
                    Components: main contrib\n\n\
                    Types: deb\nURIs: http://mirror.test/security\nSuites: bookworm-security\nComponents: main\n";
        let mirror = mirror("debian.sources", text).unwrap();
        assert_eq!(mirror.archive, "http://mirror.test/debian");
        assert_eq!(mirror.security.as_deref(), Some("http://mirror.test/security"));
        let sources = mirror.sources_of("trixie", Path::new("/keys.gpg"));
        assert_eq!(
            sources,
            "deb [signed-by=/keys.gpg] http://mirror.test/debian trixie main\n\
             deb [signed-by=/keys.gpg] http://mirror.test/debian trixie-updates main\n\
             deb [signed-by=/keys.gpg] http://mirror.test/security trixie-security main\n"
        );
        assert_eq!(mirror.sources_of("sid", Path::new("/keys.gpg")).lines().count(), 1);
    }

    #[test]
    fn a_mirror_is_found_in_lines() {
        let text = "#deb http://old.test/debian bookworm main\n\
                    deb-src http://source.test/debian bookworm main\n\
                    deb cdrom:[disc]/ bookworm main\n\
                    deb [arch=amd64 signed-by=/k] http://mirror.test/debian bookworm main # ours\n";
        let mirror = mirror("sources.list", text).unwrap();
        assert_eq!(mirror, Mirror { archive: "http://mirror.test/debian".to_owned(), security: None });
    }

    #[test]
    fn other_distributions_and_other_peoples_packages_are_no_mirror() {
        let text = "deb http://mirror.test/ubuntu noble main\ndeb http://tool.test/apt bookworm stable\n";
        assert_eq!(mirror("sources.list", text), None);
        let text =
            "Types: deb\nEnabled: no\nURIs: http://mirror.test/debian\nSuites: sid\nComponents: main\n";
        assert_eq!(mirror("debian.sources", text), None);
    }
}
