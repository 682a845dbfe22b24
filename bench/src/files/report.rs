//! The HTML report of a large run: how long it takes to read the run and render the page, the page's size, and how
//! long a browser takes to open it. The run is synthetic; only its size is realistic.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use dyno_browser::{Browser, Scheme};
use dyno_judge::{Rule, analyse};
use dyno_report::{Details, PageInput, Reasons, render_html};
use dyno_store::{
    CounterRecord, CountsRecord, Ending, LatencyRecord, Measured, Outcome, Phase, RunChoice, RunRecord,
    SampleRecord, StepRecord, Store, SystemRecord, TrialRecord, Usage, latency_record,
};

#[derive(Args)]
pub(crate) struct Options {
    /// Tests.
    #[arg(long, default_value_t = 40)]
    steps: u32,
    /// Systems.
    #[arg(long, default_value_t = 6)]
    systems: u32,
    /// Client counts.
    #[arg(long, default_value_t = 6)]
    levels: u32,
    /// Rounds.
    #[arg(long, default_value_t = 3)]
    trials: u32,
    /// Seconds per trial.
    #[arg(long, default_value_t = 180)]
    seconds: u32,
    /// Counters per trial.
    #[arg(long, default_value_t = 300)]
    counters: u32,
    /// Write the page to this file.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("large.db");
    let began = Instant::now();
    fill(&mut Store::open(&path)?, options)?;
    let size = std::fs::metadata(&path)?.len();
    println!("made a results file of {} MB in {:.1} s", size >> 20, began.elapsed().as_secs_f64());

    let began = Instant::now();
    let store = Store::open_read_only(&path)?;
    let run = store.load_run(RunChoice::Latest)?;
    let details = Details::load(&store, &run)?;
    let read_seconds = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let analysis = analyse(&run, &details.checks, &Rule::default());
    let page = render_html(&PageInput {
        run: &run,
        details: &details,
        analysis: &analysis,
        curves: &[],
        reasons: &Reasons::default(),
        is_live: false,
    });
    let render_seconds = began.elapsed().as_secs_f64();
    println!(
        "read {read_seconds:.2} s + rendered {render_seconds:.2} s = {:.2} s (to be below 3); {:.2} MB (to be below 2)",
        read_seconds + render_seconds,
        page.len() as f64 / 1e6
    );
    let html = options.keep.clone().unwrap_or_else(|| folder.path().join("large.html"));
    let html = std::path::absolute(html)?;
    std::fs::write(&html, page).context("cannot write the page")?;
    match Browser::start() {
        Ok(mut browser) => println!("opened in {:.2} s (to be below 1)", open_seconds(&mut browser, &html)),
        Err(reason) => println!("not opened: {reason}"),
    }
    Ok(())
}

/// Returns the time from the start of the navigation to the end of the page's script, in seconds. The page itself
/// measures it. A blank page is opened first, so that the browser has started.
fn open_seconds(browser: &mut Browser, html: &Path) -> f64 {
    browser.open("about:blank", 1280, 900, Scheme::Light);
    let mut page = browser.open(&format!("file://{}", html.display()), 1280, 900, Scheme::Light);
    page.wait_until("document.documentElement.hasAttribute('data-ready')");
    let ready_ms = page.text("document.documentElement.dataset.ready");
    ready_ms.parse::<f64>().unwrap_or(f64::NAN) / 1e3
}

fn fill(store: &mut Store, options: &Options) -> anyhow::Result<()> {
    let run =
        store.create_run(&RunRecord { plan_name: "large".to_owned(), scale: 1.0, ..RunRecord::default() })?;
    for position in 0..options.systems {
        store.put_system(run, &system(position))?;
    }
    let clients: Vec<u32> = (0..options.levels).map(|level| 1 << level).collect();
    for position in 0..options.steps {
        let step = StepRecord { clients: clients.clone(), rounds: options.trials, ..step(position, options) };
        store.add_step(run, &step)?;
    }
    let mut random = Random(7);
    let mut place = 0;
    for step in 0..options.steps {
        for clients in &clients {
            for number in 0..options.trials {
                for system in 0..options.systems {
                    let head = TrialRecord {
                        system_id: format!("system-{system}"),
                        step_id: format!("step-{step}"),
                        clients: *clients,
                        round: number,
                        position: place,
                        ..TrialRecord::default()
                    };
                    store.commit_trial(run, &trial(head, options, &mut random))?;
                    place += 1;
                }
            }
        }
    }
    store.finish_run(run, Ending::Finished, 0)?;
    Ok(())
}

