//! Runs pgbench's scripts with pgbench and with Dyno.

use std::path::Path;
use std::process::Command;

use anyhow::Context;
use dyno_engine::{Access, Server};
use dyno_load::{Job, pgbench_workload};

use super::{Options, figures, pgbench, sample_of, start, transactions};
use crate::support::child::{Sample, Session};
use crate::support::goals::Goals;
use crate::support::{dyno, pair};

/// The scripts that every pgbench contains.
const BUILTIN: [&str; 3] = ["tpcb-like", "simple-update", "select-only"];

const SEED: u64 = 42;

/// Queries whose results show what a script has written. The results do not depend on the time at which the script
/// ran.
const TABLES: [&str; 4] = [
    "SELECT sum(abalance), sum(aid::bigint * abalance) FROM pgbench_accounts",
    "SELECT sum(tbalance), sum(tid::bigint * tbalance) FROM pgbench_tellers",
    "SELECT sum(bbalance), sum(bid::bigint * bbalance) FROM pgbench_branches",
    "SELECT count(*), sum(delta), sum(aid::bigint * delta), sum(tid::bigint * delta) FROM pgbench_history",
];

/// A script, and a file that contains its text.
pub(super) struct BenchScript {
    name: String,
    text: String,
    file: tempfile::NamedTempFile,
}

/// Returns pgbench's built-in scripts, and the scripts that the options name.
pub(super) fn all(options: &Options) -> anyhow::Result<Vec<BenchScript>> {
    let mut scripts = Vec::new();
    for name in BUILTIN {
        scripts.push(script(name, shown(&options.pgbench, name)?)?);
    }
    for path in &options.scripts {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        scripts.push(script(&path.display().to_string(), text)?);
    }
    Ok(scripts)
}

fn script(name: &str, text: String) -> anyhow::Result<BenchScript> {
    let file = tempfile::Builder::new().suffix(".pgbench").tempfile()?;
    std::fs::write(file.path(), &text)?;
    Ok(BenchScript { name: name.to_owned(), text, file })
}

/// Returns the text of a built-in script, as pgbench shows it.
fn shown(program: &Path, name: &str) -> anyhow::Result<String> {
    let output = Command::new(program).arg(format!("--show-script={name}")).output().with_context(|| {
        let program = program.display();
        format!("cannot start {program}; `apt-get install postgresql-contrib` brings it, or give its path with --pgbench")
    })?;
    anyhow::ensure!(output.status.success(), "{} has no script {name}", program.display());
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8(text)?)
}

/// Runs each script with pgbench and with Dyno, each time with the same seed and on new tables. The two programs must
/// write the same rows and send the same number of statements.
pub(super) fn compare(options: &Options, scripts: &[BenchScript], goals: &mut Goals) -> anyhow::Result<()> {
    let server = start(options)?;
    for script in scripts {
        for protocol in &options.protocols {
            let what = |of: &str| format!("{}, {protocol}, {of}", script.name);
            let (theirs, their_statements) =
                rows_after(options, &server, || by_pgbench(options, &server, script, protocol))?;
            let (ours, our_statements) =
                rows_after(options, &server, || by_dyno(options, &server, script, protocol))?;
            goals.same(&what("statements"), &their_statements.to_string(), &our_statements.to_string());
            let is_same = theirs == ours;
            goals.same(&what("rows"), "these", if is_same { "these" } else { "others" });
            if !is_same {
                eprintln!("{}: pgbench left {theirs:?}, Dyno {ours:?}", what("rows"));
            }
        }
    }
    server.stop()?;
    Ok(())
}

/// Makes the tables anew and calls `run`. Returns the contents of the tables afterwards, and the value that `run`
/// returns.
fn rows_after(
    options: &Options,
    server: &Server,
    run: impl FnOnce() -> anyhow::Result<u64>,
) -> anyhow::Result<(Vec<String>, u64)> {
    pgbench(options, server.access(), &["-i", "-q", "-s", &options.scale.to_string()])?;
    let statements = run()?;
    let mut rows = Vec::new();
    for sql in TABLES {
        rows.push(format!("{:?}", server.query(sql)?.rows));
    }
    Ok((rows, statements))
}

/// Runs a number of transactions with pgbench. Returns how many statements pgbench sent, according to its report.
fn by_pgbench(
    options: &Options,
    server: &Server,
    script: &BenchScript,
    protocol: &str,
) -> anyhow::Result<u64> {
    let (seed, count) = (format!("--random-seed={SEED}"), options.transactions.to_string());
    let (file, scale) = (script.file.path().display().to_string(), options.scale.to_string());
    let arguments = ["-n", "-r", "-M", protocol, "-c", "1", "-t", &count, "-s", &scale, &seed, "-f", &file];
    let (text, _, _) = pgbench(options, server.access(), &arguments)?;
    let (done, _) = transactions(&text).with_context(|| format!("no transactions in:\n{text}"))?;
    Ok(done * statements_of(&text))
}

