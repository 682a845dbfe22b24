//! `dyno engine shell`: sends SQL to a running server.

mod prompt;
mod table;

use std::cell::Cell;
use std::io::{BufRead, IsTerminal as _, Write as _, stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use dyno_engine::{Cache, Client, ClientError, Running, RunningServer, StatementError, Statements};

use self::prompt::Prompting;
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
            Some(sql) => execute_all(&mut client, Statements::of(sql.as_bytes(), server.family))?,
            None if stdin().is_terminal() => prompt(&mut client, &server)?,
            None => execute_all(&mut client, Statements::of(stdin().lock(), server.family))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Executes statements. Stops at the first that fails.
fn execute_all(client: &mut Client, mut statements: Statements<impl BufRead>) -> anyhow::Result<()> {
    while let Some(statement) = statements.next_statement()? {
        print_result(client, &statement)?;
    }
    Ok(())
}

/// Reads statements from a terminal until the input ends. If a statement is refused, reports this and continues.
fn prompt(client: &mut Client, server: &RunningServer) -> anyhow::Result<()> {
    let begins = Cell::new(true);
    let input = Prompting::new(stdin().lock(), server.to_string(), &begins);
    let mut statements = Statements::of(input, server.family);
    loop {
        begins.set(true);
        let printed = match statements.next_statement() {
            Ok(Some(statement)) => print_result(client, &statement),
            Ok(None) => return Ok(writeln!(stdout())?),
            Err(error @ StatementError::Read(_)) => return Err(error.into()),
            Err(error) => {
                output::warn(&format!("error: {error}"));
                continue;
            }
        };
        match printed {
            Err(error) if is_refusal(&error) => output::warn(&format!("error: {error}")),
            printed => printed?,
        }
    }
}

/// Whether the server refused a statement. After a refusal, the connection can still be used.
fn is_refusal(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ClientError::Server(_)))
}

fn print_result(client: &mut Client, statement: &str) -> anyhow::Result<()> {
    let result = client.query(statement)?;
    output::print_rendered(&table::text(&result, stdout().is_terminal()))
}
