//! Cycles per query by stage, and the process's CPU time, with canned answers instead of a server.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use dyno_load::{Address, Answers, CannedServer, Job, Profile, Protocol, Script, Target, profile};
use serde::{Deserialize, Serialize};

use super::Options;
use crate::support::child::Session;
use crate::support::dyno::{self, Ran};
use crate::support::pair;

/// Computes a figure from what a load process did and used.
type Figure = fn(&Ran) -> f64;

/// A measurement that a child process of this program makes: the job, and the source of the canned answers.
#[derive(Serialize, Deserialize)]
struct Order {
    job: Job,
    answers: Answers,
}

/// The profiles that were measured with this program and with the older one. `before` is empty if there is no older
/// program.
#[derive(Default)]
struct Profiles {
    before: Vec<Profile>,
    now: Vec<Profile>,
}

/// Measures one profile as the JSON in `order` says, and writes the profile to standard output.
pub(super) fn sample(order: &str) -> anyhow::Result<()> {
    let Order { job, answers } = serde_json::from_str(order)?;
    let profile = profile(job, answers).map_err(anyhow::Error::msg)?;
    println!("{}", serde_json::to_string(&profile)?);
    Ok(())
}

pub(super) fn run(options: &Options) -> anyhow::Result<()> {
    for &protocol in &options.protocols {
        for &connections in options.connections() {
            for answers in [Answers::Memory, Answers::Socket] {
                let profiles = stages(options, protocol, connections, answers)?;
                print_stages(&title(options, protocol, connections, answers), &profiles);
            }
            whole_process(options, protocol, connections)?;
        }
    }
    Ok(())
}

fn title(options: &Options, protocol: Protocol, connections: u32, answers: Answers) -> String {
    let ways = match answers {
        Answers::Memory => "answers from memory",
        Answers::Socket => "answers through a unix socket",
    };
    format!(
        "{}, {}, {connections} connections, {ways}: cycles a query, medians of {}",
        options.shape.workload,
        protocol.as_str(),
        options.runs
    )
}

/// Measures profiles of this program and of the older program, if there is one. The two programs take turns.
fn stages(
    options: &Options,
    protocol: Protocol,
    connections: u32,
    answers: Answers,
) -> anyhow::Result<Profiles> {
    let this = std::env::current_exe()?;
    let mut profiles = Profiles::default();
    for number in 0..options.runs {
        let folder = tempfile::tempdir()?;
        let mut sides =
            vec![(Some(&this), &mut profiles.now), (options.against.as_ref(), &mut profiles.before)];
        if number % 2 == 1 {
            sides.reverse();
        }
        for (side, (program, samples)) in sides.into_iter().enumerate() {
            let Some(program) = program else { continue };
            let job = job(options, protocol, connections, folder.path().join(format!("{side}.sock")))?;
            samples.push(profile_of(program, &Order { job, answers })?);
        }
    }
    Ok(profiles)
}