/// Counts the statements in the report that `-r` makes. A statement's line has figures and a command that does not
/// begin with a backslash.
fn statements_of(report: &str) -> u64 {
    let lines = report.lines().skip_while(|line| !line.starts_with("statement latencies"));
    let is_statement = |line: &&str| {
        let mut words = line.split_whitespace().skip_while(|word| word.parse::<f64>().is_ok());
        line.starts_with(' ') && words.next().is_some_and(|word| !word.starts_with('\\'))
    };
    lines.skip(1).filter(is_statement).count() as u64
}

/// Runs the transactions that [`by_pgbench`] runs, but with Dyno. Returns how many statements Dyno sent.
fn by_dyno(options: &Options, server: &Server, script: &BenchScript, protocol: &str) -> anyhow::Result<u64> {
    let job =
        Job { events: Some(options.transactions.into()), ..job(options, server.access(), script, protocol)? };
    let (total, _, _) = dyno::run(&job, Session::Servers)?;
    Ok(total.counts.queries())
}

fn job(options: &Options, access: &Access, script: &BenchScript, protocol: &str) -> anyhow::Result<Job> {
    let workload = pgbench_workload("script.pgbench", false, |_| Ok(script.text.clone()));
    let workload = workload.context("a pgbench script")??;
    let own = [("protocol", protocol.to_owned()), ("scale", options.scale.to_string())];
    Ok(Job {
        options: own.map(|(name, value)| (name.to_owned(), value)).into(),
        seed: SEED,
        ..Job::new(dyno::target(access), workload, "run")
    })
}

/// Measures each script with each protocol, with both programs in turn.
pub(super) fn measure(options: &Options, scripts: &[BenchScript], goals: &mut Goals) -> anyhow::Result<()> {
    let cases: Vec<(&BenchScript, &String)> = scripts
        .iter()
        .flat_map(|script| options.protocols.iter().map(move |protocol| (script, protocol)))
        .collect();
    let (pairs, _) = pair::on_new_servers(
        options.rounds,
        &cases,
        || start(options),
        |server, (script, protocol), pair| {
            eprintln!("{}, {protocol}", script.name);
            let access = server.access();
            pair.take(
                || timed_by_pgbench(options, access, script, protocol),
                || timed_by_dyno(options, access, script, protocol),
            )
        },
    )?;
    for ((script, protocol), pair) in cases.iter().zip(&pairs) {
        figures(goals, &format!("{}, {protocol}", script.name), pair);
    }
    Ok(())
}

fn timed_by_pgbench(
    options: &Options,
    access: &Access,
    script: &BenchScript,
    protocol: &str,
) -> anyhow::Result<Sample> {
    let (connections, jobs) = (options.connections.to_string(), options.jobs.to_string());
    let (seconds, scale) = (options.seconds.to_string(), options.scale.to_string());
    let file = script.file.path().display().to_string();
    let arguments =
        ["-n", "-M", protocol, "-c", &connections, "-j", &jobs, "-T", &seconds, "-s", &scale, "-f", &file];
    sample_of(options, access, &arguments)
}

/// Measures Dyno. The field `queries` of the returned sample counts transactions, as pgbench does.
fn timed_by_dyno(
    options: &Options,
    access: &Access,
    script: &BenchScript,
    protocol: &str,
) -> anyhow::Result<Sample> {
    let job = Job {
        connections: options.connections,
        seconds: Some(f64::from(options.seconds)),
        ..job(options, access, script, protocol)?
    };
    let (total, cpu_us, memory_bytes_max) = dyno::run(&job, Session::Servers)?;
    Ok(dyno::sample(&total, total.counts.events, cpu_us, memory_bytes_max))
}

#[cfg(test)]
mod tests {
    use super::statements_of;

    #[test]
    fn statements_are_counted_in_pgbench_s_report() {
        let report = "tps = 1\nstatement latencies in milliseconds and failures:\n         \
            0.002           0  \\set aid random(1, 100000)\n         0.050           0  BEGIN;\n         \
            0.150           0  UPDATE t SET a = 1;\n";
        assert_eq!(statements_of(report), 2);
        assert_eq!(statements_of("tps = 1\n"), 0);
    }
}
