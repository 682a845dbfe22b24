//! The plans of the calibration.

use std::fmt::Write as _;

/// Settings of every server: in memory, nothing synced, so that what varies is the server and the machine.
const SETTINGS: &str = "innodb_buffer_pool_size = \"128M\", innodb_log_file_size = \"96M\", \
    innodb_flush_log_at_trx_commit = 2, performance_schema = 0";
const ENGINE: &str = "mariadb@10.11/innodb";

/// Steps of equals: what is read and what is written.
const EQUALS: [(&str, &str, &str, &str); 6] = [
    ("point-select", "oltp_point_select", "query", ""),
    ("read-only", "oltp_read_only", "transaction", "range_size = 10"),
    ("update-index", "oltp_update_index", "query", ""),
    ("update-non-index", "oltp_update_non_index", "query", ""),
    ("read-write", "oltp_read_write", "transaction", "range_size = 10"),
    ("insert", "oltp_insert", "query", ""),
];
/// How many steps that are.
pub(super) const EQUALS_STEPS: u32 = EQUALS.len() as u32;

/// A difference that is known by construction: an event of more equal statements takes so much longer.
#[derive(Clone, Copy)]
pub(super) struct Planted {
    pub(super) name: &'static str,
    /// Statements of an event of the base, and of the candidate.
    pub(super) statements: [u32; 2],
    /// Rounds that a search may take.
    pub(super) rounds: u32,
    /// Measured time of a system in a round.
    pub(super) seconds: f64,
}

impl Planted {
    /// 60 s of measuring a test: 40 rounds of two systems.
    pub(super) const TWO_PERCENT: Self =
        Self { name: "2% planted, 60 s", statements: [50, 51], rounds: 40, seconds: 0.75 };
    /// 15 s of measuring a test.
    pub(super) const FIVE_PERCENT: Self =
        Self { name: "5% planted, 15 s", statements: [20, 21], rounds: 10, seconds: 0.75 };
}

fn head(title: &str, rounds: u32, seconds: f64, systems: [(&str, &str); 2]) -> String {
    let systems = systems.map(|(id, more)| (id, ENGINE, more));
    head_of(title, rounds, seconds, systems)
}

fn head_of(title: &str, rounds: u32, seconds: f64, systems: [(&str, &str, &str); 2]) -> String {
    let mut text = format!(
        "name = \"truth\"\ntitle = \"{title}\"\nbase = \"a\"\nrounds = {rounds}\nclients = [4]\n\
         seconds = {seconds}\nwarmup_seconds = 0.1\nwarm = true\n[data]\ntables = 1\nrows = 10000\n"
    );
    for (id, engine, more) in systems {
        let _ = write!(
            text,
            "[[system]]\nid = \"{id}\"\nengine = \"{engine}\"\nsettings = {{ {SETTINGS}{more} }}\n"
        );
    }
    text += "[[step]]\nid = \"load\"\ngroup = \"load\"\ncommand = \"prepare\"\nworkload = \"oltp_read_write\"\n\
             operation = \"row\"\nclients = [1]\n";
    text
}

/// The same server as two systems, in rounds enough for so many verdicts of so many rounds each.
pub(super) fn equals(verdicts: u32, rounds: u32, steps: u32) -> String {
    let groups = verdicts.div_ceil(steps);
    let mut text = head("equals", groups * rounds, 0.2, [("a", ""), ("b", "")]);
    for (id, workload, operation, options) in EQUALS {
        let _ = write!(
            text,
            "[[step]]\nid = \"{id}\"\ngroup = \"all\"\nworkload = \"{workload}\"\noperation = \"{operation}\"\n\
             options = {{ {options} }}\n"
        );
    }
    text
}

/// Point selects of one pair of servers, 30 s each.
pub(super) fn width() -> String {
    let text = head("one fresh pair, 60 s of point selects", 1, 30.0, [("a", ""), ("b", "")]);
    text + "[[step]]\nid = \"point-select\"\ngroup = \"all\"\nworkload = \"oltp_point_select\"\noperation = \"query\"\n"
}

/// What is measured in slices and in whole trials, of two servers that differ.
pub(super) const BIAS: [(&str, &str, &str, &str); 3] = [EQUALS[0], EQUALS[2], EQUALS[4]];
/// What marks the step of a whole trial.
pub(super) const WHOLE: &str = "-whole";

/// The same steps in slices, and in whole trials of a minute, each from the same state of the data: the rate of some
/// servers changes for a minute after a load.
pub(super) fn bias(rounds: u32) -> String {
    let systems = [("a", "mysql@5.6.24/innodb", ""), ("b", ENGINE, "")];
    let text = head_of("slices beside whole trials of 60 s", rounds, 30.0, systems);
    let mut text = text.replacen("warm = true\n", "warm = true\nbetween_steps = \"restore\"\n", 1);
    for (id, workload, operation, options) in BIAS {
        for (mark, more) in [("", ""), (WHOLE, "seconds = 60\nslice_seconds = \"whole\"\n")] {
            let _ = write!(
                text,
                "[[step]]\nid = \"{id}{mark}\"\ngroup = \"all\"\nworkload = \"{workload}\"\n\
                 operation = \"{operation}\"\n{more}options = {{ {options} }}\n"
            );
        }
    }
    text
}

/// A candidate that sends more statements an event: each server tells its own number by a variable that does nothing
/// here.
pub(super) fn planted(planted: Planted, searches: u32) -> String {
    let [base, candidate] = planted.statements.map(|n| format!(", max_connect_errors = {n}"));
    let rounds = planted.rounds * searches;
    let mut text = head(planted.name, rounds, planted.seconds, [("a", &base), ("b", &candidate)]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/truth/planted.lua");
    for kind in ["reads", "writes"] {
        let _ = write!(
            text,
            "[[step]]\nid = \"{kind}\"\ngroup = \"all\"\nworkload = \"{script}\"\noperation = \"transaction\"\n\
             options = {{ kind = \"{kind}\" }}\n"
        );
    }
    text
}
