//! Plants outages whose start and length are known, and measures how exactly the load records them. In an outage,
//! all processes of the server are stopped.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- outages
//! ```

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use dyno_engine::Access;
use dyno_host::Freezer;
use dyno_judge::{Outage, longest_outage};
use dyno_load::{Frame, FrameSource as _, Job, LoadProcess, LostConnections, TIMELINE_BIN_SECONDS, Total};
use dyno_stats::SplitMix64;
use dyno_store::Timeline;

use crate::generator::load::fill;
use crate::support::shape::Shape;
use crate::support::{dyno, pair, server};

/// Goal: largest error of the start and of the length of an outage, in seconds.
const GOAL_SECONDS: f64 = 0.05;
/// Goal: the share of the outages whose error is at most [`GOAL_SECONDS`].
const GOAL_SHARE: f64 = 0.95;
/// The range from which the lengths of outages are drawn, evenly on a logarithmic scale.
const LENGTHS_SECONDS: (f64, f64) = (0.2, 5.0);
/// The range of the time before each outage.
const CALM_SECONDS: (f64, f64) = (1.5, 2.5);
/// Number of outages in one run of the load.
const BATCH: usize = 10;
/// Time limit for the next frame from the load, which sends one each second.
const FRAME_PATIENCE: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct Options {
    /// Number of outages.
    #[arg(long, default_value_t = 100)]
    outages: usize,
    /// Connections.
    #[arg(long, default_value_t = 8)]
    connections: u32,
    /// Leave sysbench out.
    #[arg(long)]
    alone: bool,
    /// Seed of the random lengths of the outages, and of the random times between them.
    #[arg(long, default_value_t = 44)]
    seed: u64,
}

/// A planted outage, and what a load generator recorded of it.
#[derive(Clone, Copy)]
struct Seen {
    planted: Outage,
    /// `None` if the load generator saw no outage.
    seen: Option<Outage>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let server = server::start(&[].into())?;
    let shape = Shape {
        workload: "oltp_point_select".to_owned(),
        tables: 1,
        rows: 50_000,
        seconds: 3600,
        unprepared: false,
    };
    fill(server.access(), &shape)?;
    let mut random = SplitMix64::new(options.seed);
    let (mut by_dyno, mut by_sysbench) = (Vec::new(), Vec::new());
    while by_dyno.len() < options.outages {
        let number = BATCH.min(options.outages - by_dyno.len());
        let plan: Vec<(f64, f64)> = (0..number).map(|_| draw(&mut random)).collect();
        by_dyno.extend(with_dyno(server.access(), &shape, options.connections, &plan)?);
        if !options.alone {
            by_sysbench.extend(with_sysbench(server.access(), &shape, options.connections, &plan)?);
        }
        eprintln!("{} of {} outages", by_dyno.len(), options.outages);
    }
    server.stop()?;
    let mut table = pair::table(&[
        "by",
        "outages",
        "seen",
        "begin: median error ms",
        "95% within ms",
        "length: median error ms",
        "95% within ms",
        "both within 50 ms",
        "goal",
        "met",
    ]);
    table.add_row(row("dyno", &by_dyno));
    if !by_sysbench.is_empty() {
        table.add_row(row("sysbench, by its seconds", &by_sysbench));
    }
    pair::print("planted outages of 0.2 to 5 s", table, 0);
    Ok(())
}

/// Draws the time before an outage, and the outage's length, in seconds.
fn draw(random: &mut SplitMix64) -> (f64, f64) {
    let mut share = || random.below(1_000_000) as f64 / 1e6;
    let (least, most) = LENGTHS_SECONDS;
    let calm = CALM_SECONDS.0 + share() * (CALM_SECONDS.1 - CALM_SECONDS.0);
    (calm, least * (most / least).powf(share()))
}

/// Stops the server for each planned outage in turn. Returns the outages, with their starts in seconds since `epoch`.
fn plant(access: &Access, plan: &[(f64, f64)], epoch: Instant) -> anyhow::Result<Vec<Outage>> {
    let mut freezer = Freezer::of(access.pid).context("the server is gone")?;
    let mut planted = Vec::new();
    for (calm, seconds) in plan {
        thread::sleep(Duration::from_secs_f64(*calm));
        let began = epoch.elapsed();
        if !freezer.freeze() {
            bail!("this user may not stop the server");
        }
        thread::sleep(Duration::from_secs_f64(*seconds));
        let ended = epoch.elapsed();
        freezer.thaw();
        let (began_seconds, ended) = (began.as_secs_f64(), ended.as_secs_f64());
        planted.push(Outage { began_seconds, seconds: ended - began_seconds });
    }
    thread::sleep(Duration::from_secs_f64(CALM_SECONDS.0));
    Ok(planted)
}

