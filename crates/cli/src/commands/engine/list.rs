//! `dyno engine list`: lists the catalogue, fetched engines, and running servers.

use clap::Args;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use dyno_engine::{Availability, Cache, Catalogue, Entry, Running, RunningServer};
use dyno_printable::printable;
use dyno_report::json_text;
use indicatif::HumanBytes;
use serde::Serialize;

use super::upstream;
use crate::options::TextOrJson;
use crate::output;

/// The maximum width of the table, in columns.
const WIDTH: u16 = 100;

/// List engines, whether each is fetched or can be fetched, and running servers
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno engine list
  dyno engine list --upstream mysql
  dyno engine list --format json")]
pub(super) struct List {
    /// List the versions that vendors publish, for one product or for all
    #[arg(long, value_name = "PRODUCT", num_args = 0..=1, default_missing_value = upstream::ALL)]
    upstream: Option<String>,
    /// Ask the vendors' lists for new versions now
    #[arg(long, requires = "upstream")]
    refresh: bool,
    /// Output format; JSON is one object with `engines` and `running`, or with `upstream`
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

#[derive(Serialize)]
struct Listing<'a> {
    engines: Vec<Listed<'a>>,
    running: Vec<RunningListed>,
}

#[derive(Serialize)]
struct Listed<'a> {
    name: String,
    engine: &'a str,
    version: &'a str,
    family: dyno_engine::Family,
    storage_engines: &'a [String],
    #[serde(flatten)]
    availability: Availability,
}

#[derive(Serialize)]
struct RunningListed {
    name: String,
    /// The image or folder that the server comes from. `None` for an engine of the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    version: String,
    pid: u32,
}

impl List {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let cache = Cache::default_location();
        let mut catalogue = Catalogue::load()?;
        if let Some(product) = &self.upstream {
            return upstream::list(&mut catalogue, product, self.refresh, self.format);
        }
        let entries = catalogue.entries_here(&cache);
        let listing = Listing {
            engines: entries.iter().map(|entry| Listed::of(entry, &cache)).collect(),
            running: Running::new(&cache).list()?.into_iter().map(RunningListed::of).collect(),
        };
        output::print(&match self.format {
            TextOrJson::Text => listing.text(),
            TextOrJson::Json => json_text(&listing),
        })
    }
}

impl<'a> Listed<'a> {
    fn of(entry: &'a Entry, cache: &Cache) -> Self {
        Self {
            name: entry.to_string(),
            engine: &entry.engine,
            version: &entry.version,
            family: entry.family,
            storage_engines: &entry.storage_engines,
            availability: entry.availability(cache),
        }
    }

    fn row(&self) -> [String; 5] {
        let size = |bytes: u64| if bytes == 0 { String::new() } else { HumanBytes(bytes).to_string() };
        let (here, size, note) = match &self.availability {
            Availability::BuiltIn => ("built in", String::new(), String::new()),
            Availability::Fetched { exact_version, disk_bytes } => {
                ("fetched", size(*disk_bytes), exact_version.clone())
            }
            Availability::ToFetch { download_bytes, last_failure } => {
                let note = last_failure.as_ref().map(|failure| format!("last try: {failure}"));
                ("to fetch", size(*download_bytes), note.unwrap_or_default())
            }
            Availability::Unavailable { reason } => ("cannot", String::new(), reason.clone()),
        };
        [
            self.name.clone(),
            here.to_owned(),
            size,
            self.storage_engines.join(" "),
            printable(&note).into_owned(),
        ]
    }
}

impl RunningListed {
    fn of(server: RunningServer) -> Self {
        let RunningServer { name, origin, access, .. } = server;
        Self { name: name.to_string(), origin, version: access.version, pid: access.pid }
    }
}

impl Listing<'_> {
    fn text(&self) -> String {
        let mut text = table(["engine", "here", "size", "storage engines", "version, or why not"], |table| {
            table.add_rows(self.engines.iter().map(Listed::row));
        });
        if !self.running.is_empty() {
            text += "\n";
            text += &table(["running", "process", "version"], |table| {
                let row = |server: &RunningListed| {
                    let origin =
                        server.origin.as_ref().map_or(String::new(), |origin| format!(" ({origin})"));
                    let name = printable(&format!("{}{origin}", server.name)).into_owned();
                    [name, server.pid.to_string(), printable(&server.version).into_owned()]
                };
                table.add_rows(self.running.iter().map(row));
            });
        }
        text
    }
}

pub(super) fn table<const COLUMNS: usize>(header: [&str; COLUMNS], fill: impl FnOnce(&mut Table)) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    fill(&mut table);
    table
        .to_string()
        .lines()
        .flat_map(|line| [line.strip_prefix(' ').unwrap_or(line).trim_end(), "\n"])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &'static str, availability: Availability) -> Listed<'static> {
        let (engine, version) = name.split_once('@').unwrap();
        let family = dyno_engine::Family::Mysql;
        Listed { name: name.to_owned(), engine, version, family, storage_engines: &[], availability }
    }

    #[test]
    fn a_table_keeps_within_its_width_whatever_the_reason() {
        let reason = "no Debian mirror is among apt's sources here, to take sid from ".repeat(3);
        let fetched = Availability::Fetched { exact_version: "5.6.24".to_owned(), disk_bytes: 2 << 20 };
        let listing = Listing {
            engines: vec![
                listed("mysql@5.6.24", fetched),
                listed("mysql@9.7.4", Availability::Unavailable { reason }),
            ],
            running: vec![RunningListed {
                name: "mysql@5.6.24".to_owned(),
                origin: Some("/a/folder/with/a/rather/long/name".to_owned()),
                version: "5.6.24".to_owned(),
                pid: 7,
            }],
        };
        let text = listing.text();
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(WIDTH)), "{text}");
        assert!(
            text.lines().any(|line| line.starts_with("mysql@5.6.24") && line.contains("2.00 MiB")),
            "{text}"
        );
        let json = serde_json::to_value(&listing).unwrap();
        assert_eq!(json["engines"][0]["state"], "fetched");
        assert_eq!(json["engines"][1]["state"], "unavailable");
        assert_eq!(json["running"][0]["pid"], 7);
    }
}
