//! A client: it runs the transactions of a program, and returns to its caller for each command that the caller has
//! to carry out.

use std::borrow::Cow;
use std::process::Output;
use std::rc::Rc;

use super::pipeline::{self, Pipeline};
use super::shell;
use super::state::{Content, State};
use super::step::{Gather, Parameter, Protocol, Setup, Step};
use crate::error::{EvaluationError, Mistake, Problem, RunError};
use crate::expression::Expression;
use crate::expression::evaluate::evaluate;
use crate::expression::random::Generator;
use crate::expression::value::{Value, double_text};
use crate::names::is_name;
use crate::program::Program;
use crate::script::{Action, Command, Piece, Statement, Time};

/// The most parameters that a statement may have, as in pgbench.
const PARAMETERS_MAX: usize = 255;

#[derive(Debug)]
pub struct Client {
    program: Rc<Program>,
    state: State,
    protocol: Protocol,
    /// Draws the script of each transaction.
    choice: Generator,
    /// The current script.
    script: usize,
    /// `next` is the number of the next command. `current` is the number of the command that was carried out most
    /// recently.
    next: usize,
    current: usize,
    /// The state of the random numbers when the transaction began. A retry starts from this state.
    at_begin: Generator,
    /// How often the transaction has failed.
    failures: u32,
    tries_max: u32,
    /// Whether the next transaction is a retry of the failed one.
    again: bool,
    sql: Vec<u8>,
    shell_line: Vec<u8>,
    /// The open pipeline, or the pipeline that was sent most recently.
    pipeline: Pipeline,
}

impl Client {
    /// Creates a client before its first transaction. A single client draws the same random numbers as `pgbench
    /// --random-seed`. With several clients, the numbers inside each client's scripts are those of pgbench too, but
    /// the choice among scripts differs.
    ///
    /// # Errors
    /// A statement has too many parameters for the protocol, or a script uses a pipeline or a shell that `setup`
    /// does not permit.
    pub fn new(program: Rc<Program>, setup: &Setup) -> Result<Self, Mistake> {
        if setup.protocol != Protocol::Simple
            && let Some((script, command, given)) = program.statement_above(PARAMETERS_MAX)
        {
            let problem = Problem::TooManyParameters { given, max: PARAMETERS_MAX };
            return Err(Mistake { file: script.file.clone(), line: command.line, column: 1, problem });
        }
        if let Some(problem) = pipeline::problem(setup)
            && let Some((script, command)) = program.pipeline()
        {
            return Err(Mistake { file: script.file.clone(), line: command.line, column: 1, problem });
        }
        if !setup.allows_shell
            && let Some(refusal) = program.shell_refusal()
        {
            return Err(refusal);
        }
        // pgbench draws a seed for each client, then the seed of hashes, then three seeds for each of its threads.
        // Each thread runs several clients in pgbench, and one client here.
        let mut seeds = Generator::seeded(setup.seed);
        let mut drawn = |number: u32| (0..number).fold(0, |_, _| seeds.next());
        let own = drawn(setup.client + 1);
        let default_seed = drawn(setup.clients.saturating_sub(setup.client).max(1));
        let choice = drawn(1 + 3 * setup.client);
        let mut state = State::new(&program.names, Generator::seeded(own));
        for (name, number) in [
            ("client_id", i64::from(setup.client)),
            ("default_seed", default_seed as i64),
            ("random_seed", setup.seed as i64),
            ("scale", setup.scale),
        ] {
            state.set_named(name, Content::Value(Value::Int(number)));
        }
        Ok(Self {
            protocol: setup.protocol,
            choice: Generator::seeded(choice),
            script: 0,
            next: 0,
            current: 0,
            at_begin: state.random.clone(),
            failures: 0,
            tries_max: setup.tries_max,
            again: false,
            sql: Vec::new(),
            shell_line: Vec::new(),
            pipeline: Pipeline::default(),
            state,
            program,
        })
    }

    /// Sets a variable to a text before the run.
    pub fn define(&mut self, name: &str, text: &str) {
        self.state.set_named(name, Content::Text(text.as_bytes().to_vec()));
    }

    /// Begins a transaction. If the failed transaction is to be tried again, the same script runs again with the same
    /// random numbers. Otherwise, a script is chosen by weight.
    pub fn begin(&mut self) {
        self.next = 0;
        self.pipeline.reset();
        if std::mem::take(&mut self.again) {
            self.state.random = self.at_begin.clone();
            return;
        }
        self.failures = 0;
        self.script = self.chosen();
        self.at_begin = self.state.random.clone();
    }

    fn chosen(&mut self) -> usize {
        if self.program.scripts.len() == 1 {
            return 0;
        }
        let mut left = self.choice.up_to(self.program.weight - 1);
        for (number, script) in self.program.scripts.iter().enumerate() {
            match left.checked_sub(u64::from(script.weight)) {
                Some(rest) => left = rest,
                None => return number,
            }
        }
        0
    }

