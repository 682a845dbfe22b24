//! The table of sysbench's general options.

use super::ValueKind::{
    Choice, File, Flag, Fraction, List, MysqlErrors, Number, Numbers, Patience, Percentiles, Ports, Rate,
    Size, SqlStates, Text, UpTo, Whole, Within, Words,
};
use super::{GeneralOption, OptionGroup, option};
use crate::settings::info::OptionKind;

/// Every group, in the order of `--help`.
pub(super) const GROUPS: &[OptionGroup] = &[
    OptionGroup { title: "General options", options: GENERAL },
    OptionGroup { title: "Pseudo-Random Numbers Generator options", options: RANDOM },
    OptionGroup { title: "Log options", options: LOG },
    OptionGroup { title: "General database options", options: DATABASE },
    OptionGroup { title: "mysql options", options: MYSQL },
    OptionGroup { title: "pgsql options", options: PGSQL },
    OptionGroup { title: "sqlite options", options: SQLITE },
    OptionGroup { title: "Options that sysbench does not have", options: DYNO },
];

const GENERAL: &[GeneralOption] = &[
    option(
        "threads",
        Within(1, 1_000_000),
        Some("1"),
        "connections, or threads of a test without a database",
    ),
    option("events", Whole, Some("0"), "stop after this many events; 0: no limit"),
    option("time", Number, Some("10"), "stop after this many seconds; 0: no limit"),
    option("warmup-time", Number, Some("0"), "seconds to run before measuring begins"),
    option(
        "forced-shutdown",
        Patience,
        Some("off"),
        "drop what is still running this many seconds after --time, with exit status 2; or 'off'",
    ),
    option("thread-stack-size", Size, Some("64K"), "has no effect: stacks are as large as they must be")
        .without_effect(),
    option("thread-init-timeout", Whole, Some("30"), "seconds in which all connections must be open"),
    option(
        "rate",
        Rate,
        Some("0"),
        "events due a second over all connections, such as 1000 or 0:1000@60s,1000@120s; 0: as fast as it goes",
    ),
    option("report-interval", Number, Some("0"), "seconds between lines of progress; 0: none"),
    option(
        "report-checkpoints",
        Numbers,
        Some(""),
        "seconds after which to print a whole report and begin a new one",
    ),
    option("debug", Flag, Some("off"), "say more (--verbosity=5)"),
    option("validate", Flag, Some("off"), "have scripts check what they can"),
    option("help", Flag, Some("off"), "print this and exit"),
    option("version", Flag, Some("off"), "print the version and exit"),
    option("config-file", File, None, "a file of options, one 'name=value' a line").if_given(),
    option("luajit-cmd", Choice(&["on", "off", "flush"]), None, "command to LuaJIT before a script is run"),
    option("test", File, None, "deprecated: the test as a word of the command line").if_given(),
    option("tx-rate", Rate, None, "deprecated: --rate").older_name_of("rate"),
    option("max-requests", Whole, None, "deprecated: --events").older_name_of("events"),
    option("max-time", Number, None, "deprecated: --time").older_name_of("time"),
    option("num-threads", Within(1, 1_000_000), None, "deprecated: --threads").older_name_of("threads"),
];

const RANDOM: &[GeneralOption] = &[
    option(
        "rand-type",
        Choice(&["uniform", "gaussian", "special", "pareto", "zipfian"]),
        None,
        "distribution of random numbers [special; with --compat=1.1 uniform]",
    )
    .in_scripts(OptionKind::String, Some("special")),
    option(
        "rand-spec-iter",
        Within(1, 1_000_000),
        Some("12"),
        "uniform numbers whose sum makes a gaussian number",
    ),
    option(
        "rand-spec-pct",
        Within(0, 100),
        Some("1"),
        "special: percent of the values that are picked often",
    )
    .in_scripts(OptionKind::Double, Some("1")),
    option("rand-spec-res", Within(0, 100), Some("75"), "special: percent of the picks that these get")
        .in_scripts(OptionKind::Double, Some("75")),
    option("rand-seed", Whole, Some("0"), "seed of all random numbers; 0: another one each time")
        .in_scripts(OptionKind::Double, Some("0")),
    option("rand-pareto-h", Fraction, Some("0.2"), "pareto: its parameter h"),
    option("rand-zipfian-exp", UpTo(100), Some("0.8"), "zipfian: its exponent"),
];

const LOG: &[GeneralOption] = &[
    option(
        "verbosity",
        Within(0, 5),
        Some("3"),
        "what to print: 0 fatal errors only, 3 reports, 5 everything",
    ),
    option("percentile", Percentiles, Some("95"), "percentiles of latency to print; 0: none")
        .in_scripts(OptionKind::Double, Some("95")),
    option("histogram", Flag, Some("off"), "print the distribution of latencies"),
];

const DATABASE: &[GeneralOption] = &[
    option("db-driver", Choice(&["mysql", "pgsql", "sqlite"]), Some("mysql"), "mysql, pgsql or sqlite"),
    option("db-ps-mode", Choice(&["auto", "disable"]), Some("auto"), "'auto': prepare on the server"),
    option("db-debug", Flag, Some("off"), "print every call of the database and its result"),
];

