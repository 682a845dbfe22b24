//! Measures everything that has a goal, and shows each goal, the measured value, and whether the goal is met.

use clap::Args;

use crate::generator::load::Case;
use crate::generator::{connections, load, pgbench, prepare};
use crate::support::child::{Sample, Session};
use crate::support::pair::{self, Pair};
use crate::support::shape::Shape;

#[derive(Args)]
pub(crate) struct Options {
    /// Number of measurements of each program, each on a new server. The table shows medians.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds per measurement.
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// Leave out the measurements on PostgreSQL.
    #[arg(long)]
    without_pgbench: bool,
}

/// Goals for point selects over a number of connections, as ratios of Dyno to sysbench. With one connection, the
/// client's CPU time is one sleep and one wake-up per query, which is the same for both programs. Therefore the
/// goal for one connection is a latency, not CPU time.
struct PointSelects {
    connections: u32,
    cpu_at_most: Option<f64>,
    rate_at_least: f64,
    p99_at_most: Option<f64>,
    memory_at_most: f64,
}

/// Returns the goals for clients in a session of their own or in the server's session.
fn point_selects(session: Session) -> Vec<PointSelects> {
    let rows = match session {
        Session::Own => {
            [(8, 0.6, 1.05, 0.5), (64, 0.4, 1.15, 0.3), (512, 0.35, 1.15, 0.2), (2000, 0.2, 1.2, 0.2)]
        }
        Session::Servers => {
            [(8, 0.6, 1.05, 0.5), (64, 0.4, 1.15, 0.3), (512, 0.3, 1.2, 0.2), (2000, 0.2, 1.3, 0.2)]
        }
    };
    let one = PointSelects {
        connections: 1,
        cpu_at_most: None,
        rate_at_least: 1.0,
        p99_at_most: Some(1.0),
        memory_at_most: 1.0,
    };
    let several = rows.map(|(connections, cpu, rate_at_least, memory_at_most)| PointSelects {
        connections,
        cpu_at_most: Some(cpu),
        rate_at_least,
        p99_at_most: None,
        memory_at_most,
    });
    [one].into_iter().chain(several).collect()
}

/// Rows per table when the loading of tables is measured.
const LOADED_ROWS: u32 = 100_000;

