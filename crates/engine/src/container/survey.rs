//! Finds the server in an image.

use std::path::{Path, PathBuf};

use super::error::ImageError;
use super::image::Image;
use super::name::ImageName;
use crate::cache::installation::Installation;
use crate::cache::layout::Layout;
use crate::cache::location::Cache;
use crate::catalogue::entry::{Entry, Family};
use crate::catalogue::version::is_within;
use crate::source::basedir::{Said, said};
use crate::source::{Phase, Progress};

const SCRIPT: &str = include_str!("survey.sh");

/// The results of `survey.sh`, which searches an image for a server.
#[derive(Debug, Default, PartialEq, Eq)]
struct Survey {
    server: Option<PathBuf>,
    /// The server's output for `--version`.
    version: String,
    share: Option<PathBuf>,
    plugins: Option<PathBuf>,
    /// The files of plugins that are storage engines.
    storage_plugins: Vec<String>,
}

impl Installation {
    /// Finds the server in an image. `None` if the image is not on this machine.
    ///
    /// # Errors
    /// There is no tool for containers, the image has no server, or the server is not of the expected family.
    pub fn from_image(name: &ImageName, family: Option<Family>) -> Result<Option<Self>, ImageError> {
        let Some(image) = Image::find(name)? else { return Ok(None) };
        let installation = surveyed(image)?;
        match family {
            Some(family) if family != installation.entry.family => {
                let advice = "leave `family` out";
                Err(other(name, &installation.entry, family.engine().to_owned(), advice))
            }
            _ => Ok(Some(installation)),
        }
    }

    /// The installation in an image that is not on this machine, according to the image's name. Its settings can be
    /// examined, but it cannot be started.
    ///
    /// # Errors
    /// The name does not show the family, or its tag is not a version.
    pub fn expected_in_image(name: &ImageName, family: Option<Family>) -> Result<Self, ImageError> {
        let family = family.or_else(|| name.family());
        let family = family.ok_or_else(|| ImageError::Family { image: name.to_string() })?;
        let version = name.version().ok_or_else(|| ImageError::Version { image: name.to_string() })?;
        Ok(expected(family, version))
    }

    /// Like [`expected_in_image`](Self::expected_in_image), but guesses what the name does not say. The result
    /// serves only for display.
    pub fn guessed_in_image(name: &ImageName, family: Option<Family>) -> Self {
        let family = family.or_else(|| name.family()).unwrap_or(Family::Mysql);
        expected(family, name.version().unwrap_or("?"))
    }
}