fn with_dyno(
    access: &Access,
    shape: &Shape,
    connections: u32,
    plan: &[(f64, f64)],
) -> anyhow::Result<Vec<Seen>> {
    let job =
        Job { lost_connections: LostConnections::Reconnect, ..dyno::job(access, shape, "run", connections)? };
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("drive");
    let mut load = LoadProcess::start(command, &job)?;
    let epoch = loop {
        match load.next_frame(FRAME_PATIENCE)?.context("the load is silent")? {
            (at, Frame::Measuring) => break at,
            (_, Frame::Failed { message, .. }) => bail!(message),
            _ => {}
        }
    };
    let planted = plant(access, plan, epoch)?;
    load.end();
    let total = loop {
        match load.next_frame(FRAME_PATIENCE)?.context("the load is silent")? {
            (_, Frame::Finished(total)) => break total,
            (_, Frame::Failed { message, .. }) => bail!(message),
            _ => {}
        }
    };
    Ok(seen_in(&total, &planted))
}

/// Returns each planted outage with the longest outage that the load recorded near it: from a second before the planted
/// outage begins to a second after it ends.
fn seen_in(total: &Total, planted: &[Outage]) -> Vec<Seen> {
    let timeline = Timeline { bin_seconds: TIMELINE_BIN_SECONDS, bins: total.timeline.clone() };
    let stopped: f64 = planted.iter().map(|outage| outage.seconds).sum();
    let level = total.counts.events as f64 / (total.seconds - stopped).max(1.0);
    let around = |outage: &Outage| {
        let (from, until) = (outage.began_seconds - 1.0, outage.began_seconds + outage.seconds + 1.0);
        Seen { planted: *outage, seen: longest_outage(&timeline, level, from, until) }
    };
    planted.iter().map(around).collect()
}

/// Plants outages under sysbench, which prints a line each second. An outage is the seconds without a transaction.
fn with_sysbench(
    access: &Access,
    shape: &Shape,
    connections: u32,
    plan: &[(f64, f64)],
) -> anyhow::Result<Vec<Seen>> {
    let all: f64 = plan.iter().map(|(calm, seconds)| calm + seconds).sum();
    let mut child = Command::new("sysbench")
        .arg(&shape.workload)
        .arg(format!("--mysql-socket={}", access.socket.display()))
        .arg(format!("--mysql-user={}", access.user))
        .arg(format!("--mysql-password={}", access.password))
        .args(["--mysql-db=sbtest", "--report-interval=1"])
        .arg(format!("--tables={}", shape.tables))
        .arg(format!("--table-size={}", shape.rows))
        .arg(format!("--threads={connections}"))
        .arg(format!("--time={}", all.ceil() + 4.0))
        .arg("run")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start sysbench; `apt-get install sysbench` brings it, `--alone` leaves it out")?;
    let mut lines = BufReader::new(child.stdout.take().context("sysbench has no output")?).lines();
    for line in lines.by_ref() {
        if line?.starts_with("Threads started!") {
            break;
        }
    }
    let planted = plant(access, plan, Instant::now())?;
    let rates: Vec<f64> = lines.map_while(Result::ok).filter_map(|line| rate_of(&line)).collect();
    child.wait()?;
    let around = |outage: &Outage| {
        let (from, until) = (outage.began_seconds.floor() as usize, outage.began_seconds + outage.seconds);
        let empty = (from..=until.ceil() as usize).filter(|second| rates.get(*second) == Some(&0.0));
        let empty: Vec<usize> = empty.collect();
        let seen =
            empty.first().map(|first| Outage { began_seconds: *first as f64, seconds: empty.len() as f64 });
        Seen { planted: *outage, seen }
    };
    Ok(planted.iter().map(around).collect())
}

/// Reads the transactions per second from a line such as `[ 3s ] thds: 8 tps: 1234.00 qps: …`.
fn rate_of(line: &str) -> Option<f64> {
    let rest = line.starts_with('[').then(|| line.split_once("tps: "))??.1;
    rest.split_whitespace().next()?.parse().ok()
}

fn row(by: &str, outages: &[Seen]) -> Vec<String> {
    let errors = |of: fn(&Outage) -> f64| -> Vec<f64> {
        let error = |it: &Seen| Some((of(&it.seen?) - of(&it.planted)).abs());
        let mut errors: Vec<f64> = outages.iter().filter_map(error).collect();
        errors.sort_by(f64::total_cmp);
        errors
    };
    let (begins, lengths) = (errors(|it| it.began_seconds), errors(|it| it.seconds));
    let at = |errors: &[f64], share: f64| {
        let place = (share * errors.len() as f64).ceil() as usize;
        errors.get(place.saturating_sub(1)).map_or_else(|| "–".to_owned(), |it| format!("{:.0}", it * 1e3))
    };
    let is_exact = |it: &&Seen| {
        let within =
            |seen: Outage, of: fn(&Outage) -> f64| (of(&seen) - of(&it.planted)).abs() <= GOAL_SECONDS;
        it.seen.is_some_and(|seen| within(seen, |it| it.began_seconds) && within(seen, |it| it.seconds))
    };
    let share = outages.iter().filter(is_exact).count() as f64 / outages.len().max(1) as f64;
    vec![
        by.to_owned(),
        outages.len().to_string(),
        begins.len().to_string(),
        at(&begins, 0.5),
        at(&begins, 0.95),
        at(&lengths, 0.5),
        at(&lengths, 0.95),
        format!("{:.0}%", share * 100.0),
        format!("≥ {:.0}%", GOAL_SHARE * 100.0),
        if share >= GOAL_SHARE { "yes" } else { "no" }.to_owned(),
    ]
}
