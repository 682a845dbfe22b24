//! `dyno engine shell`: sends SQL to a running server.

mod split;
mod table;

use std::io::{BufRead as _, IsTerminal as _, Write as _, stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use dyno_engine::{Cache, Client, ClientError, Running};

use self::split::Splitter;
use super::system::SystemArgument;
use crate::output;

/// Time limit of the login. Statements have no time limit.
const LOGIN_PATIENCE: Duration = Duration::from_secs(10);

/// Send SQL to a server that `dyno engine start` started
#[derive(Debug, Args)]
#[command(after_help = "Statements end with `;`. On a terminal there is a prompt; end it with ^D.

Examples:
  dyno engine shell mariadb
  dyno engine shell mariadb -e 'SHOW ENGINES'
  dyno engine shell mysql < schema.sql")]
pub(super) struct Shell {
    #[command(flatten)]
    system: SystemArgument,
    /// Execute these statements, instead of those on standard input
    #[arg(short = 'e', long, value_name = "SQL")]
    execute: Option<String>,
}

impl Shell {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let storage_engine = self.system.storage_engine()?;
        let running = Running::new(&Cache::default_location());
        let server = running.find(&self.system.name, storage_engine.as_deref())?;
        let mut client = server.connect(LOGIN_PATIENCE)?;
        client.set_patience(None)?;
        match self.execute {
            Some(sql) => execute_all(&mut client, &sql)?,
            None if stdin().is_terminal() => prompt(&mut client, &server.to_string())?,
            None => execute_all(&mut client, &std::io::read_to_string(stdin())?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Executes statements. Stops at the first that fails.
fn execute_all(client: &mut Client, sql: &str) -> anyhow::Result<()> {
    let mut splitter = Splitter::default();
    splitter.add(sql);
    while let Some(statement) = splitter.next_statement() {
        print_result(client, &statement)?;
    }
    match splitter.finish() {
        Some(last) => print_result(client, &last),
        None => Ok(()),
    }
}

/// Reads statements from a terminal until its end. Reports a statement that fails, and continues.
fn prompt(client: &mut Client, name: &str) -> anyhow::Result<()> {
    let mut splitter = Splitter::default();
    let mut lines = stdin().lock().lines();
    loop {
        let prompt = if splitter.is_empty() { format!("{name}> ") } else { "    -> ".to_owned() };
        output::print(&prompt)?;
        let Some(line) = lines.next() else {
            writeln!(stdout())?;
            return Ok(());
        };
        splitter.add(&line?);
        splitter.add("\n");
        while let Some(statement) = splitter.next_statement() {
            match print_result(client, &statement) {
                Err(error) if is_refusal(&error) => output::warn(&format!("error: {error}")),
                result => result?,
            }
        }
    }
}

/// Whether the server refused a statement. The connection can still be used.
fn is_refusal(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ClientError::Server(_)))
}

fn print_result(client: &mut Client, statement: &str) -> anyhow::Result<()> {
    let result = client.query(statement)?;
    output::print_rendered(&table::text(&result, stdout().is_terminal()))
}
