//! Replaying the csvlog of a PostgreSQL server: the client's CPU time per statement, compared with pgreplay.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use dyno_engine::{Access, DATABASE, Server};
use dyno_load::{Address, Job, Protocol, Rate, Replay, Script, Target};
use dyno_traffic::TrafficFile;

use super::import::import_log;
use crate::support::child::{self, Sample, Session};
use crate::support::pair::{self, Pair};
use crate::support::{dyno, server};

/// Number of connections of the load whose statements are logged.
const CONNECTIONS: u32 = 8;
/// Statements per second of the load whose statements are logged.
const RATE: f64 = 2000.0;
/// The speed at which both sides replay, as a multiple of the original speed.
const PACE: f64 = 2.0;
/// Time limit for the server to complete its log.
const LOG_PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(pgreplay: &Path, statements: u32, rounds: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("server.csv");
    let server = server::start_postgres_with(&[
        ("logging_collector", "on"),
        ("log_destination", "csvlog"),
        ("log_directory", "log"),
        ("log_filename", "traffic.log"),
        ("log_connections", "on"),
        ("log_disconnections", "on"),
        ("log_min_messages", "error"),
        ("log_min_error_statement", "log"),
    ])?;
    record(&server, statements, &log)?;
    // Since version 16, PostgreSQL writes `Parameters` with a capital letter in the detail of a log line, and pgreplay
    // 1.2 does not recognise this.
    let for_pgreplay = folder.path().join("pgreplay.csv");
    std::fs::write(&for_pgreplay, std::fs::read_to_string(&log)?.replace("Parameters: $", "parameters: $"))?;
    let traffic = folder.path().join("a.traffic");
    import_log(&[log.clone(), traffic.clone()])?;
    let logged = TrafficFile::open(&traffic)?.outline()?.statements;
    let mut pair = Pair::default();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        pair.take(
            || by_pgreplay(pgreplay, server.access(), &for_pgreplay, logged),
            || by_dyno(server.access(), traffic.clone(), logged),
        )?;
    }
    let version = server.version().to_owned();
    server.stop()?;
    let mut table = pair::table(&[
        "statements",
        "client CPU µs/statement pgreplay",
        "dyno",
        "ratio",
        "of rounds",
        "goal",
        "met",
        "memory MB pgreplay",
        "dyno",
    ]);
    let ratios = pair.ratios(Sample::cpu_us_per_query);
    let mut cells = vec![logged.to_string()];
    pair.push_cells(&mut cells, Sample::cpu_us_per_query, 1, true);
    cells.push(format!("{:.2}–{:.2}", ratios.min, ratios.max));
    cells.extend(["< 1", if ratios.max < 1.0 { "yes" } else { "no" }].map(str::to_owned));
    pair.push_cells(&mut cells, Sample::memory_mb, 1, false);
    table.add_row(cells);
    let title = format!(
        "replaying a log of PostgreSQL {version} {PACE} times as fast as it was, medians of {rounds}"
    );
    pair::print(&title, table, 0);
    Ok(())
}

/// Runs point selects while the server logs statements, and copies the server's log to `to`.
fn record(server: &Server, statements: u32, to: &Path) -> anyhow::Result<()> {
    let access = server.access();
    let script = |command: &str| Job {
        options: [("tables", "1"), ("table_size", "10000")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        connections: if command == "run" { CONNECTIONS } else { 1 },
        events: (command == "run").then_some(u64::from(statements)),
        rate: (command == "run").then(|| Rate::steady(RATE)),
        seed: 1,
        ..Job::new(target(access), point_selects(), command)
    };
    dyno::run(&script("prepare"), Session::Servers)?;
    for sql in ["ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()"] {
        server.query(sql)?;
    }
    // A session reads the setting when it begins. The sessions of this run begin after the change, so their statements
    // are logged.
    dyno::run(&script("run"), Session::Servers)?;
    for sql in ["ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()"] {
        server.query(sql)?;
    }
    let log = access.datadir.join("log/traffic.csv");
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        if text.matches("disconnection: ").count() > CONNECTIONS as usize {
            break;
        }
        if begun.elapsed() > LOG_PATIENCE {
            bail!("{}: the sessions' ends are not logged", log.display());
        }
        thread::sleep(Duration::from_millis(200));
    }
    std::fs::copy(&log, to).with_context(|| format!("cannot copy {}", log.display()))?;
    Ok(())
}

fn target(access: &Access) -> Target {
    Target {
        user: access.user.clone(),
        password: access.password.clone(),
        database: DATABASE.to_owned(),
        ..Target::new(Protocol::Pgsql, vec![Address::Unix(access.socket.clone())])
    }
}

fn point_selects() -> Script {
    let source = dyno_load::builtin_workload("oltp_point_select").unwrap_or_default().to_owned();
    Script { name: "oltp_point_select".to_owned(), source, search_path: Vec::new() }
}

fn by_dyno(access: &Access, file: PathBuf, logged: u64) -> anyhow::Result<Sample> {
    let replay = Replay {
        file,
        pace: Some(PACE),
        sends_server_statements: false,
        reads_answers: false,
        keeps_order: false,
        keeps_examples: false,
    };
    let script = Script { name: "traffic".to_owned(), source: String::new(), search_path: Vec::new() };
    let job = Job {
        connections: CONNECTIONS + 1,
        replay: Some(replay),
        seed: 1,
        ..Job::new(target(access), script, "run")
    };
    let (total, cpu_us, memory_bytes_max) = dyno::run(&job, Session::Own)?;
    let replayed = total.replay.context("no replay")?;
    let sent: u64 = replayed.digests.iter().map(|digest| digest.statements).sum();
    let not_sent: u64 = replayed.not_sent.values().sum();
    ensure!(sent + not_sent == logged, "{sent} of {logged} statements were replayed, {not_sent} not sent");
    Ok(sample(sent, total.seconds, cpu_us, memory_bytes_max))
}

fn by_pgreplay(program: &Path, access: &Access, log: &Path, logged: u64) -> anyhow::Result<Sample> {
    let folder = access.socket.parent().context("the server's socket is in no folder")?;
    let mut command = Command::new(program);
    command
        .args(["-c", "-q", "-s", &PACE.to_string(), "-h"])
        .arg(folder)
        .args(["-p", &access.port.to_string(), "-W", &access.password])
        .arg(log)
        .stdout(Stdio::null());
    let began = Instant::now();
    let child = child::spawn(&mut command, Session::Own).with_context(|| {
        let program = program.display();
        format!(
            "cannot start {program}; `apt-get install pgreplay` brings it, or give its path with --pgreplay"
        )
    })?;
    let (cpu_us, memory_bytes_max) = child::wait(&child)?;
    Ok(sample(logged, began.elapsed().as_secs_f64(), cpu_us, memory_bytes_max))
}

fn sample(queries: u64, seconds: f64, cpu_us: u64, memory_bytes_max: u64) -> Sample {
    Sample {
        queries,
        queries_per_second: queries as f64 / seconds,
        latency_p99_ms: 0.0,
        cpu_us,
        server_us: 0,
        memory_bytes_max,
    }
}
