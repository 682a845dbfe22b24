//! `dyno engine list --upstream`: lists the versions that vendors publish.

use std::fmt::Write as _;

use anyhow::bail;
use dyno_engine::{Cache, Catalogue, Entry, UpstreamVersion};
use dyno_printable::printable;
use indicatif::HumanBytes;
use serde::Serialize;

use super::list::table;
use crate::options::TextOrJson;
use crate::output;
use crate::progress::Fetching;

#[derive(Serialize)]
struct Listing {
    upstream: Vec<Listed>,
}

/// A version that a vendor publishes, and where it comes from.
#[derive(Serialize)]
struct Listed {
    name: String,
    engine: String,
    version: String,
    series: String,
    /// Whether the catalogue has an entry for the version, or the version is in the cache.
    here: bool,
    /// The first address that a fetch tries. `None` if no build of the version runs on this machine.
    from: Option<String>,
    /// How the first fetch checks the archive.
    checked: Option<String>,
    /// Estimated download size in bytes.
    download_bytes: Option<u64>,
    /// Why this machine cannot fetch or run the version.
    reason: Option<String>,
}

/// The argument that stands for all products.
pub(super) const ALL: &str = "all";

/// Lists the versions of a product. For all products, lists only the newest version of each series.
pub(super) fn list(
    catalogue: &mut Catalogue,
    product: &str,
    refresh: bool,
    format: TextOrJson,
) -> anyhow::Result<()> {
    let product = Some(product).filter(|product| *product != ALL);
    let known: Vec<String> = catalogue.upstream_engines().into_iter().map(ToOwned::to_owned).collect();
    if let Some(unknown) = product.filter(|product| !known.iter().any(|known| known == product)) {
        bail!("the vendor's versions of '{unknown}' are not known; they are known of: {}", known.join(", "));
    }
    let products: Vec<&String> =
        known.iter().filter(|known| product.is_none_or(|product| product == *known)).collect();
    let cache = Cache::default_location();
    if refresh {
        for product in &products {
            ask(catalogue, product, &cache)?;
        }
    }
    let versions = products.iter().flat_map(|product| catalogue.upstream(product).unwrap_or_default());
    let upstream: Vec<Listed> = versions.map(|version| Listed::of(version, catalogue, &cache)).collect();
    output::print(&match format {
        TextOrJson::Json => output::json(&serde_json::to_string_pretty(&Listing { upstream })?),
        TextOrJson::Text if product.is_some() => of_one(&upstream),
        TextOrJson::Text => of_all(&upstream),
    })
}

fn ask(catalogue: &mut Catalogue, product: &str, cache: &Cache) -> anyhow::Result<()> {
    let mut fetching = Fetching::default();
    let listed = catalogue.refresh_upstream(product, cache, &mut |progress| {
        fetching.show(&product, &progress);
    })?;
    output::tell(&match listed {
        Some(count) => format!("{product}: {count} versions are listed"),
        None => format!("{product}: its vendor publishes no list; these versions are known"),
    });
    Ok(())
}

impl Listed {
    fn of(version: UpstreamVersion, catalogue: &Catalogue, cache: &Cache) -> Self {
        let UpstreamVersion { engine, version, series, entry } = version;
        let name = format!("{engine}@{version}");
        let of_catalogue = catalogue.entries().iter().any(|entry| entry.to_string() == name);
        let (entry, no_build) = match entry {
            Ok(entry) => (Some(entry), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let availability = entry.as_ref().map(|entry| entry.availability(cache));
        let is_fetched = matches!(availability, Some(dyno_engine::Availability::Fetched { .. }));
        let reason = no_build.or(match availability {
            Some(dyno_engine::Availability::Unavailable { reason }) => Some(reason),
            _ => None,
        });
        let publication = entry.as_ref().and_then(Entry::publication);
        let (from, checked) = publication.map_or((None, None), |(from, checked)| (Some(from), Some(checked)));
        Self {
            name,
            engine,
            version,
            series,
            here: of_catalogue || is_fetched,
            from,
            checked,
            download_bytes: entry.map(|entry| entry.download_bytes).filter(|bytes| *bytes > 0),
            reason,
        }
    }

    fn here(&self) -> String {
        match (self.here, &self.reason) {
            (true, _) => "here".to_owned(),
            (false, Some(_)) => "cannot".to_owned(),
            (false, None) => "to fetch".to_owned(),
        }
    }

    fn size(&self) -> String {
        self.download_bytes.map(|bytes| HumanBytes(bytes).to_string()).unwrap_or_default()
    }

    /// How the version's archive is checked, or why this machine cannot fetch or run the version.
    fn note(&self) -> String {
        let note = self.reason.as_ref().or(self.checked.as_ref());
        printable(note.map_or("", String::as_str)).into_owned()
    }
}

fn of_one(versions: &[Listed]) -> String {
    let mut text = table(["version", "here", "size", "checked by, or why not"], |table| {
        let row = |version: &Listed| [version.name.clone(), version.here(), version.size(), version.note()];
        table.add_rows(versions.iter().map(row));
    });
    if let Some(from) = versions.iter().find_map(|version| version.from.as_ref()) {
        let _ = write!(text, "\nfrom, such as the newest: {}\n", printable(from));
    }
    text
}

/// Formats the versions of all products, with a row for each series.
fn of_all(versions: &[Listed]) -> String {
    let of_series = |a: &Listed, b: &Listed| a.engine == b.engine && a.series == b.series;
    let mut text = table(["series", "newest", "known", "checked by, or why not"], |table| {
        let row = |series: &[Listed]| {
            let newest = &series[0];
            let name = format!("{}@{}", newest.engine, newest.series);
            [name, newest.version.clone(), series.len().to_string(), newest.note()]
        };
        table.add_rows(versions.chunk_by(of_series).map(row));
    });
    text += "\n`dyno engine list --upstream PRODUCT` lists every version, --refresh asks for newer ones\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(engine: &str, version: &str, series: &str) -> Listed {
        Listed {
            name: format!("{engine}@{version}"),
            engine: engine.to_owned(),
            version: version.to_owned(),
            series: series.to_owned(),
            here: false,
            from: Some("https://x.test/a.tar.gz".to_owned()),
            checked: Some("SHA-256".to_owned()),
            download_bytes: Some(1 << 20),
            reason: None,
        }
    }

    #[test]
    fn a_series_is_a_line_with_its_newest_version() {
        let versions =
            [listed("a", "2.0.1", "2.0"), listed("a", "1.1.2", "1.1"), listed("a", "1.1.1", "1.1")];
        let text = of_all(&versions);
        let line = text.lines().find(|line| line.starts_with("a@1.1")).unwrap();
        assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["a@1.1", "1.1.2", "2", "SHA-256"]);
        let text = of_one(&versions);
        assert!(text.contains("a@1.1.1") && text.contains("1.00 MiB") && text.contains("x.test"), "{text}");
    }
}
