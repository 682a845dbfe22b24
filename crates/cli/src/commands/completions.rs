//! `dyno completions`: a script that completes commands and options in a shell.

use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::{Shell, generate};

use crate::arguments::Arguments;
use crate::output;

/// Print a script that completes commands and options in a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno completions bash > ~/.local/share/bash-completion/completions/dyno
  dyno completions zsh > ~/.zfunc/_dyno
  dyno completions fish > ~/.config/fish/completions/dyno.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        generate(self.shell, &mut Arguments::command(), "dyno", &mut script);
        output::print_rendered(&String::from_utf8(script)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