/// Finds the server in an image. Pulls the image if it is not on this machine.
///
/// # Errors
/// The image cannot be found or pulled, or its server is not of the expected family and version.
pub fn fetch_image(
    name: &ImageName,
    expected: &Entry,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installation, ImageError> {
    let image = if let Some(image) = Image::find(name)? {
        image
    } else {
        progress(Progress { phase: Phase::Downloading, done_bytes: 0, total_bytes: None });
        Image::pull(name)?
    };
    let installation = surveyed(image)?;
    let entry = &installation.entry;
    if entry.family == expected.family && is_within(&entry.version, &expected.version) {
        return Ok(installation);
    }
    let was_expected = format!("{} {}", expected.engine, expected.version);
    Err(other(name, entry, was_expected, "it is here now, so try again"))
}

/// Pulls an image and finds its server, of any family and version.
///
/// # Errors
/// The image cannot be pulled, or has no server.
pub fn pull_image(name: &ImageName) -> Result<Installation, ImageError> {
    surveyed(Image::pull(name)?)
}

fn other(name: &ImageName, found: &Entry, expected: String, advice: &'static str) -> ImageError {
    let found = format!("{} {}", found.engine, found.version);
    ImageError::Other { image: name.to_string(), found, expected, advice }
}

fn expected(family: Family, version: &str) -> Installation {
    let mut installation = in_image(Layout::default(), PathBuf::from("/"), None);
    installation.take_family(family);
    version.clone_into(&mut installation.entry.version);
    installation.take_after_the_nearest(&|_| true);
    installation
}

/// Runs `survey.sh` in an image and parses its report.
fn surveyed(image: Image) -> Result<Installation, ImageError> {
    let name = image.reference();
    let text = image.ask(SCRIPT, &[], &format!("run a shell in the image {name}"))?;
    let survey = Survey::read(&text);
    let Some(server) = &survey.server else { return Err(ImageError::NoServer { image: name }) };
    let Some(Said { family, version, exact }) = said(&survey.version) else {
        let said = survey.version.lines().next().unwrap_or_default().to_owned();
        return Err(ImageError::NoVersion { image: name, server: server.display().to_string(), said });
    };
    let mut installation = in_image(survey.layout(), survey.root(), Some(image));
    installation.take_family(family);
    installation.entry.version = version;
    installation.exact_version = exact;
    installation.take_after_the_nearest(&|file| survey.storage_plugins.iter().any(|known| known == file));
    Ok(installation)
}

fn in_image(layout: Layout, root: PathBuf, image: Option<Image>) -> Installation {
    let templates = Cache::default_location().templates();
    Installation { entry: Entry::of_layout(layout), root, exact_version: String::new(), templates, image }
}

impl Survey {
    fn read(text: &str) -> Self {
        let mut survey = Self::default();
        for line in text.lines() {
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "server" => survey.server = Some(value.into()),
                "version" => {
                    survey.version.push_str(value);
                    survey.version.push('\n');
                }
                "share" => survey.share = Some(value.into()),
                "plugins" => survey.plugins = Some(value.into()),
                "plugin" => survey.storage_plugins.push(value.to_owned()),
                _ => {}
            }
        }
        survey
    }

    /// The folder above the server's folder: `/usr` for `/usr/sbin/mysqld`.
    fn root(&self) -> PathBuf {
        let root = self.server.as_deref().and_then(Path::parent).and_then(Path::parent);
        root.unwrap_or(Path::new("/")).to_owned()
    }

    /// Returns the layout below the root. Paths that the script did not find stay empty, because the server knows them
    /// itself.
    fn layout(&self) -> Layout {
        let root = self.root();
        let inside = |path: &Option<PathBuf>| Some(path.as_ref()?.strip_prefix(&root).ok()?.to_owned());
        Layout {
            server: inside(&self.server).unwrap_or_default(),
            share: inside(&self.share).unwrap_or_default(),
            plugins: inside(&self.plugins),
            ..Layout::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_tells_where_a_server_has_its_things() {
        let survey = Survey::read(
            "server /usr/sbin/mysqld\nversion Warning: x\nversion /usr/sbin/mysqld  Ver 8.4.3 for Linux on x86_64\n\
             share /usr/share/mysql-8.4\nplugins /usr/lib64/mysql/plugin\nplugin ha_archive.so\nplugin ha_rocksdb.so\n",
        );
        let layout = survey.layout();
        assert_eq!(survey.root(), Path::new("/usr"));
        assert_eq!(layout.server, Path::new("sbin/mysqld"));
        assert_eq!(layout.share, Path::new("share/mysql-8.4"));
        assert_eq!(layout.plugins.as_deref(), Some(Path::new("lib64/mysql/plugin")));
        assert_eq!(survey.storage_plugins, ["ha_archive.so", "ha_rocksdb.so"]);
        let told = said(&survey.version).unwrap();
        assert_eq!((told.family, told.version.as_str()), (Family::Mysql, "8.4.3"));
        assert_eq!(Survey::read(""), Survey::default());
    }

    #[test]
    fn what_an_absent_image_holds_is_told_by_its_name_or_by_the_plan() {
        let expected = |name: &str, family| Installation::expected_in_image(&name.parse().unwrap(), family);
        let mysql = expected("docker.io/library/mysql:8.4", None).unwrap();
        assert_eq!(mysql.entry.to_string(), "mysql@8.4");
        assert!(mysql.entry.storage_engines.iter().any(|name| name == "innodb"));
        let forced = expected("localhost/mine:16", Some(Family::Postgres)).unwrap();
        assert_eq!(forced.entry.to_string(), "postgres@16");
        let error = expected("localhost/mine:16", None).unwrap_err();
        assert!(matches!(error, ImageError::Family { .. }), "{error}");
        let error = expected("docker.io/library/mysql:latest", None).unwrap_err();
        assert!(matches!(error, ImageError::Version { .. }), "{error}");
        let guessed = Installation::guessed_in_image(&"localhost/mine".parse().unwrap(), None);
        assert_eq!(guessed.entry.to_string(), "mysql@?");
    }
}
