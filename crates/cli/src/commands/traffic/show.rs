//! `dyno traffic show`: the contents of a traffic file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dyno_traffic::{Order, TrafficFile};

use super::text::{self, Room};
use crate::arguments::TextOrJson;
use crate::output;

/// Number of digests in JSON without --full.
const JSON_DIGESTS: usize = 100;
/// Number of time intervals in JSON.
const JSON_PARTS: usize = 1000;

/// Show the contents of a traffic file: sessions, digests, rates, and unreadable lines
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno traffic show mine.traffic
  dyno traffic show mine.traffic --by number --full
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
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
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
            // Without latencies, this also orders by number.
            Some(By::Time) | None => Order::Time,
        };
        let room = if self.full { Room::FULL } else { Room::SHORT };
        output::print(&match self.format {
            TextOrJson::Text => {
                let summary = file.summary(order, room.digests, room.parts)?;
                text::text(&self.file, &summary, &room, output::render_options().width)
            }
            TextOrJson::Json => {
                let digests_max = if self.full { usize::MAX } else { JSON_DIGESTS };
                output::json(&serde_json::to_string_pretty(&file.summary(order, digests_max, JSON_PARTS)?)?)
            }
        })
    }
}
