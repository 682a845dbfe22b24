//! Measures how thousands of connections come back after all of them were lost at the same time: after what time, and
//! how many log in per tenth of a second.
//!
//! Times count from the moment from which the server could answer. This is when the statement that ends the connections
//! is sent, or when a killed server listens again. All connections are lost before this moment or, if a statement ends
//! them, right after it. The CPU time of the server and the load shows how fast the host could have accepted the
//! connections.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- reconnect
//! ```

mod comeback;
mod loss;

use std::time::Duration;

use clap::Args;
use dyno_load::{Job, LostConnections, Rate};
use dyno_stats::median;

use self::comeback::{Comeback, TICK_SECONDS};
use self::loss::{Loss, USER};
use crate::generator::load::fill;
use crate::support::background::BackgroundLoad;
use crate::support::goals::{Goals, Limit};
use crate::support::shape::Shape;
use crate::support::{dyno, pair, server};

/// Goal: longest time until 99% of the connections are back, in seconds.
const GOAL_SECONDS: f64 = 1.0;
/// Time limit to open all connections, in seconds.
const START_SECONDS_MAX: f64 = 120.0;

#[derive(Args)]
pub(crate) struct Options {
    /// Connections.
    #[arg(long, default_value_t = 10_000)]
    connections: u32,
    /// Events per second, over all connections.
    #[arg(long, default_value_t = 1000.0)]
    rate: f64,
    /// Number of times that all connections are lost, for each way of losing them.
    #[arg(long, default_value_t = 6)]
    losses: u32,
    /// Lose the connections only in this way [default: both]
    #[arg(long, value_enum)]
    only: Option<Loss>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let ways = options.only.map_or(Loss::ALL.to_vec(), |only| vec![only]);
    let mut server = server::start(&[("thread_handling", "pool-of-threads")].into())?;
    let shape = Shape { seconds: 3600, tables: 1, ..Shape::point_selects() };
    fill(server.access(), &shape)?;
    loss::make_user(&server)?;
    eprintln!("{} connections at {} events a second", options.connections, options.rate);
    let job = reconnecting(options, dyno::job(server.access(), &shape, "run", options.connections)?);
    let mut load = BackgroundLoad::start(&job, Duration::from_secs_f64(START_SECONDS_MAX))?;
    let mut found: Vec<(Loss, Vec<Comeback>)> = ways.iter().map(|way| (*way, Vec::new())).collect();
    for number in 1..=options.losses {
        for (way, comebacks) in &mut found {
            let comeback = Comeback::after(*way, &mut server, &mut load, options.connections)?;
            eprintln!("{}, {number} of {}: {comeback}", way.text(), options.losses);
            comebacks.push(comeback);
        }
    }
    load.end()?;
    server.stop()?;
    print(options, &found);
    Ok(())
}

/// Changes the job so that the load continues when its connections are lost.
fn reconnecting(options: &Options, mut job: Job) -> Job {
    USER.clone_into(&mut job.target.user);
    USER.clone_into(&mut job.target.password);
    // The benchmark itself tells the load to end.
    job.seconds = None;
    job.rate = Some(Rate::steady(options.rate));
    job.lost_connections = LostConnections::Reconnect;
    job.tick_seconds = TICK_SECONDS;
    job.tuning.start_seconds_max = START_SECONDS_MAX;
    job
}

fn print(options: &Options, found: &[(Loss, Vec<Comeback>)]) {
    let mut times = pair::table(&[
        "lost by",
        "times",
        "50% back, s",
        "99%",
        "100%",
        "most logins in 0.1 s",
        "of the connections",
        "attempts per connection",
        "server CPU per connection, µs",
        "load",
    ]);
    let mut goals = Goals::new(["50% back, s", "100% back, s"]);
    for (way, comebacks) in found {
        let middle = |of: &dyn Fn(&Comeback) -> f64| {
            median(&comebacks.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        let back = |share: f64| format!("{:.2}", middle(&|it| it.seconds_until(share)));
        let most = middle(&|it| it.most_in_a_tenth() as f64);
        times.add_row([
            way.text().to_owned(),
            comebacks.len().to_string(),
            back(0.5),
            back(0.99),
            back(1.0),
            format!("{most:.0}"),
            format!("{:.0}%", 100.0 * most / f64::from(options.connections)),
            format!("{:.2}", middle(&Comeback::attempts_per_connection)),
            format!("{:.0}", middle(&|it| it.cpu_us_per_connection()[0])),
            format!("{:.0}", middle(&|it| it.cpu_us_per_connection()[1])),
        ]);
        let p99: Vec<f64> = comebacks.iter().map(|it| it.seconds_until(0.99)).collect();
        let what = format!("99% back, s, lost by {}", way.text());
        goals.values_beside(&what, [back(0.5), back(1.0)], &p99, Some(Limit::AtMost(GOAL_SECONDS)));
    }
    let title = format!("{} connections that are lost at once, medians", options.connections);
    pair::print(&title, times, 1);
    pair::print("logins in each tenth of a second, medians", logins(found), 0);
    goals.print("reconnecting");
}

/// The number of logins in each tenth of a second, with a column for each way to lose the connections.
fn logins(found: &[(Loss, Vec<Comeback>)]) -> comfy_table::Table {
    let headings: Vec<&str> =
        std::iter::once("from, s").chain(found.iter().map(|(way, _)| way.text())).collect();
    let mut table = pair::table(&headings);
    let tenths: Vec<Vec<Vec<u64>>> =
        found.iter().map(|(_, comebacks)| comebacks.iter().map(Comeback::tenths).collect()).collect();
    let last = tenths.iter().flatten().map(Vec::len).max().unwrap_or(0);
    for at in 0..last {
        let middle = |of_way: &Vec<Vec<u64>>| {
            let values: Vec<f64> =
                of_way.iter().map(|tenths| tenths.get(at).copied().unwrap_or(0) as f64).collect();
            median(&values).map_or_else(String::new, |logins| format!("{logins:.0}"))
        };
        let from = format!("{:.1}", at as f64 / 10.0);
        table.add_row(std::iter::once(from).chain(tenths.iter().map(middle)));
    }
    table
}
