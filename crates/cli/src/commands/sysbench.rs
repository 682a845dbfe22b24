//! `dyno sysbench`: replaces the `sysbench` command. The crate `dyno-sysbench` parses the arguments.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

/// Run as a drop-in for the sysbench command: same options, scripts and output
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
#[command(after_help = "Example:
  dyno sysbench oltp_read_only --mysql-socket=/tmp/mysql.sock --threads=8 --time=60 run")]
pub(crate) struct Sysbench {
    /// Arguments of the sysbench command; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Sysbench {
    pub(crate) fn execute(self) -> ExitCode {
        dyno_sysbench::main(&self.arguments)
    }
}
