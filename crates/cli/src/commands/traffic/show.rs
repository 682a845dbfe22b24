//! `dyno traffic show`: the contents of a traffic file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dyno_report::{TrafficContents, render};
use dyno_traffic::{Order, TrafficFile};

use super::text::{self, Room};
use crate::options::ReportFormat;
use crate::output;

/// Number of digests in JSON without --full.
const JSON_DIGESTS: usize = 100;
/// Number of time intervals in JSON.
const JSON_PARTS: usize = 1000;

/// Number of digests, and of time intervals, on a page without --full.
const PAGE_DIGESTS: usize = 100;
const PAGE_PARTS: usize = 60;

/// Show the contents of a traffic file: sessions, digests, rates, and unreadable lines
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno traffic show mine.traffic
  dyno traffic show mine.traffic --by number --full
  dyno traffic show mine.traffic --format html > mine.html
  dyno traffic show mine.traffic --format json")]
pub(super) struct Show {
    /// Traffic file
    file: PathBuf,
    /// Order of the digests; by default time if the logs have latencies, otherwise number
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Show all digests completely, and more of everything else
    #[arg(long)]
    full: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Sum of their latencies
    Time,
    /// Number of their statements
    Number,
}

impl Show {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let file = TrafficFile::open(&self.file)?;
        let order = match self.by {
            Some(By::Number) => Order::Number,
            // If the logs have no latencies, this order is also by number.
            Some(By::Time) | None => Order::Time,
        };
        let room = if self.full { Room::FULL } else { Room::SHORT };
        output::print(&match self.format {
            ReportFormat::Text => {
                let summary = file.summary(order, room.digests, room.parts)?;
                text::text(&self.file, &summary, &room, output::render_options().width)
            }
            ReportFormat::Json => {
                let digests_max = if self.full { usize::MAX } else { JSON_DIGESTS };
                output::json(&serde_json::to_string_pretty(&file.summary(order, digests_max, JSON_PARTS)?)?)
            }
            ReportFormat::Markdown | ReportFormat::Html => {
                let digests_max = if self.full { usize::MAX } else { PAGE_DIGESTS };
                let summary = file.summary(order, digests_max, PAGE_PARTS)?;
                let name = self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy();
                let contents = TrafficContents { name: &name, summary: &summary };
                render(&contents, self.format.into(), &output::render_options())
            }
        })
    }
}
