//! The cost of the client alone: its CPU time per query, compared with sysbench and an older Dyno, and its cycles
//! by stage.

mod profile;

use std::path::PathBuf;

use clap::Args;
use dyno_load::Protocol;

use crate::generator::load::{self, Case, Sides};
use crate::support::child::{Sample, Session};
use crate::support::pair::{self, Pair};
use crate::support::shape::Shape;
use crate::support::sysbench;

/// The default numbers of connections. The results for each number are one row of the table.
const CONNECTIONS: [u32; 5] = [1, 8, 64, 512, 2000];
/// The default numbers of connections with `--profile`.
const PROFILED_CONNECTIONS: [u32; 1] = [64];

#[derive(Args)]
pub(crate) struct Options {
    /// Measure cycles per query by stage, with canned answers in place of a server.
    #[arg(long)]
    profile: bool,
    /// An older `dyno-bench`, which is measured in turn with this one. Without --profile, it may be an older `dyno`.
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    /// Numbers of connections. [default: 1,8,64,512,2000; with --profile 64]
    #[arg(long, value_delimiter = ',')]
    connections: Vec<u32>,
    /// Protocols of a profile.
    #[arg(long, value_delimiter = ',', default_values = ["mysql", "pgsql"], value_parser = protocol)]
    protocols: Vec<Protocol>,
    /// Number of measurements of each program. The tables show medians.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// The load.
    #[command(flatten)]
    shape: Shape,
    /// Take one sample of the profile that this JSON describes. The benchmark starts itself with this option.
    #[arg(long, hide = true, value_name = "JSON")]
    sample: Option<String>,
}

fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "mysql" => Ok(Protocol::Mysql),
        "pgsql" => Ok(Protocol::Pgsql),
        _ => Err("mysql or pgsql".to_owned()),
    }
}

impl Options {
    fn connections(&self) -> &[u32] {
        match (self.connections.as_slice(), self.profile) {
            ([], false) => &CONNECTIONS,
            ([], true) => &PROFILED_CONNECTIONS,
            (given, _) => given,
        }
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    match &options.sample {
        Some(order) => profile::sample(order),
        None if options.profile => profile::run(options),
        None => beside_others(options),
    }
}

/// Compares CPU time, rate and memory with an older Dyno, and with sysbench if it is installed.
fn beside_others(options: &Options) -> anyhow::Result<()> {
    let sides = Sides { sysbench: sysbench::is_installed(), before: options.against.as_deref() };
    let case = |&connections: &u32| Case { shape: options.shape.clone(), connections, session: Session::Own };
    let cases: Vec<_> = options.connections().iter().map(case).collect();
    let (pairs, version) = load::measure_sides(&cases, options.runs, sides, |_| {})?;
    let mut headings = vec!["connections".to_owned()];
    for what in ["CPU µs/query", "QPS", "memory MB"] {
        headings.extend(headings_of(what, sides));
    }
    let headings: Vec<_> = headings.iter().map(String::as_str).collect();
    let mut table = pair::table(&headings);
    for (case, pair) in cases.iter().zip(&pairs) {
        table.add_row(cells(case.connections, pair));
    }
    let title = format!("{} on {version}, medians of {} servers", options.shape.workload, options.runs);
    pair::print(&title, table, 0);
    Ok(())
}

/// The headings for the cells that [`Pair::push_all_cells`] makes.
fn headings_of(what: &str, sides: Sides<'_>) -> Vec<String> {
    let (sysbench, before) = (sides.sysbench, sides.before.is_some());
    let headings = [
        (sysbench, format!("{what} sysbench")),
        (before, format!("{what} before")),
        (true, format!("{what} dyno")),
        (sysbench, "to sysbench".to_owned()),
        (before, "to before".to_owned()),
    ];
    headings.into_iter().filter_map(|(is_there, heading)| is_there.then_some(heading)).collect()
}

fn cells(connections: u32, pair: &Pair) -> Vec<String> {
    let mut cells = vec![connections.to_string()];
    pair.push_all_cells(&mut cells, Sample::cpu_us_per_query, 2);
    pair.push_all_cells(&mut cells, |sample| sample.queries_per_second, 0);
    pair.push_all_cells(&mut cells, Sample::memory_mb, 1);
    cells
}