fn system(position: u32) -> SystemRecord {
    SystemRecord {
        id: format!("system-{position}"),
        name: "mariadb@10.11/innodb".to_owned(),
        engine_version: Some("10.11.14".to_owned()),
        position,
        is_base: position == 0,
        requested_settings: serde_json::json!({}),
        variables: (0..600)
            .map(|at| (format!("variable_{at}"), format!("{}", at % (7 + position))))
            .collect(),
        ..SystemRecord::default()
    }
}

fn step(position: u32, options: &Options) -> StepRecord {
    StepRecord {
        id: format!("step-{position}"),
        group: format!("group {}", position / 8),
        position,
        seconds: Some(f64::from(options.seconds)),
        options: serde_json::json!({}),
        ..StepRecord::default()
    }
}

fn trial(head: TrialRecord, options: &Options, random: &mut Random) -> TrialRecord {
    let level = 2_000.0 + 50_000.0 * random.next();
    let latency = latency(random, 2_000);
    let counts = |operations: u64| CountsRecord { operations, events: operations, ..CountsRecord::default() };
    let samples: Vec<SampleRecord> = (0..options.seconds)
        .map(|number| {
            let operations = (level * (0.8 + 0.4 * random.next())) as u64;
            let measured = Measured {
                seconds: 1.0,
                counts: counts(operations),
                due: None,
                latency: self::latency(random, 40),
            };
            SampleRecord { number, phase: Phase::Measure, measured, usage: usage(operations, random) }
        })
        .collect();
    let operations: u64 = samples.iter().map(|sample| sample.measured.counts.operations).sum();
    let counter = |at: u32, random: &mut Random| CounterRecord {
        name: format!("status.counter_{at}"),
        is_gauge: at.is_multiple_of(9),
        first: 1_000.0,
        last: 1_000.0 + (random.next() * operations as f64 * 3.0).floor(),
        values: Vec::new(),
    };
    TrialRecord {
        outcome: Outcome::Completed,
        measured: Some(Measured {
            seconds: f64::from(options.seconds),
            counts: counts(operations),
            due: None,
            latency,
        }),
        usage: usage(operations, random),
        counters: (0..options.counters).map(|at| counter(at, random)).collect(),
        samples,
        ..head
    }
}

fn usage(operations: u64, random: &mut Random) -> Usage {
    let mut about = |each: f64| Some((operations as f64 * each * (0.9 + 0.2 * random.next())) as u64);
    Usage {
        server_user_cpu_us: about(18.0),
        server_system_cpu_us: about(7.0),
        server_context_switches: about(2.0),
        client_user_cpu_us: about(4.0),
        client_system_cpu_us: about(3.0),
        process_write_bytes: about(900.0),
        device_reads: about(0.2),
        device_read_bytes: about(3_000.0),
        device_writes: about(0.3),
        device_write_bytes: about(5_000.0),
        device_flushes: about(0.01),
        host_user_cpu_us: about(24.0),
        host_system_cpu_us: about(11.0),
        host_iowait_cpu_us: about(3.0),
        host_idle_cpu_us: about(9.0),
        ..Usage::default()
    }
}

fn latency(random: &mut Random, events: u32) -> LatencyRecord {
    latency_record((0..events).map(|_| (200.0 / (random.next() + 0.001)) as u64))
}

/// A reproducible random number generator (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    /// Returns the next number, which is at least 0 and below 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
