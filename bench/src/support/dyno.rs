//! Dyno's side of a comparison: a load process, started as `dyno-lab` starts it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use dyno_engine::{Access, DATABASE};
use dyno_load::{Address, Frame, Job, Protocol, Script, Target, Total};

use crate::support::child::{self, Sample, Session};
use crate::support::shape::Shape;

/// Returns the path of the `dyno` in the folder of this program.
pub(crate) fn beside() -> anyhow::Result<PathBuf> {
    let dyno = std::env::current_exe()?.with_file_name("dyno");
    anyhow::ensure!(dyno.exists(), "{}: not there; cargo build --release -p dyno", dyno.display());
    Ok(dyno)
}

/// Returns a job on the server that `access` describes.
pub(crate) fn job(access: &Access, shape: &Shape, command: &str, connections: u32) -> anyhow::Result<Job> {
    let source = dyno_load::builtin_workload(&shape.workload).context("no such workload")?;
    let script = Script { name: shape.workload.clone(), source: source.to_owned(), search_path: Vec::new() };
    Ok(Job {
        options: [("tables", shape.tables.to_string()), ("table_size", shape.rows.to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        connections,
        seconds: (command == "run").then_some(f64::from(shape.seconds)),
        seed: seed(command),
        ..Job::new(Target { prepared_statements: !shape.unprepared, ..target(access) }, script, command)
    })
}

/// Returns the seed for a command. With one seed for all commands, the rows that a run inserts would have the same
/// values as the rows that are there already.
fn seed(command: &str) -> u64 {
    if command == "prepare" { 1 } else { 2 }
}

/// Returns how to reach and log in to a server.
pub(crate) fn target(access: &Access) -> Target {
    let driver = if access.engine == "postgres" { Protocol::Pgsql } else { Protocol::Mysql };
    Target {
        user: access.user.clone(),
        password: access.password.clone(),
        database: DATABASE.to_owned(),
        ..Target::new(driver, vec![Address::Unix(access.socket.clone())])
    }
}

/// Returns a job of a built-in workload with options.
pub(crate) fn builtin(
    access: &Access,
    workload: &str,
    command: &str,
    options: &[(&str, &str)],
) -> anyhow::Result<Job> {
    let source = dyno_load::builtin_workload(workload).context("no such workload")?.to_owned();
    let script = Script { name: workload.to_owned(), source, search_path: Vec::new() };
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Ok(Job { options: options.collect(), seed: seed(command), ..Job::new(target(access), script, command) })
}

pub(crate) fn measure(job: &Job, session: Session) -> anyhow::Result<Sample> {
    measure_program(&std::env::current_exe()?, job, session)
}

/// As [`measure`], but `program`, which is a `dyno` or a `dyno-bench`, executes the job in place of this program.
pub(crate) fn measure_program(program: &Path, job: &Job, session: Session) -> anyhow::Result<Sample> {
    let Ran { total, user_us, kernel_us, memory_bytes_max } =
        run_program(program, job, session, &mut |_| {})?;
    Ok(sample(&total, total.counts.queries(), user_us + kernel_us, memory_bytes_max))
}

/// Makes the sample of a job that executed `queries` queries. The server's CPU time is not measured.
pub(crate) fn sample(total: &Total, queries: u64, cpu_us: u64, memory_bytes_max: u64) -> Sample {
    Sample {
        queries,
        queries_per_second: queries as f64 / total.seconds,
        latency_p99_ms: total.latency.quantile_us(0.99).unwrap_or(f64::NAN) / 1000.0,
        cpu_us,
        server_us: 0,
        memory_bytes_max,
    }
}

/// Runs a job in a separate process. Returns its total, the process's CPU time (µs) and its memory (bytes).
pub(crate) fn run(job: &Job, session: Session) -> anyhow::Result<(Total, u64, u64)> {
    run_and_hear(job, session, &mut |_| {})
}

/// As [`run`], but also passes on what the script prints.
pub(crate) fn run_and_hear(
    job: &Job,
    session: Session,
    hear: &mut dyn FnMut(&str),
) -> anyhow::Result<(Total, u64, u64)> {
    let Ran { total, user_us, kernel_us, memory_bytes_max } =
        run_program(&std::env::current_exe()?, job, session, hear)?;
    Ok((total, user_us + kernel_us, memory_bytes_max))
}

/// What a job did, and what its process used, start-up included.
pub(crate) struct Ran {
    pub(crate) total: Total,
    /// CPU time in user mode, in µs.
    pub(crate) user_us: u64,
    /// CPU time in the kernel, in µs.
    pub(crate) kernel_us: u64,
    pub(crate) memory_bytes_max: u64,
}

/// Runs a job in the load process of a program. `hear` gets what the script prints.
pub(crate) fn run_program(
    program: &Path,
    job: &Job,
    session: Session,
    hear: &mut dyn FnMut(&str),
) -> anyhow::Result<Ran> {
    let mut command = Command::new(program);
    command.arg("drive").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child::spawn(&mut command, session)?;
    let mut input = child.stdin.take().context("the load process has no input")?;
    input.write_all(&serde_json::to_vec(job)?)?;
    input.write_all(b"\n")?;
    let output = child.stdout.take().context("the load process has no output")?;
    let mut total = None;
    for line in BufReader::new(output).lines() {
        match serde_json::from_str(&line?)? {
            Frame::Finished(finished) => {
                total = Some(finished);
                break;
            }
            Frame::Failed { message, .. } => anyhow::bail!(message),
            Frame::Log { text } => hear(&text),
            _ => {}
        }
    }
    drop(input);
    let (user_us, kernel_us, memory_bytes_max) = child::wait_split(&child)?;
    let total = total.context("the load process ended without a result")?;
    Ok(Ran { total, user_us, kernel_us, memory_bytes_max })
}
