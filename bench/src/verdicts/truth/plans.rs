//! The plans of the calibration.

use std::fmt::Write as _;

/// Settings of every server: the data is in memory, and nothing is synced to disk, neither at commits nor once a
/// second. Therefore only the server and the machine cause variation.
const SETTINGS: &str = "innodb_buffer_pool_size = \"128M\", innodb_log_file_size = \"96M\", \
    innodb_flush_log_at_trx_commit = 2, innodb_flush_log_at_timeout = 2700, performance_schema = 0";
/// The engine of most parts. The part with equal systems uses [`EQUAL_ENGINES`].
pub(super) const ENGINE: &str = "mariadb@10.11/innodb";
/// The engines of the equal systems, each with its number of families.
pub(super) const EQUAL_ENGINES: [(&str, u32); 4] =
    [(ENGINE, 60), ("mysql@9.7.4/innodb", 20), ("postgres@18.4", 20), ("sqlite", 20)];

/// A step: id, workload, operation and options.
type Test = (&'static str, &'static str, &'static str, &'static str);
/// The steps of the equal systems, which read and write.
const EQUALS: [Test; 6] = [
    ("point-select", "oltp_point_select", "query", ""),
    ("read-only", "oltp_read_only", "transaction", "range_size = 10"),
    ("update-index", "oltp_update_index", "query", ""),
    ("update-non-index", "oltp_update_non_index", "query", ""),
    ("read-write", "oltp_read_write", "transaction", "range_size = 10"),
    ("insert", "oltp_insert", "query", ""),
];
/// The numbers of clients in the plans of [`equals`]. SQLite runs with one client only, because only one connection at a
/// time may write.
const EQUALS_CLIENTS: [u32; 2] = [1, 4];
/// Rounds of a family. They are enough for a verdict on every test of the family under each correction, also with
/// two looks.
pub(super) const FAMILY_ROUNDS: u32 = 10;
/// Time limit of a run of `first-look`.
pub(super) const FIRST_LOOK_SECONDS: f64 = 240.0;

/// A difference that is known by construction. The candidate's events have more statements of the same kind than
/// the base's events, and take proportionally longer.
#[derive(Clone, Copy)]
pub(super) struct Planted {
    pub(super) name: &'static str,
    /// Number of statements in an event, for the base and for the candidate.
    pub(super) statements: [u32; 2],
    /// The wall time that a search may take, restarts included, in seconds.
    pub(super) wall_seconds: f64,
    /// Estimated number of rounds in that time.
    rounds: u32,
    /// Measured time of each system in a round, in seconds.
    seconds: f64,
    /// Number of searches.
    pub(super) searches: u32,
}

impl Planted {
    pub(super) const TWO_PERCENT: Self = Self {
        name: "2% planted, 120 s of wall time",
        statements: [50, 51],
        wall_seconds: 120.0,
        rounds: 20,
        seconds: 0.75,
        searches: 30,
    };
    /// A difference of 5%. Instances of one server vary by about 2%, so many instances are more useful than long
    /// measurements. Therefore there are many short rounds.
    pub(super) const FIVE_PERCENT: Self = Self {
        name: "5% planted, 45 s of wall time",
        statements: [20, 21],
        wall_seconds: 45.0,
        rounds: 10,
        seconds: 0.375,
        searches: 40,
    };
}

fn head(names: [&str; 2], rounds: u32, seconds: f64, systems: [(&str, &str); 2]) -> String {
    let systems = systems.map(|(id, more)| (id, ENGINE, more));
    head_of(names, rounds, seconds, SETTINGS, systems)
}

/// The plan without its steps.
fn head_of(
    [name, title]: [&str; 2],
    rounds: u32,
    seconds: f64,
    settings: &str,
    systems: [(&str, &str, &str); 2],
) -> String {
    let mut text = format!(
        "name = \"truth-{name}\"\ntitle = \"{title}\"\nbase = \"a\"\nrounds = {rounds}\nclients = [4]\n\
         seconds = {seconds}\nwarmup_seconds = 0.1\nwarm = true\n[data]\ntables = 1\nrows = 10000\n"
    );
    for (id, engine, more) in systems {
        let _ = write!(
            text,
            "[[system]]\nid = \"{id}\"\nengine = \"{engine}\"\nsettings = {{ {settings}{more} }}\n"
        );
    }
    text += "[[step]]\nid = \"load\"\ngroup = \"load\"\ncommand = \"prepare\"\nworkload = \"oltp_read_write\"\n\
             operation = \"row\"\nclients = [1]\n";
    text
}

