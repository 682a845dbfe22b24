//! The options that every test has, in the groups of `--help`.

use super::definition::{Definition, Kind};

/// Options that belong together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) options: &'static [Definition],
}

/// Every group, in the order of `--help`.
pub(crate) fn groups() -> &'static [Group] {
    GROUPS
}

/// The option with this name (dashes).
pub(crate) fn find(name: &str) -> Option<&'static Definition> {
    GROUPS.iter().flat_map(|group| group.options).find(|option| option.name == name)
}

const fn option(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    help: &'static str,
) -> Definition {
    Definition { name, kind, default, help }
}

const GROUPS: &[Group] = &[
    Group { title: "General options", options: GENERAL },
    Group { title: "Random number options", options: RANDOM },
    Group { title: "Report options", options: REPORT },
    Group { title: "Database options", options: DATABASE },
    Group { title: "mysql options", options: MYSQL },
    Group { title: "pgsql options", options: PGSQL },
    Group { title: "sqlite options", options: SQLITE },
    Group { title: "Options that sysbench does not have", options: DYNO },
];

const GENERAL: &[Definition] = &[
    option("threads", Kind::Whole, Some("1"), "connections, or threads of a test without a database"),
    option("events", Kind::Whole, Some("0"), "stop after this many events; 0: no limit"),
    option("time", Kind::Number, Some("10"), "stop after this many seconds; 0: no limit"),
    option("warmup-time", Kind::Number, Some("0"), "seconds to run before measuring begins"),
    option(
        "forced-shutdown",
        Kind::Text,
        Some("off"),
        "drop what is still running this many seconds after --time, with exit status 2; or 'off'",
    ),
    option(
        "thread-stack-size",
        Kind::Size,
        Some("64K"),
        "accepted; stacks here are as large as they must be",
    ),
    option("thread-init-timeout", Kind::Whole, Some("30"), "seconds in which all connections must be open"),
    option(
        "rate",
        Kind::Rate,
        Some("0"),
        "events due a second over all connections, such as 1000 or 0:1000@60s,1000@120s; 0: as fast as it goes",
    ),
    option("debug", Kind::Flag, Some("off"), "say more (--verbosity=5)"),
    option("validate", Kind::Flag, Some("off"), "have scripts check what they can"),
    option("help", Kind::Flag, Some("off"), "print this and exit"),
    option("version", Kind::Flag, Some("off"), "print the version and exit"),
    option("config-file", Kind::File, None, "a file of options, one 'name=value' a line"),
    option(
        "luajit-cmd",
        Kind::Choice(&["on", "off", "flush"]),
        None,
        "command to LuaJIT before a script is run",
    ),
    option("test", Kind::File, None, "deprecated: the test as a word of the command line"),
    option("tx-rate", Kind::Rate, None, "deprecated: --rate"),
    option("max-requests", Kind::Whole, None, "deprecated: --events"),
    option("max-time", Kind::Number, None, "deprecated: --time"),
    option("num-threads", Kind::Whole, None, "deprecated: --threads"),
];

const RANDOM: &[Definition] = &[
    option(
        "rand-type",
        Kind::Choice(&["uniform", "gaussian", "special", "pareto", "zipfian"]),
        None,
        "distribution of random numbers [special; with --compat=1.1 uniform]",
    ),
    option("rand-spec-iter", Kind::Whole, Some("12"), "numbers that are summed for a gaussian one"),
    option("rand-spec-pct", Kind::Whole, Some("1"), "special: percent of the values that are picked often"),
    option("rand-spec-res", Kind::Whole, Some("75"), "special: percent of the picks that these get"),
    option("rand-seed", Kind::Whole, Some("0"), "seed of all random numbers; 0: another one each time"),
    option("rand-pareto-h", Kind::Number, Some("0.2"), "pareto: its parameter h"),
    option("rand-zipfian-exp", Kind::Number, Some("0.8"), "zipfian: its exponent"),
];

const REPORT: &[Definition] = &[
    option(
        "verbosity",
        Kind::Whole,
        Some("3"),
        "what to print: 0 fatal errors only, 3 reports, 5 everything",
    ),
    option("report-interval", Kind::Number, Some("0"), "seconds between lines of progress; 0: none"),
    option(
        "report-checkpoints",
        Kind::Numbers,
        Some(""),
        "seconds after which to print a whole report and begin a new one",
    ),
    option("percentile", Kind::Numbers, Some("95"), "percentiles of latency to print; 0: none"),
    option("histogram", Kind::Flag, Some("off"), "print the distribution of latencies"),
];

