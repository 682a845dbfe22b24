//! `dyno man`: prints the manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_mangen::{Man as Page, generate_to};

use crate::arguments::Arguments;
use crate::output;

/// Print the manual page of dyno, or write the pages of all commands into a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno man | man -l -
  dyno man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for each command into this folder, which must exist
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        if let Some(folder) = &self.dir {
            generate_to(Arguments::command(), folder)
                .with_context(|| format!("cannot write into {}", folder.display()))?;
            output::tell(&format!("wrote the pages to {}", folder.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let mut page = Vec::new();
        Page::new(Arguments::command()).render(&mut page)?;
        output::print_rendered(&String::from_utf8(page)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
