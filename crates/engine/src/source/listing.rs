//! Where vendors list the versions that they publish.

use std::fs;

use serde::Deserialize;
use tempfile::TempDir;

use super::download::curl::{self, Https};
use super::download::word::Word;
use super::error::FetchError;
use super::packages::maven;
use crate::cache::location::Cache;
use crate::catalogue::upstream::template::Template;
use crate::machine::folder;
use crate::machine::path_error::At as _;
use crate::source::Progress;
use crate::source::workspace::Workspace;

/// Where a vendor lists the versions of a product.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Listing {
    /// The packages of an artefact in a Maven repository.
    Maven { group: Word, artifact: Word },
    /// A page on which each version stands between two texts.
    Page { url: Https, before: String, after: String },
}

impl Listing {
    /// The listed versions for which the template has a build.
    pub(crate) fn versions(
        &self,
        template: &Template,
        cache: &Cache,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<String>, FetchError> {
        let parent = cache.tool("upstream");
        folder::create(&parent)?;
        let scratch = TempDir::new_in(&parent).at("create a folder in", &parent)?;
        let downloads = scratch.path().to_owned();
        let (tree, new_pins) = (downloads.clone(), Vec::new());
        let workspace = &mut Workspace { cache, downloads, tree, total_bytes: 0, new_pins, progress };
        match self {
            Self::Maven { group, artifact } => {
                let metadata = maven::metadata(group, artifact, workspace)?;
                let packages = between(&metadata, "<version>", "</version>");
                Ok(packages.filter_map(|package| template.release_of(package)).collect())
            }
            Self::Page { url, before, after } => {
                let page = scratch.path().join("page");
                curl::download(url.url(), &page, workspace)?;
                let page = String::from_utf8_lossy(&fs::read(&page).at("read", &page)?).into_owned();
                let is_version = |text: &&str| text.split(['.', '-']).all(|part| part.parse::<u32>().is_ok());
                let versions = between(&page, before, after).filter(is_version);
                Ok(versions.filter(|version| template.has(version)).map(ToOwned::to_owned).collect())
            }
        }
    }
}

/// The texts that stand between `before` and `after`.
fn between<'a>(text: &'a str, before: &'a str, after: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| Some(rest.split_once(after)?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_between_two_texts() {
        let page = "<a href=\"mariadb-11.4.8/\">x</a> <a href=\"mariadb-11.4.7/\">y</a> <a href=\"other/\">";
        let found: Vec<&str> = between(page, "href=\"mariadb-", "/\"").collect();
        assert_eq!(found, ["11.4.8", "11.4.7"]);
        assert_eq!(between("", "a", "b").count(), 0);
    }
}
