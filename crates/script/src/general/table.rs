//! The table of sysbench's general options.

use super::{GeneralOption, OptionGroup, ValueKind, option};
use crate::info::OptionKind::{Double, String as Text};

/// Every group, in the order of `--help`.
pub(super) const GROUPS: &[OptionGroup] = &[
    OptionGroup { title: "General options", options: GENERAL },
    OptionGroup { title: "Random number options", options: RANDOM },
    OptionGroup { title: "Report options", options: REPORT },
    OptionGroup { title: "Database options", options: DATABASE },
    OptionGroup { title: "mysql options", options: MYSQL },
    OptionGroup { title: "pgsql options", options: PGSQL },
    OptionGroup { title: "sqlite options", options: SQLITE },
    OptionGroup { title: "Options that sysbench does not have", options: DYNO },
];

const GENERAL: &[GeneralOption] = &[
    option("threads", ValueKind::Whole, Some("1"), "connections, or threads of a test without a database"),
    option("events", ValueKind::Whole, Some("0"), "stop after this many events; 0: no limit"),
    option("time", ValueKind::Number, Some("10"), "stop after this many seconds; 0: no limit"),
    option("warmup-time", ValueKind::Number, Some("0"), "seconds to run before measuring begins"),
    option(
        "forced-shutdown",
        ValueKind::Text,
        Some("off"),
        "drop what is still running this many seconds after --time, with exit status 2; or 'off'",
    ),
    option(
        "thread-stack-size",
        ValueKind::Size,
        Some("64K"),
        "accepted; stacks here are as large as they must be",
    ),
    option(
        "thread-init-timeout",
        ValueKind::Whole,
        Some("30"),
        "seconds in which all connections must be open",
    ),
    option(
        "rate",
        ValueKind::Rate,
        Some("0"),
        "events due a second over all connections, such as 1000 or 0:1000@60s,1000@120s; 0: as fast as it goes",
    ),
    option("debug", ValueKind::Flag, Some("off"), "say more (--verbosity=5)"),
    option("validate", ValueKind::Flag, Some("off"), "have scripts check what they can"),
    option("help", ValueKind::Flag, Some("off"), "print this and exit"),
    option("version", ValueKind::Flag, Some("off"), "print the version and exit"),
    option("config-file", ValueKind::File, None, "a file of options, one 'name=value' a line").if_given(),
    option(
        "luajit-cmd",
        ValueKind::Choice(&["on", "off", "flush"]),
        None,
        "command to LuaJIT before a script is run",
    ),
    option("test", ValueKind::File, None, "deprecated: the test as a word of the command line").if_given(),
    option("tx-rate", ValueKind::Rate, None, "deprecated: --rate").older_name_of("rate"),
    option("max-requests", ValueKind::Whole, None, "deprecated: --events").older_name_of("events"),
    option("max-time", ValueKind::Number, None, "deprecated: --time").older_name_of("time"),
    option("num-threads", ValueKind::Whole, None, "deprecated: --threads").older_name_of("threads"),
];

const RANDOM: &[GeneralOption] = &[
    option(
        "rand-type",
        ValueKind::Choice(&["uniform", "gaussian", "special", "pareto", "zipfian"]),
        None,
        "distribution of random numbers [special; with --compat=1.1 uniform]",
    )
    .in_scripts(Text, Some("special")),
    option("rand-spec-iter", ValueKind::Whole, Some("12"), "numbers that are summed for a gaussian one"),
    option(
        "rand-spec-pct",
        ValueKind::Whole,
        Some("1"),
        "special: percent of the values that are picked often",
    )
    .in_scripts(Double, Some("1")),
    option("rand-spec-res", ValueKind::Whole, Some("75"), "special: percent of the picks that these get")
        .in_scripts(Double, Some("75")),
    option("rand-seed", ValueKind::Whole, Some("0"), "seed of all random numbers; 0: another one each time")
        .in_scripts(Double, Some("0")),
    option("rand-pareto-h", ValueKind::Number, Some("0.2"), "pareto: its parameter h"),
    option("rand-zipfian-exp", ValueKind::Number, Some("0.8"), "zipfian: its exponent"),
];

const REPORT: &[GeneralOption] = &[
    option(
        "verbosity",
        ValueKind::Whole,
        Some("3"),
        "what to print: 0 fatal errors only, 3 reports, 5 everything",
    ),
    option("report-interval", ValueKind::Number, Some("0"), "seconds between lines of progress; 0: none"),
    option(
        "report-checkpoints",
        ValueKind::Numbers,
        Some(""),
        "seconds after which to print a whole report and begin a new one",
    ),
    option("percentile", ValueKind::Numbers, Some("95"), "percentiles of latency to print; 0: none")
        .in_scripts(Double, Some("95")),
    option("histogram", ValueKind::Flag, Some("off"), "print the distribution of latencies"),
];

