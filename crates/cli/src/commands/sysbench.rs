//! `dyno sysbench`: the drop-in for the `sysbench` command, whose arguments are not ours to parse.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

/// Be the sysbench command: its options, its scripts, its output
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
#[command(after_help = "Example:
  dyno sysbench oltp_read_only --mysql-socket=/tmp/mysql.sock --threads=8 --time=60 run")]
pub(crate) struct Sysbench {
    /// What the sysbench command would be given; `--help` lists it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Sysbench {
    pub(crate) fn execute(self) -> ExitCode {
        dyno_sysbench::main(&self.arguments)
    }
}