#[derive(Clone, Copy)]
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    fn is_met(self, measured: f64) -> bool {
        match self {
            Self::AtMost(limit) => measured <= limit,
            Self::AtLeast(limit) => measured >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// The table of goals that is being filled.
struct Goals {
    table: comfy_table::Table,
    missed: u32,
}

impl Goals {
    fn new() -> Self {
        let table = pair::table(&["what", "peer", "dyno", "ratio", "of servers", "goal", "met"]);
        Self { table, missed: 0 }
    }

    /// Adds a row with Dyno's figure divided by the other tool's: the median over the servers, and the range.
    fn ratio(&mut self, what: &str, pair: &Pair, of: fn(&Sample) -> f64, goal: Option<Goal>) {
        let ((theirs, ours), ratios) = (pair.medians(of), pair.ratios(of));
        let cells = [
            format!("{theirs:.2}"),
            format!("{ours:.2}"),
            format!("{:.2}", ratios.median),
            format!("{:.2}–{:.2}", ratios.min, ratios.max),
        ];
        self.row(what, cells, goal, ratios.median);
    }

    fn point_select(&mut self, session: Session, goals: &PointSelects, pair: &Pair) {
        let what = |of: &str| {
            format!("point select, {} connections, session: {}, {of}", goals.connections, session.text())
        };
        let cpu = goals.cpu_at_most.map(Goal::AtMost);
        self.ratio(&what("client CPU µs/query"), pair, Sample::cpu_us_per_query, cpu);
        self.ratio(
            &what("QPS"),
            pair,
            |sample| sample.queries_per_second,
            Some(Goal::AtLeast(goals.rate_at_least)),
        );
        let p99 = goals.p99_at_most.map(Goal::AtMost);
        self.ratio(&what("p99 ms"), pair, |sample| sample.latency_p99_ms, p99);
        self.ratio(
            &what("client memory MB"),
            pair,
            Sample::memory_mb,
            Some(Goal::AtMost(goals.memory_at_most)),
        );
    }

    /// Adds a number that is measured for Dyno alone.
    fn number(&mut self, what: &str, ours: f64, goal: Goal) {
        self.row(what, ["", &format!("{ours:.2}"), "", ""].map(str::to_owned), Some(goal), ours);
    }

    fn row(&mut self, what: &str, cells: [String; 4], goal: Option<Goal>, measured: f64) {
        let met = goal.map_or("", |goal| if goal.is_met(measured) { "yes" } else { "no" });
        self.missed += u32::from(met == "no");
        let ends = [goal.map(Goal::text).unwrap_or_default(), met.to_owned()];
        self.table.add_row([what.to_owned()].into_iter().chain(cells).chain(ends));
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut goals = Goals::new();
    let outcome = measure(options, &mut goals);
    let Goals { table, missed } = goals;
    let title =
        format!("medians of {} servers, {} s each; {missed} goals missed", options.rounds, options.seconds);
    // If a benchmark fails, the earlier results are still printed.
    pair::print(&title, table, 1);
    outcome
}

fn measure(options: &Options, goals: &mut Goals) -> anyhow::Result<()> {
    queries(options, goals)?;
    loading(options, goals)?;
    let total = connections::measure(&connections::goal())?;
    goals.number(
        "10,000 connections at a rate, p99 ms",
        connections::quantile_ms(&total, 0.99),
        Goal::AtMost(10.0),
    );
    goals.number(
        "10,000 connections at a rate, errors",
        connections::errors(&total) as f64,
        Goal::AtMost(0.0),
    );
    if !options.without_pgbench {
        postgres(options, goals)?;
    }
    Ok(())
}

/// Measures point selects over 1 to 2,000 connections, and then transactions.
fn queries(options: &Options, goals: &mut Goals) -> anyhow::Result<()> {
    let shape = |workload: &str| Shape {
        workload: workload.to_owned(),
        seconds: options.seconds,
        ..Shape::point_selects()
    };
    let selects: Vec<_> = [Session::Own, Session::Servers]
        .into_iter()
        .flat_map(|session| point_selects(session).into_iter().map(move |goals| (session, goals)))
        .collect();
    let mut cases: Vec<_> = selects
        .iter()
        .map(|(session, goals)| Case {
            shape: shape("oltp_point_select"),
            connections: goals.connections,
            session: *session,
        })
        .collect();
    cases.push(Case { shape: shape("oltp_read_write"), connections: 64, session: Session::Servers });
    let (pairs, _) = load::measure(&cases, options.rounds, |_| {})?;
    for ((session, select), pair) in selects.iter().zip(&pairs) {
        goals.point_select(*session, select, pair);
    }
    if let Some(pair) = pairs.last() {
        let what = "oltp_read_write, 64 connections, client CPU µs/query";
        goals.ratio(what, pair, Sample::cpu_us_per_query, Some(Goal::AtMost(0.5)));
    }
    Ok(())
}

/// Measures the loading of one table, and then of eight.
fn loading(options: &Options, goals: &mut Goals) -> anyhow::Result<()> {
    let cases = [1, 8].map(|tables| prepare::Case { tables, connections: tables });
    let (pairs, _) = prepare::measure(&cases, LOADED_ROWS, options.rounds)?;
    for (case, pair) in cases.iter().zip(&pairs) {
        let what = |of: &str| format!("prepare, tables: {}, {of}", case.tables);
        goals.ratio(&what("rows/s"), pair, |sample| sample.queries_per_second, Some(Goal::AtLeast(1.0)));
        goals.ratio(&what("client CPU µs/row"), pair, Sample::cpu_us_per_query, Some(Goal::AtMost(1.0)));
        // The server's CPU time limits how many rows per second a client can load. It is shown without a goal.
        goals.ratio(&what("server CPU µs/row"), pair, Sample::server_us_per_query, None);
    }
    Ok(())
}

fn postgres(options: &Options, goals: &mut Goals) -> anyhow::Result<()> {
    let (rounds, seconds) = (options.rounds, options.seconds);
    let options = pgbench::Options { rounds, seconds, ..pgbench::goal() };
    let (pair, _) = pgbench::measure(&options)?;
    let what = |of: &str| format!("pgbench -S -M prepared, 64 connections, {of}");
    goals.ratio(&what("client CPU µs/transaction"), &pair, Sample::cpu_us_per_query, Some(Goal::AtMost(0.6)));
    goals.ratio(&what("TPS"), &pair, |sample| sample.queries_per_second, Some(Goal::AtLeast(1.0)));
    Ok(())
}