fn profile_of(program: &Path, order: &Order) -> anyhow::Result<Profile> {
    let output = Command::new(program)
        .args(["client", "--profile", "--sample", &serde_json::to_string(order)?])
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{} takes no profile: {}", program.display(), errors.trim());
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn job(options: &Options, protocol: Protocol, connections: u32, socket: PathBuf) -> anyhow::Result<Job> {
    let shape = &options.shape;
    let source = dyno_load::builtin_workload(&shape.workload).context("no such workload")?;
    let target = Target {
        prepared_statements: !shape.unprepared,
        ..Target::new(protocol, vec![Address::Unix(socket)])
    };
    let script = Script { name: shape.workload.clone(), source: source.to_owned(), search_path: Vec::new() };
    Ok(Job {
        options: [("tables", shape.tables.to_string()), ("table_size", shape.rows.to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        connections,
        loops: Some(1),
        seconds: Some(f64::from(shape.seconds)),
        seed: 1,
        ..Job::new(target, script, "run")
    })
}

/// Returns a stage's cycles per query, without the cycles that are spent on reading the cycle counter between
/// stages.
fn cycles(profile: &Profile, stage: &str) -> f64 {
    let of_stage = profile.stages.iter().filter(|it| it.stage == stage);
    of_stage.map(|it| it.cycles as f64 - it.entered as f64 * profile.mark_cycles).sum::<f64>().max(0.0)
        / profile.queries.max(1) as f64
}

/// Returns the cycles per query that are spent in the client's own code.
fn own_cycles(profile: &Profile) -> f64 {
    profile.stages.iter().filter(|it| it.is_own).map(|it| cycles(profile, &it.stage)).sum()
}

fn print_stages(title: &str, profiles: &Profiles) {
    let Some(first) = profiles.now.first() else { return };
    let has_before = !profiles.before.is_empty();
    let headings: &[&str] = if has_before {
        &["stage", "before", "now", "ratio", "spread"]
    } else {
        &["stage", "cycles", "spread"]
    };
    let mut table = pair::table(headings);
    let mut row = |name: &str, of: &dyn Fn(&Profile) -> f64| {
        let figures = |profiles: &[Profile]| profiles.iter().map(of).collect::<Vec<f64>>();
        let (before, now) = (figures(&profiles.before), figures(&profiles.now));
        let mut cells = vec![name.to_owned()];
        cells.extend(has_before.then(|| format!("{:.0}", median(&before))));
        cells.push(format!("{:.0}", median(&now)));
        cells.extend(has_before.then(|| format!("{:.2}", median(&now) / median(&before))));
        cells.push(format!("{:.1} %", spread(&now) * 100.0));
        table.add_row(cells);
    };
    for stage in first.stages.iter().filter(|it| it.is_own) {
        row(&stage.stage, &|profile| cycles(profile, &stage.stage));
    }
    row("all of the client's own", &own_cycles);
    row("the same in ns", &|profile| own_cycles(profile) / profile.cycles_a_second * 1e9);
    for stage in first.stages.iter().filter(|it| !it.is_own && it.entered > 0) {
        row(&format!("beside: {}", stage.stage), &|profile| cycles(profile, &stage.stage));
    }
    pair::print(title, table, 1);
    println!();
}

/// Measures the CPU time of a load process, whose code does not count cycles by stage. A server in this process
/// sends the load process canned answers.
fn whole_process(options: &Options, protocol: Protocol, connections: u32) -> anyhow::Result<()> {
    let this = std::env::current_exe()?;
    let (mut before, mut now): (Vec<Ran>, Vec<Ran>) = (Vec::new(), Vec::new());
    for number in 0..options.runs {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("canned.sock");
        let _server = CannedServer::start(protocol, &socket)?;
        let job = job(options, protocol, connections, socket)?;
        let mut sides = vec![(Some(&this), &mut now), (options.against.as_ref(), &mut before)];
        if number % 2 == 1 {
            sides.reverse();
        }
        for (program, samples) in sides {
            let Some(program) = program else { continue };
            samples.push(dyno::run_program(program, &job, Session::Own, &mut |_| {})?);
        }
    }
    let mut table = pair::table(&["CPU of the load process", "before", "now", "ratio", "spread"]);
    let rows: [(&str, Figure); 3] = [
        ("user µs/query", |ran| a_query(ran, ran.user_us)),
        ("user and kernel µs/query", |ran| a_query(ran, ran.user_us + ran.kernel_us)),
        ("memory MB", |ran| ran.memory_bytes_max as f64 / 1e6),
    ];
    for (name, of) in rows {
        let figures = |samples: &[Ran]| samples.iter().map(of).collect::<Vec<f64>>();
        let (before, now) = (figures(&before), figures(&now));
        let of_before = |text: String| if before.is_empty() { String::new() } else { text };
        table.add_row([
            name.to_owned(),
            of_before(format!("{:.2}", median(&before))),
            format!("{:.2}", median(&now)),
            of_before(format!("{:.2}", median(&now) / median(&before))),
            format!("{:.1} %", spread(&now) * 100.0),
        ]);
    }
    let title = format!(
        "{}, {}, {connections} connections, canned answers of another process, medians of {}",
        options.shape.workload,
        protocol.as_str(),
        options.runs
    );
    pair::print(&title, table, 1);
    println!();
    Ok(())
}

/// Returns a time of a load process, in µs, divided by the number of its queries.
fn a_query(ran: &Ran, us: u64) -> f64 {
    us as f64 / ran.total.counts.queries().max(1) as f64
}

fn median(figures: &[f64]) -> f64 {
    dyno_stats::median(figures).unwrap_or(f64::NAN)
}

/// Returns the difference between the largest and the smallest figure, as a share of their median.
fn spread(figures: &[f64]) -> f64 {
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most - least) / median(figures)
}