/// A plan in which both systems are the same server, with enough rounds for `families` families.
pub(super) fn equals(engine: &str, families: u32) -> String {
    let clients = if engine.starts_with("sqlite") { &EQUALS_CLIENTS[..1] } else { &EQUALS_CLIENTS };
    let settings = if engine == ENGINE { SETTINGS } else { "" };
    let systems = [("a", engine, ""), ("b", engine, "")];
    let product = engine.split('@').next().unwrap_or(engine);
    let (name, title) = (format!("equals-{product}"), format!("equals, {engine}"));
    let mut text = head_of([&name, &title], families * FAMILY_ROUNDS, 0.2, settings, systems);
    for (id, workload, operation, options) in EQUALS {
        let _ = write!(
            text,
            "[[step]]\nid = \"{id}\"\ngroup = \"all\"\nworkload = \"{workload}\"\noperation = \"{operation}\"\n\
             options = {{ {options} }}\nclients = {clients:?}\n"
        );
    }
    text
}

/// Number of pairs of instances. The width of the interval is measured for each pair.
const WIDTH_PAIRS: u32 = 6;

/// A plan with point selects on pairs of instances, 30 s on each instance.
pub(super) fn width() -> String {
    let names = ["width", "one fresh pair, 60 s of point selects"];
    let text = head(names, WIDTH_PAIRS, 30.0, [("a", ""), ("b", "")]);
    text + "[[step]]\nid = \"point-select\"\ngroup = \"all\"\nworkload = \"oltp_point_select\"\noperation = \"query\"\n"
}

/// Steps that are measured both in slices and in whole trials, with their warm-up in seconds. The steps that write
/// come last, because MySQL 5.6 writes faster and faster for half a minute after a load, and only steady rates can
/// be compared.
pub(super) const BIAS: [(Test, f64); 3] = [(EQUALS[0], 0.1), (EQUALS[4], 10.0), (EQUALS[2], 10.0)];
/// Suffix of the name of a step with whole trials.
pub(super) const WHOLE: &str = "-whole";

/// A plan that measures each step in two ways: in slices (20 s in total), and in whole trials of one minute. Both
/// use the same instances of two different servers.
pub(super) fn bias(rounds: u32) -> String {
    let systems = [("a", "mysql@5.6.24/innodb", ""), ("b", ENGINE, "")];
    let names = ["bias", "slices beside whole trials of 60 s"];
    let mut text = head_of(names, rounds, 20.0, SETTINGS, systems);
    for ((id, workload, operation, options), warmup_seconds) in BIAS {
        for (mark, more) in [("", ""), (WHOLE, "seconds = 60\nslice_seconds = \"whole\"\n")] {
            let _ = write!(
                text,
                "[[step]]\nid = \"{id}{mark}\"\ngroup = \"all\"\nworkload = \"{workload}\"\n\
                 operation = \"{operation}\"\nwarmup_seconds = {warmup_seconds}\n{more}options = {{ {options} }}\n"
            );
        }
    }
    text
}

/// Number of rounds for a ratio of slices. Together, they measure a system as long as one whole trial does.
pub(super) const SEQUENTIAL_SLICED_ROUNDS: u32 = 8;
/// Measured seconds of each system in a round of slices.
const SEQUENTIAL_SECONDS: u32 = 2;

/// A plan in which both systems are the same server. It measures slices and whole trials on the same instances.
pub(super) fn sequential(rounds: u32) -> String {
    let seconds = f64::from(SEQUENTIAL_SECONDS);
    let names = ["sequential", "slices beside trials one after the other"];
    let mut text = head(names, rounds, seconds, [("a", ""), ("b", "")]);
    let whole = SEQUENTIAL_SECONDS * SEQUENTIAL_SLICED_ROUNDS;
    let whole = format!("seconds = {whole}\nslice_seconds = \"whole\"\n");
    for (mark, more) in [("", ""), (WHOLE, whole.as_str())] {
        let _ = write!(
            text,
            "[[step]]\nid = \"reads{mark}\"\ngroup = \"all\"\nworkload = \"oltp_point_select\"\n\
             operation = \"query\"\n{more}"
        );
    }
    text
}

/// A plan whose candidate sends more statements per event. A server variable that has no effect in this workload
/// carries the number of statements to the script.
pub(super) fn planted(planted: Planted, name: &str, searches: u32) -> String {
    let [base, candidate] = planted.statements.map(|n| format!(", max_connect_errors = {n}"));
    let rounds = planted.rounds * searches;
    let systems = [("a", base.as_str()), ("b", candidate.as_str())];
    let mut text = head([name, planted.name], rounds, planted.seconds, systems);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/verdicts/truth/planted.lua");
    for kind in ["reads", "writes"] {
        let _ = write!(
            text,
            "[[step]]\nid = \"{kind}\"\ngroup = \"all\"\nworkload = \"{script}\"\noperation = \"transaction\"\n\
             options = {{ kind = \"{kind}\" }}\n"
        );
    }
    text
}

/// The built-in plan `first-look`, which runs until its tests are decided. `number` distinguishes the runs.
pub(super) fn first_look(number: u32) -> String {
    let text = include_str!("../../../../plans/first-look.toml");
    let text = text.replacen("name = \"first-look\"", &format!("name = \"truth-first-look-{number}\""), 1);
    text.replacen("rounds = 16 ", "rounds = \"until-decided\"\nrounds_max = 16 ", 1)
}