const DATABASE: &[Definition] = &[
    option("db-driver", Kind::Choice(&["mysql", "pgsql", "sqlite"]), Some("mysql"), "mysql, pgsql or sqlite"),
    option("db-ps-mode", Kind::Choice(&["auto", "disable"]), Some("auto"), "'auto': prepare on the server"),
    option("db-debug", Kind::Flag, Some("off"), "accepted; errors are always told in full"),
];

const MYSQL: &[Definition] = &[
    option("mysql-host", Kind::List, Some("localhost"), "hosts, taken in turn"),
    option("mysql-port", Kind::List, Some("3306"), "ports, taken in turn"),
    option("mysql-socket", Kind::List, None, "unix sockets, taken in turn, in place of hosts"),
    option("mysql-user", Kind::Text, Some("sbtest"), "account"),
    option("mysql-password", Kind::Text, Some(""), "password"),
    option("mysql-db", Kind::Text, Some("sbtest"), "database"),
    option(
        "mysql-ssl",
        Kind::Choice(&["off", "on", "DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"]),
        Some("off"),
        "encryption: off, on (REQUIRED), or one of MySQL's modes",
    ),
    option("mysql-ssl-ca", Kind::File, None, "certificates to trust (PEM)"),
    option("mysql-ssl-cert", Kind::File, None, "the client's certificate (PEM)"),
    option("mysql-ssl-key", Kind::File, None, "the client's private key (PEM)"),
    option(
        "mysql-ssl-cipher",
        Kind::Text,
        Some(""),
        "ciphers to offer, by OpenSSL's names (not its keywords, such as HIGH), with colons; default: all",
    ),
    option("mysql-compression", Kind::Flag, Some("off"), "compress what travels, where the server can"),
    option(
        "mysql-compression-algorithms",
        Kind::Text,
        Some(""),
        "how to: zlib, zstd, uncompressed, several with commas; only as the list says",
    ),
    option("mysql-debug", Kind::Flag, Some("off"), "print every call of the database and what came of it"),
    option(
        "mysql-ignore-errors",
        Kind::List,
        Some("1213,1020,1205"),
        "errors after which an event is run again, or 'all'",
    ),
    option("mysql-dry-run", Kind::Flag, Some("off"), "send nothing: what the script itself costs"),
];

const PGSQL: &[Definition] = &[
    option("pgsql-host", Kind::Text, Some("localhost"), "host, or the folder of a unix socket"),
    option("pgsql-port", Kind::Whole, Some("5432"), "port"),
    option("pgsql-user", Kind::Text, Some("sbtest"), "account"),
    option("pgsql-password", Kind::Text, Some(""), "password"),
    option("pgsql-db", Kind::Text, Some("sbtest"), "database"),
    option(
        "pgsql-sslmode",
        Kind::Choice(&["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        Some("prefer"),
        "encryption, in libpq's words",
    ),
    option("pgsql-ssl-ca", Kind::File, None, "certificates to trust (PEM)"),
    option(
        "pgsql-ignore-errors",
        Kind::List,
        Some("40P01,23505,40001"),
        "SQL states after which an event is run again, or 'all'",
    ),
];

const SQLITE: &[Definition] =
    &[option("sqlite-db", Kind::File, Some("sbtest.db"), "database file, made where it is missing")];

const DYNO: &[Definition] = &[
    option(
        "rate-spacing",
        Kind::Choice(&["poisson", "constant"]),
        Some("poisson"),
        "how --rate spaces events",
    ),
    option("think-time", Kind::Number, Some("0"), "seconds that a connection waits between two events"),
    option(
        "scheduler",
        Kind::Choice(&["auto", "event", "thread"]),
        Some("auto"),
        "event: connections share event loops; thread: each has a thread",
    ),
    option("io", Kind::Choice(&["auto", "epoll", "uring"]), Some("auto"), "how event loops move bytes"),
    option("loops", Kind::Whole, Some("0"), "event loops; 0: half as many as CPUs"),
    option("format", Kind::Choice(&["text", "json"]), Some("text"), "json: one JSON object a line"),
    option(
        "compat",
        Kind::Choice(&["1.0", "1.1"]),
        Some("1.0"),
        "whose defaults and report: 1.0.20's or 1.1's",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_are_values_of_their_kind() {
        let all: Vec<_> = groups().iter().flat_map(|group| group.options).collect();
        for (n, option) in all.iter().enumerate() {
            assert!(all[..n].iter().all(|other| other.name != option.name), "{} is there twice", option.name);
            if let Some(default) = option.default {
                assert_eq!(option.kind.mismatch(default), None, "the default of {}", option.name);
            }
        }
    }
}
