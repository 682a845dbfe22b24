//! Compares the load generators, which run in turn on the same servers.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use dyno_engine::Access;
use dyno_load::{IoMethod, Job};

use crate::support::child::{Sample, Session};
use crate::support::pair::{self, Pair, Take};
use crate::support::shape::Shape;
use crate::support::{dyno, server, sysbench};

#[derive(Args)]
pub(crate) struct Options {
    /// Numbers of connections. Each is one row of the table.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64, 512, 2000])]
    connections: Vec<u32>,
    /// Kinds of sessions in which the clients run. They are measured one after the other.
    #[arg(long, value_delimiter = ',', default_values = ["own", "servers"])]
    sessions: Vec<Session>,
    /// Number of measurements of each program, each on a new server. The table shows medians.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The load.
    #[command(flatten)]
    shape: Shape,
    /// I/O method of Dyno's event loop.
    #[arg(long, default_value = "auto", value_parser = io_method)]
    io: IoMethod,
    /// Number of Dyno's event loops. By default Dyno chooses.
    #[arg(long)]
    loops: Option<u32>,
}

fn io_method(text: &str) -> Result<IoMethod, String> {
    match text {
        "auto" => Ok(IoMethod::Auto),
        "epoll" => Ok(IoMethod::Epoll),
        "uring" => Ok(IoMethod::Uring),
        _ => Err("auto, epoll or uring".to_owned()),
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (shape, rounds) = (&options.shape, options.rounds);
    let case = |session| move |&connections: &u32| Case { shape: shape.clone(), connections, session };
    let cases: Vec<_> =
        options.sessions.iter().flat_map(|&session| options.connections.iter().map(case(session))).collect();
    let (pairs, version) = measure(&cases, rounds, |job| {
        (job.io, job.loops) = (options.io, options.loops);
    })?;
    let mut table = pair::table(&[
        "session of the client",
        "connections",
        "QPS sysbench",
        "QPS dyno",
        "ratio",
        "p99 ms sysbench",
        "p99 ms dyno",
        "client CPU µs/query sysbench",
        "client CPU µs/query dyno",
        "ratio",
        "memory MB sysbench",
        "memory MB dyno",
        "ratio",
    ]);
    for (case, pair) in cases.iter().zip(&pairs) {
        let mut cells = vec![case.session.text().to_owned(), case.connections.to_string()];
        pair.push_cells(&mut cells, |sample| sample.queries_per_second, 0, true);
        pair.push_cells(&mut cells, |sample| sample.latency_p99_ms, 2, false);
        pair.push_cells(&mut cells, Sample::cpu_us_per_query, 2, true);
        pair.push_cells(&mut cells, Sample::memory_mb, 1, true);
        table.add_row(cells);
    }
    let title = format!("{} on {version}, medians of {rounds} servers", shape.workload);
    pair::print(&title, table, 0);
    Ok(())
}

/// Creates and fills the tables.
pub(crate) fn fill(access: &Access, shape: &Shape) -> anyhow::Result<()> {
    eprintln!("loading {} tables of {} rows", shape.tables, shape.rows);
    dyno::measure(&dyno::job(access, shape, "prepare", shape.tables)?, Session::Servers)?;
    Ok(())
}

/// A load with a number of connections.
pub(crate) struct Case {
    pub(crate) shape: Shape,
    pub(crate) connections: u32,
    pub(crate) session: Session,
}

/// The programs with which Dyno is compared.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) sysbench: bool,
    /// An older `dyno` or `dyno-bench`.
    pub(crate) before: Option<&'a Path>,
}

/// Measures Dyno and sysbench. `adjust` changes Dyno's job. All cases use the tables of the first case.
pub(crate) fn measure(
    cases: &[Case],
    rounds: usize,
    adjust: impl Fn(&mut Job),
) -> anyhow::Result<(Vec<Pair>, String)> {
    measure_sides(cases, rounds, Sides { sysbench: true, before: None }, adjust)
}

/// As [`measure`], but compares Dyno with the programs in `sides`.
pub(crate) fn measure_sides(
    cases: &[Case],
    rounds: usize,
    sides: Sides<'_>,
    adjust: impl Fn(&mut Job),
) -> anyhow::Result<(Vec<Pair>, String)> {
    let start = || {
        let server = server::start(&BTreeMap::new())?;
        cases.first().map_or(Ok(()), |case| fill(server.access(), &case.shape))?;
        Ok(server)
    };
    pair::on_new_servers(rounds, cases, start, |server, Case { shape, connections, session }, pair| {
        eprintln!("{}, {connections} connections, session: {}", shape.workload, session.text());
        let theirs = || sysbench::measure(server.access(), shape, *connections, *session);
        let mut job = dyno::job(server.access(), shape, "run", *connections)?;
        adjust(&mut job);
        let (job, session) = (&job, *session);
        let ours = || dyno::measure(job, session);
        let before = sides.before.map(|program| move || dyno::measure_program(program, job, session));
        let before = before.as_ref().map(|before| before as Take<'_>);
        pair.take_each(sides.sysbench.then_some(&theirs as Take<'_>), before, &ours)
    })
}