    /// Records that the transaction has failed with an error after which it may be tried again.
    pub fn fail(&mut self) {
        self.failures += 1;
        self.again = self.tries_max == 0 || self.failures < self.tries_max;
    }

    /// Carries out commands up to the next one that the caller has to carry out. Returns what the caller has to do.
    ///
    /// # Errors
    /// An expression has no value, or a pipeline is used in a wrong way.
    pub fn advance(&mut self) -> Result<Step, RunError> {
        let program = Rc::clone(&self.program);
        let commands = &program.scripts[self.script].commands;
        while let Some(command) = commands.get(self.next) {
            self.current = self.next;
            self.next += 1;
            self.state.place = (self.script, self.current + 1);
            if let Some(step) = self.carry_out(command, commands).map_err(|error| self.error(error))? {
                return Ok(step);
            }
        }
        if self.pipeline.is_open() {
            return Err(self.error(EvaluationError::OpenPipeline));
        }
        Ok(Step::End)
    }

    fn carry_out(
        &mut self,
        command: &Command,
        commands: &[Command],
    ) -> Result<Option<Step>, EvaluationError> {
        match &command.action {
            Action::Sql(statement) => return self.send(statement).map(Some),
            Action::Set { slot, expression } => {
                let value = evaluate(expression, &mut self.state)?;
                self.state.set(*slot, Content::Value(value));
            }
            Action::If { condition, otherwise } => self.branch(condition, *otherwise, commands)?,
            // Execution gets here only at the end of the preceding branch, which therefore was taken. The other
            // branches are skipped.
            Action::Elif { end, .. } | Action::Else { end } => self.next = *end,
            Action::Endif => {}
            Action::Sleep { time, unit_us } => {
                let units = self.units(*time)?;
                let us = u64::try_from(units).unwrap_or(0).saturating_mul(*unit_us);
                return Ok(Some(Step::Sleep { us }));
            }
            Action::Shell { words, .. } => {
                self.shell_line = shell::line(words, &self.state)?;
                return Ok(Some(Step::Shell));
            }
            Action::StartPipeline { statements } => {
                self.pipeline.start()?;
                return Ok(Some(Step::StartPipeline { first: statements.start, end: statements.end }));
            }
            Action::SyncPipeline => return self.pipeline.sync().map(|()| Some(Step::Sync)),
            Action::EndPipeline => return self.pipeline.end().map(|()| Some(Step::EndPipeline)),
        }
        Ok(None)
    }

