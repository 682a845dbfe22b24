//! `dyno isolation`: finds out which isolation a server's transactions really have.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dyno_engine::Cache;
use dyno_isolation::{
    IsolatedSystem, IsolationError, IsolationOptions, IsolationReport, Level, Model, Verdict, isolation_test,
};
use dyno_printable::printable;
use dyno_report::json_text;
use dyno_settings::{Product, Profile, Translation};

use crate::commands::engine::system::{SystemArgument, install};
use crate::options::{REPLICAS_MAX, ReplicationWord, TextOrJson, setting};
use crate::{failure, interrupt, output};

/// Find out which isolation a server's transactions really have
#[derive(Debug, Args)]
#[command(
    after_help = "Clients run transactions that read lists and append to them. What they saw shows which transaction came before \
which; a cycle is an anomaly. docs/do/isolation.md explains the words.

Exit status: 0 no anomaly that the model excludes; 1 there is one; 2 an error; 3 not decided; 130 stopped by ^C.

Examples:
  dyno isolation postgres@18 --level serializable
  dyno isolation mysql@8.0.33 --level repeatable-read
  dyno isolation postgres --replicas 2 --model strict-serializable"
)]
pub(crate) struct Isolation {
    #[command(flatten)]
    system: SystemArgument,
    /// The isolation level that transactions ask for
    #[arg(long, value_parser = level(), default_value = Level::Serializable.as_str())]
    level: Level,
    /// The model to test (default: the model with the name of the level; snapshot-isolation for repeatable-read in
    /// PostgreSQL)
    #[arg(long, value_parser = model())]
    model: Option<Model>,
    /// Number of replicas; read-only transactions use them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(REPLICAS_MAX)))]
    replicas: Option<u32>,
    /// What a commit waits for: no replica, one, or all
    #[arg(long, value_enum, requires = "replicas", default_value_t = ReplicationWord::Asynchronous)]
    replication: ReplicationWord,
    /// Profile of settings: stock, like-56, safe, fast or a .toml file
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// A server variable; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// Number of transactions
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    transactions: u64,
    /// Number of clients
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=256))]
    clients: u32,
    /// Seed of the transactions
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::as_str))
        .try_map(|name| Level::from_name(&name).ok_or("unknown"))
}

fn model() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(Model::ALL.map(Model::as_str))
        .try_map(|name| Model::from_name(&name).ok_or("unknown"))
}

impl Isolation {
    /// Errors have an exit status other than 1, because 1 is an answer of this command.
    pub(crate) fn execute(&self) -> ExitCode {
        failure::of_gate(self.answer())
    }

    fn answer(&self) -> anyhow::Result<ExitCode> {
        let cache = Cache::default_location();
        let storage_engine = self.system.storage_engine()?;
        let installation = install(&self.system.name, &cache)?;
        let family = installation.entry.family;
        let product = Product::of(&installation.entry, storage_engine.as_deref())?;
        let changes: BTreeMap<_, _> = self.settings.iter().cloned().collect();
        let settings = match &self.profile {
            Some(profile) => {
                let Translation { settings, left_out } =
                    Profile::find(profile)?.translate(&product, &changes)?;
                for left in left_out {
                    output::tell(&format!("left out: {} ({})", left.name, left.reason));
                }
                settings
            }
            None => changes,
        };
        let level = self.level;
        let replication = self.replicas.map(|replicas| self.replication.of(replicas, family));
        let options = IsolationOptions {
            level,
            model: self.model.unwrap_or_else(|| level.model(family)),
            replication: replication.transpose()?,
            clients: self.clients,
            transactions: self.transactions,
            seed: self.seed,
        };
        let system = IsolatedSystem { installation, storage_engine, settings, data_root: cache.runs() };
        let stop = interrupt::stop_flag()?;
        output::tell(&format!("running {} transactions", self.transactions));
        let report = match isolation_test(&system, &options, &stop) {
            Err(IsolationError::Stopped) => return Ok(interrupt::exit_code()),
            report => report?,
        };
        output::print(&match self.format {
            TextOrJson::Text => text(&report),
            TextOrJson::Json => json_text(&report),
        })?;
        Ok(match report.verdict {
            Verdict::Kept => ExitCode::SUCCESS,
            Verdict::Broken => ExitCode::FAILURE,
            Verdict::Unknown => ExitCode::from(failure::NOT_DECIDED),
        })
    }
}

fn text(report: &IsolationReport) -> String {
    let readers = report
        .replicas
        .map(|it| format!("{}, {}, for transactions that only read", it.replicas, it.replication.as_str()));
    let strongest = report.strongest.map_or("none", Model::as_str);
    let rows = [
        ("system", Some(format!("{}, version {}", report.system, report.version))),
        ("level", Some(report.level.as_str().to_owned())),
        ("replicas", readers),
        ("transactions", Some(transactions(report))),
        ("anomalies", Some(anomalies(report))),
        ("strongest model", Some(format!("{strongest}: the strongest that nothing seen contradicts"))),
        ("verdict", Some(verdict(report))),
    ];
    let mut text = String::new();
    for (name, value) in rows.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        let _ = writeln!(text, "{name:<20}{}", printable(&value));
    }
    for anomaly in &report.anomalies {
        let _ = write!(text, "\n{}, for example:\n", anomaly.kind);
        for line in anomaly.example.lines() {
            let _ = writeln!(text, "  {}", printable(line));
        }
    }
    text
}

fn transactions(report: &IsolationReport) -> String {
    let IsolationReport { committed, failed, unknown, clients, seed, .. } = report;
    format!("{committed} committed, {failed} rolled back, {unknown} in doubt; {clients} clients, seed {seed}")
}

fn anomalies(report: &IsolationReport) -> String {
    if report.anomalies.is_empty() {
        return "none".to_owned();
    }
    let of = |it: &dyno_isolation::AnomalyReport| format!("{} ({})", it.kind, it.count);
    report.anomalies.iter().map(of).collect::<Vec<_>>().join(", ")
}

fn verdict(report: &IsolationReport) -> String {
    let model = report.model.as_str();
    match report.verdict {
        Verdict::Kept => format!("no anomaly that {model} excludes"),
        Verdict::Broken => format!("NOT {model}"),
        Verdict::Unknown => "none: the search for cycles did not end, or nothing was committed".to_owned(),
    }
}