const DATABASE: &[GeneralOption] = &[
    option(
        "db-driver",
        ValueKind::Choice(&["mysql", "pgsql", "sqlite"]),
        Some("mysql"),
        "mysql, pgsql or sqlite",
    ),
    option(
        "db-ps-mode",
        ValueKind::Choice(&["auto", "disable"]),
        Some("auto"),
        "'auto': prepare on the server",
    ),
    option("db-debug", ValueKind::Flag, Some("off"), "accepted; errors are always told in full"),
];

const MYSQL: &[GeneralOption] = &[
    option("mysql-host", ValueKind::List, Some("localhost"), "hosts, taken in turn"),
    option("mysql-port", ValueKind::List, Some("3306"), "ports, taken in turn"),
    option("mysql-socket", ValueKind::List, None, "unix sockets, taken in turn, in place of hosts"),
    option("mysql-user", ValueKind::Text, Some("sbtest"), "account"),
    option("mysql-password", ValueKind::Text, Some(""), "password").secret(),
    option("mysql-db", ValueKind::Text, Some("sbtest"), "database"),
    option(
        "mysql-ssl",
        ValueKind::Choice(&[
            "off",
            "on",
            "DISABLED",
            "PREFERRED",
            "REQUIRED",
            "VERIFY_CA",
            "VERIFY_IDENTITY",
        ]),
        Some("off"),
        "encryption: off, on (REQUIRED), or one of MySQL's modes",
    )
    .if_given(),
    option("mysql-ssl-ca", ValueKind::File, None, "certificates to trust (PEM)"),
    option("mysql-ssl-cert", ValueKind::File, None, "the client's certificate (PEM)"),
    option("mysql-ssl-key", ValueKind::File, None, "the client's private key (PEM)"),
    option(
        "mysql-ssl-cipher",
        ValueKind::Text,
        Some(""),
        "ciphers to offer, by OpenSSL's names (not its keywords, such as HIGH), with colons; default: all",
    ),
    option("mysql-compression", ValueKind::Flag, Some("off"), "compress what travels, where the server can"),
    option(
        "mysql-compression-algorithms",
        ValueKind::Text,
        Some(""),
        "how to: zlib, zstd, uncompressed, several with commas; only as the list says",
    ),
    option(
        "mysql-debug",
        ValueKind::Flag,
        Some("off"),
        "print every call of the database and what came of it",
    ),
    option(
        "mysql-ignore-errors",
        ValueKind::List,
        Some("1213,1020,1205"),
        "errors after which an event is run again, or 'all'",
    ),
    option("mysql-dry-run", ValueKind::Flag, Some("off"), "send nothing: what the script itself costs"),
];

const PGSQL: &[GeneralOption] = &[
    option("pgsql-host", ValueKind::Text, Some("localhost"), "host, or the folder of a unix socket"),
    option("pgsql-port", ValueKind::Whole, Some("5432"), "port"),
    option("pgsql-user", ValueKind::Text, Some("sbtest"), "account"),
    option("pgsql-password", ValueKind::Text, Some(""), "password").secret(),
    option("pgsql-db", ValueKind::Text, Some("sbtest"), "database"),
    option(
        "pgsql-sslmode",
        ValueKind::Choice(&["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        Some("prefer"),
        "encryption, in libpq's words",
    ),
    option("pgsql-ssl-ca", ValueKind::File, None, "certificates to trust (PEM)").if_given(),
    option(
        "pgsql-ignore-errors",
        ValueKind::List,
        Some("40P01,23505,40001"),
        "SQL states after which an event is run again, or 'all'",
    )
    .if_given(),
];

const SQLITE: &[GeneralOption] =
    &[option("sqlite-db", ValueKind::File, Some("sbtest.db"), "database file, made where it is missing")
        .if_given()];

const DYNO: &[GeneralOption] = &[
    option(
        "rate-spacing",
        ValueKind::Choice(&["poisson", "constant"]),
        Some("poisson"),
        "how --rate spaces events",
    )
    .if_given(),
    option("think-time", ValueKind::Number, Some("0"), "seconds that a connection waits between two events")
        .if_given(),
    option(
        "scheduler",
        ValueKind::Choice(&["auto", "event", "thread"]),
        Some("auto"),
        "event: connections share event loops; thread: each has a thread",
    )
    .if_given(),
    option("io", ValueKind::Choice(&["auto", "epoll", "uring"]), Some("auto"), "how event loops move bytes")
        .if_given(),
    option("loops", ValueKind::Whole, Some("0"), "event loops; 0: half as many as CPUs").if_given(),
    option("format", ValueKind::Choice(&["text", "json"]), Some("text"), "json: one JSON object a line")
        .if_given(),
    option(
        "compat",
        ValueKind::Choice(&["1.0", "1.1"]),
        Some("1.0"),
        "whose defaults and report: 1.0.20's or 1.1's",
    )
    .if_given(),
];