    /// Goes to the first branch of an `\if` whose condition is true.
    fn branch(
        &mut self,
        condition: &Expression,
        otherwise: usize,
        commands: &[Command],
    ) -> Result<(), EvaluationError> {
        let (mut condition, mut otherwise) = (condition, otherwise);
        while !evaluate(condition, &mut self.state)?.is_true() {
            self.next = otherwise + 1;
            match &commands[otherwise].action {
                Action::Elif { condition: next_condition, otherwise: next, .. } => {
                    self.current = otherwise;
                    self.state.place.1 = otherwise + 1;
                    (condition, otherwise) = (next_condition, *next);
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn units(&self, time: Time) -> Result<i64, EvaluationError> {
        let slot = match time {
            Time::Number(number) => return Ok(number),
            Time::Variable(slot) => slot,
        };
        let name = || self.state.name(slot).to_owned();
        let Some(content) = self.state.content(slot) else { return Err(EvaluationError::Undefined(name())) };
        let text = String::from_utf8_lossy(&text_of(content)).into_owned();
        // As in pgbench, text after the whole number is ignored.
        let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let number = digits[..length].parse::<i64>();
        let sign = if text.starts_with('-') { -1 } else { 1 };
        number
            .map(|number| sign * number)
            .map_err(|_| EvaluationError::SleepTime { name: name(), value: text })
    }

    fn send(&mut self, statement: &Statement) -> Result<Step, EvaluationError> {
        if self.pipeline.is_open() {
            self.pipeline.add(self.current, statement.gather)?;
            return Ok(Step::Pipe { statement: statement.number });
        }
        if self.protocol != Protocol::Simple {
            return Ok(Step::Execute { statement: statement.number });
        }
        self.sql.clear();
        for piece in &statement.pieces {
            match piece {
                Piece::Text(text) | Piece::Quoted(text) => self.sql.extend_from_slice(text.as_bytes()),
                Piece::Variable { slot, .. } => {
                    if let Some(content) = self.state.content(*slot) {
                        self.sql.extend_from_slice(&text_of(content));
                    } else {
                        // The variable is not set. As in pgbench, the text stays unchanged, because perhaps it is no
                        // variable at all.
                        self.sql.push(b':');
                        self.sql.extend_from_slice(self.state.name(*slot).as_bytes());
                    }
                }
            }
        }
        Ok(Step::Query)
    }

    /// The current statement as text to send.
    pub fn sql(&self) -> &[u8] {
        &self.sql
    }

    /// Returns the current statement with `?` for its parameters. If `doubles` is true, a question mark that belongs to
    /// an operator is doubled.
    pub fn prepared_sql(&self, doubles: bool) -> String {
        self.statement()
            .map_or_else(String::new, |statement| statement.prepared(&self.program.names, doubles))
    }

    /// The text of the statement with this number, to prepare it. The text has the form that
    /// [`prepared_sql`](Self::prepared_sql) returns for the current statement.
    pub fn sql_of(&self, statement: usize, doubles: bool) -> String {
        let found = self.program.statement(statement);
        found.map_or_else(String::new, |statement| statement.prepared(&self.program.names, doubles))
    }

    /// The parameters of the current statement. A variable that is not set is NULL.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_>> {
        let slots = self.statement().into_iter().flat_map(Statement::parameters);
        slots.map(move |slot| match self.state.content(slot) {
            None | Some(Content::Value(Value::Null)) => Parameter::Null,
            Some(Content::Value(Value::Bool(value))) => Parameter::Bool(*value),
            Some(Content::Value(Value::Int(number))) => Parameter::Int(*number),
            Some(Content::Value(Value::Double(number))) => {
                Parameter::Double(double_text(*number).parse().unwrap_or(*number))
            }
            Some(Content::Text(text)) => Parameter::Text(text),
        })
    }

    /// Which rows of the current statement's result are stored in variables.
    pub fn gathers(&self) -> Gather {
        self.statement().map_or(Gather::Nothing, |statement| statement.gather)
    }

    /// Stores the last row of the current statement's result, which has `rows` rows. The value of a column is stored in
    /// the variable whose name is the command's prefix followed by the column's name. NULL becomes an empty text.
    ///
    /// # Errors
    /// The command is `\gset` and the number of rows is not 1, or prefix and column do not form the name of a
    /// variable.
    pub fn store(&mut self, columns: &[String], row: &[Option<Vec<u8>>], rows: u64) -> Result<(), RunError> {
        let program = Rc::clone(&self.program);
        let command = &program.scripts[self.script].commands[self.current];
        let Some(statement) = command.statement() else { return Ok(()) };
        if rows != 1 && statement.gather == Gather::Last {
            return Err(self.error(EvaluationError::Rows(rows)));
        }
        for (column, value) in columns.iter().zip(row) {
            let name = format!("{}{column}", statement.prefix);
            if !is_name(&name) {
                return Err(self.error(EvaluationError::ColumnName(name)));
            }
            self.state.set_named(&name, Content::Text(value.clone().unwrap_or_default()));
        }
        Ok(())
    }

    /// The line that a shell runs for the current command.
    pub fn shell_line(&self) -> &[u8] {
        &self.shell_line
    }

    /// Takes what the current shell command printed, and its exit status. The output of `\shell` is added to the lines
    /// that [`take_said`](Self::take_said) returns. `\setshell` stores the number that was printed, whatever the exit
    /// status is, as in pgbench.
    ///
    /// # Errors
    /// The command of `\shell` failed, or the command of `\setshell` printed no number.
    pub fn shell_ran(&mut self, output: &Output) -> Result<(), RunError> {
        let program = Rc::clone(&self.program);
        let command = &program.scripts[self.script].commands[self.current];
        if let Action::Shell { slot: Some(slot), .. } = command.action {
            let number = shell::number(&output.stdout).map_err(|error| self.error(error))?;
            self.state.set(slot, Content::Value(Value::Int(number)));
            return Ok(());
        }
        self.state.said.extend(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned));
        if output.status.success() {
            return Ok(());
        }
        Err(self.error(EvaluationError::CommandFailed(output.status.to_string())))
    }

    /// Takes the lines that `debug` and `\shell` have written since the last call.
    pub fn take_said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.state.said)
    }

    /// File and line of the current command, for messages.
    pub fn place(&self) -> String {
        self.place_of(self.current)
    }

    /// Returns file and line of a statement in the pipeline that was sent most recently. `number` counts the pipeline's
    /// statements from 0. If the pipeline has no such statement, file and line are those of the current command.
    pub fn place_in_pipeline(&self, number: usize) -> String {
        self.place_of(self.pipeline.command(number).unwrap_or(self.current))
    }

    fn place_of(&self, command: usize) -> String {
        let script = &self.program.scripts[self.script];
        format!("{}:{}", script.file, script.commands[command].line)
    }

    fn statement(&self) -> Option<&Statement> {
        self.program.scripts[self.script].commands.get(self.current)?.statement()
    }

    fn error(&self, error: EvaluationError) -> RunError {
        let script = &self.program.scripts[self.script];
        RunError { file: script.file.clone(), line: script.commands[self.current].line, error }
    }
}

/// The text of a variable in SQL.
pub(super) fn text_of(content: &Content) -> Cow<'_, [u8]> {
    match content {
        Content::Value(value) => Cow::Owned(value.text().into_bytes()),
        Content::Text(text) => Cow::Borrowed(text),
    }
}