const MYSQL: &[GeneralOption] = &[
    option("mysql-host", List, Some("localhost"), "hosts, taken in turn"),
    option("mysql-port", Ports, Some("3306"), "ports, taken in turn"),
    option("mysql-socket", List, None, "unix sockets, taken in turn, in place of hosts"),
    option("mysql-user", Text, Some("sbtest"), "account"),
    option("mysql-password", Text, Some(""), "password").secret(),
    option("mysql-db", Text, Some("sbtest"), "database"),
    option(
        "mysql-ssl",
        Choice(&["off", "on", "DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"]),
        Some("off"),
        "encryption: off, on (REQUIRED), or one of MySQL's modes",
    )
    .if_given(),
    option("mysql-ssl-ca", File, None, "certificates to trust (PEM)"),
    option("mysql-ssl-cert", File, None, "the client's certificate (PEM)"),
    option("mysql-ssl-key", File, None, "the client's private key (PEM)"),
    option(
        "mysql-ssl-cipher",
        Text,
        Some(""),
        "ciphers to offer, by OpenSSL's names (not its keywords, such as HIGH), with colons; default: all",
    ),
    option(
        "mysql-server-public-key-path",
        File,
        None,
        "the server's RSA key (PEM), with which a password is encrypted without TLS",
    )
    .if_given(),
    option(
        "mysql-get-server-public-key",
        Flag,
        Some("off"),
        "give the password to whoever answers, encrypted with the key that it sends, or over TLS",
    )
    .if_given(),
    option(
        "mysql-enable-cleartext-plugin",
        Flag,
        Some("off"),
        "send the password in clear text to whoever asks for it",
    )
    .if_given(),
    option("mysql-compression", Flag, Some("off"), "compress what travels, where the server can"),
    option(
        "mysql-compression-algorithms",
        Words(&["zlib", "zstd", "uncompressed"]),
        Some(""),
        "how to: zlib, zstd, uncompressed, several with commas; only as the list says",
    ),
    option("mysql-debug", Flag, Some("off"), "print every call of the database and its result"),
    option(
        "mysql-ignore-errors",
        MysqlErrors,
        Some("1213,1020,1205"),
        "errors after which an event is run again, or 'all'",
    ),
    option("mysql-dry-run", Flag, Some("off"), "send nothing: what the script itself costs"),
];

const PGSQL: &[GeneralOption] = &[
    option(
        "pgsql-host",
        Text,
        Some("localhost"),
        "host, or the folder of a unix socket; of several with commas the first that lets in",
    ),
    option("pgsql-port", Within(1, 65_535), Some("5432"), "port"),
    option("pgsql-user", Text, Some("sbtest"), "account"),
    option("pgsql-password", Text, Some(""), "password").secret(),
    option("pgsql-db", Text, Some("sbtest"), "database"),
    option(
        "pgsql-sslmode",
        Choice(&["disable", "prefer", "require", "verify-ca", "verify-full"]),
        Some("prefer"),
        "encryption, in libpq's words",
    ),
    option("pgsql-ssl-ca", File, None, "certificates to trust (PEM)").if_given(),
    option(
        "pgsql-require-auth",
        Words(&["password", "md5", "scram-sha-256", "none"]),
        Some(""),
        "methods of authentication to accept: password, md5, scram-sha-256, none; password goes in clear text to whoever asks",
    )
    .if_given(),
    option(
        "pgsql-ignore-errors",
        SqlStates,
        Some("40P01,23505,40001"),
        "SQL states after which an event is run again, or 'all'",
    )
    .if_given(),
];

const SQLITE: &[GeneralOption] =
    &[option("sqlite-db", File, Some("sbtest.db"), "database file, made where it is missing").if_given()];

const DYNO: &[GeneralOption] = &[
    option(
        "connect-timeout",
        Number,
        Some("0"),
        "seconds in which a server must let a connection in; 0: those of --thread-init-timeout",
    )
    .if_given(),
    option("rate-spacing", Choice(&["poisson", "constant"]), Some("poisson"), "how --rate spaces events")
        .if_given(),
    option("think-time", Number, Some("0"), "seconds that a connection waits between two events").if_given(),
    option(
        "scheduler",
        Choice(&["auto", "event", "thread"]),
        Some("auto"),
        "event: connections share event loops; thread: each has a thread",
    )
    .if_given(),
    option("io", Choice(&["auto", "epoll", "uring"]), Some("auto"), "how event loops move bytes").if_given(),
    option("loops", Within(0, 65_536), Some("0"), "event loops; 0: half as many as CPUs").if_given(),
    option("format", Choice(&["text", "json"]), Some("text"), "json: one JSON object a line").if_given(),
    option("compat", Choice(&["1.0", "1.1"]), Some("1.0"), "whose defaults and report: 1.0.20's or 1.1's")
        .if_given(),
];
