//! Measures how often the figures of events show a difference that does not exist: equal systems go through the same
//! events, in many runs.
//!
//! One long run is divided into short runs. Each short run has just enough rounds for a verdict. Each round starts
//! fresh instances, so the short runs are as independent as runs that are started one by one.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- events --keep events.db --minutes 45 --resume
//! ```
//!
//! If a paused command is repeated, it continues where it paused.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use dyno_judge::{EventQuantity, Finding, Rule, TrialChecks, analyse, check_trials, rounds_for_family};
use dyno_stats::CONFIDENCE;
use dyno_store::{Correction, Run, Store};

use super::truth::experiments::experiments;
use super::truth::score::{Goal, Score};
use crate::support::pair;
use crate::support::plan_run::{Measured, Pause, run_plan_on};

/// Goal: largest share of the runs with an alarm.
const SHARE_MAX: f64 = 0.05;
/// The buffer pool has room for all data, and commits do not wait for the disk, so that rounds are short.
const SETTINGS: &str = "innodb_buffer_pool_size = \"128M\", innodb_log_file_size = \"96M\", \
    innodb_flush_log_at_trx_commit = 2, performance_schema = 0";
/// The events of the step: first the server stops for a while, and then an index is built.
const EVENTS: [&str; 2] = [
    "at_seconds = 1\nstop_seconds = 0.3\n",
    "at_seconds = 2.2\nsql = \"ALTER TABLE sbtest1 ADD INDEX k2 (c(20))\"\n",
];
/// Length of the step, in seconds. It leaves time to recover after each event.
const SECONDS: f64 = 3.4;

#[derive(Args)]
pub(crate) struct Options {
    /// Runs.
    #[arg(long, default_value_t = 60)]
    runs: u32,
    /// Write the results file here.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Pause after this time.
    #[arg(long, requires = "keep")]
    minutes: Option<u32>,
    /// Continue with the run in the results file, instead of a new run.
    #[arg(long, requires = "keep")]
    resume: bool,
}

/// The verdicts of a run.
struct Judged {
    /// Number of figures that could have an alarm.
    figures: usize,
    /// The figures with an alarm, in words.
    alarms: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let results = options.keep.clone().unwrap_or_else(|| folder.path().join("events.db"));
    let minutes = options.minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
    let pause = Pause { at: minutes.map(|minutes| Instant::now() + minutes), resume: options.resume };
    let text = plan(options.runs * rounds() as u32);
    let measured = run_plan_on(&text, "events", &results, None, pause)?;
    let Measured { run, is_paused } = measured.context("there is no run yet")?;
    if is_paused {
        println!("paused; the same command with --resume continues; until now:");
    }
    let store = Store::open_read_only(&results)?;
    let checks = check_trials(&store, &run)?;
    let judged: Vec<Judged> = experiments(&run, rounds()).iter().map(|part| judge(part, &checks)).collect();
    print(&judged);
    Ok(())
}

/// Number of rounds in a run: the fewest in which every figure can have an alarm.
fn rounds() -> usize {
    rounds_for_family(Correction::MaxT, EVENTS.len() * EventQuantity::ALL.len(), 1.0 - CONFIDENCE)
}

/// The plan, in which both systems are the same server.
fn plan(rounds: u32) -> String {
    let system = |id: &str| {
        format!("[[system]]\nid = \"{id}\"\nengine = \"mariadb@10.11/innodb\"\nsettings = {{ {SETTINGS} }}\n")
    };
    let events = EVENTS.map(|event| format!("[[step.event]]\n{event}"));
    format!(
        "name = \"events\"\ntitle = \"equal systems through events\"\nbase = \"a\"\nrounds = {rounds}\nclients = [4]\n\
         seconds = {SECONDS}\nwarmup_seconds = 0.3\nrest_seconds_max = 0\nwarm = true\n\
         [data]\ntables = 1\nrows = 50000\n{}{}\
         [[step]]\nid = \"load\"\ngroup = \"load\"\ncommand = \"prepare\"\nworkload = \"oltp_read_write\"\n\
         operation = \"row\"\nclients = [1]\n\
         [[step]]\nid = \"events\"\ngroup = \"all\"\nworkload = \"oltp_read_write\"\noperation = \"transaction\"\n{}",
        system("a"),
        system("b"),
        events.concat()
    )
}

/// Judges the figures of a run's events in the way that reports do.
fn judge(run: &Run, checks: &TrialChecks) -> Judged {
    let analysis = analyse(run, checks, &Rule::default());
    let mut judged = Judged { figures: 0, alarms: Vec::new() };
    for test in &analysis.events {
        for system in &test.systems {
            for (event, effect) in test.events.iter().zip(&system.events) {
                for (quantity, figure) in &effect.figures {
                    let Some(ratio) = &figure.against_base else { continue };
                    judged.figures += usize::from(ratio.p_adjusted.is_some());
                    if matches!(ratio.finding, Finding::Improved | Finding::Regressed) {
                        let id = &event.id;
                        judged.alarms.push(format!("{quantity:?} of `{id}`, ratio {:.2}", ratio.ratio));
                    }
                }
            }
        }
    }
    judged
}

fn print(judged: &[Judged]) {
    let alarmed = judged.iter().filter(|run| !run.alarms.is_empty()).count();
    let figures: Vec<usize> = judged.iter().map(|run| run.figures).collect();
    let mut table = pair::table(&["what", "of", "measured", "interval", "goal", ""]);
    let what = format!("runs of {} rounds with an alarm of an event", rounds());
    table.add_row(Score::share(what, alarmed, judged.len(), Goal::AtMost(SHARE_MAX)).row());
    println!("{table}");
    let (least, most) = (figures.iter().min(), figures.iter().max());
    if let (Some(least), Some(most)) = (least, most) {
        println!("figures with a verdict in each run: {least} to {most}");
    }
    for (number, run) in (1..).zip(judged).filter(|(_, run)| !run.alarms.is_empty()) {
        println!("run {number}: {}", run.alarms.join("; "));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_engine::Catalogue;
    use dyno_lab::{Plan, Rounds};

    use super::*;

    #[test]
    fn the_plan_has_enough_rounds_for_verdicts_in_each_run() {
        let text = plan(60 * rounds() as u32);
        let plan = Plan::parse(&text, "events.toml", Path::new(""), &Catalogue::builtin()).unwrap();
        assert_eq!((rounds(), plan.rounds), (6, Rounds::Fixed(360)));
        assert!(plan.too_few_rounds().is_none());
        assert_eq!(plan.steps[1].step_events.len(), 2);
    }
}
