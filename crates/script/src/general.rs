//! sysbench's general and database options, which are in `sysbench.opt` beside the script's own.

use crate::info::{OptionKind, OptionSpec};

use OptionKind::{Bool, Double, File, Int, List, Size, String as Text};

/// Name, kind and default of each option of sysbench 1.0.20, then of the options that its main branch adds.
const GENERAL: &[(&str, OptionKind, Option<&str>)] = &[
    ("db_debug", Bool, Some("off")),
    ("db_driver", Text, None),
    ("db_ps_mode", Text, Some("auto")),
    ("debug", Bool, Some("off")),
    ("events", Int, Some("0")),
    ("forced_shutdown", Text, Some("off")),
    ("help", Bool, Some("off")),
    ("histogram", Bool, Some("off")),
    ("max_requests", Int, Some("0")),
    ("max_time", Int, Some("0")),
    ("mysql_compression", Bool, Some("off")),
    ("mysql_db", Text, Some("sbtest")),
    ("mysql_debug", Bool, Some("off")),
    ("mysql_dry_run", Bool, Some("off")),
    ("mysql_host", List, Some("localhost")),
    ("mysql_ignore_errors", List, Some("1213,1020,1205")),
    ("mysql_password", Text, None),
    ("mysql_port", List, Some("3306")),
    ("mysql_socket", List, None),
    ("mysql_ssl_cipher", Text, None),
    ("mysql_user", Text, Some("sbtest")),
    ("num_threads", Int, Some("1")),
    ("percentile", Double, Some("95")),
    ("pgsql_db", Text, Some("sbtest")),
    ("pgsql_host", Text, Some("localhost")),
    ("pgsql_password", Text, None),
    ("pgsql_port", Int, Some("5432")),
    ("pgsql_user", Text, Some("sbtest")),
    ("rand_pareto_h", Double, Some("0.2")),
    ("rand_seed", Double, Some("0")),
    ("rand_spec_iter", Int, Some("12")),
    ("rand_spec_pct", Double, Some("1")),
    ("rand_spec_res", Double, Some("75")),
    ("rand_type", Text, Some("special")),
    ("rate", Double, Some("0")),
    ("report_checkpoints", List, None),
    ("report_interval", Double, Some("0")),
    ("thread_stack_size", Size, Some("64K")),
    ("threads", Int, Some("1")),
    ("time", Double, Some("10")),
    ("tx_rate", Double, Some("0")),
    ("validate", Bool, Some("off")),
    ("verbosity", Int, Some("3")),
    ("version", Bool, Some("off")),
    ("luajit_cmd", Text, None),
    ("mysql_compression_algorithms", Text, None),
    ("mysql_ssl_ca", File, None),
    ("mysql_ssl_cert", File, None),
    ("mysql_ssl_key", File, None),
    ("pgsql_sslmode", Text, Some("prefer")),
    ("rand_zipfian_exp", Double, Some("0.8")),
    ("thread_init_timeout", Int, Some("30")),
    ("warmup_time", Double, Some("0")),
];

/// The general options, in the form of a script's declarations.
pub(crate) fn general_options() -> impl Iterator<Item = OptionSpec> {
    GENERAL.iter().map(|&(name, kind, default)| OptionSpec {
        name: name.to_owned(),
        description: String::new(),
        default: default.map(str::to_owned),
        kind,
    })
}
