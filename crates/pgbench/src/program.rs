//! The scripts of a workload.

use std::rc::Rc;

use crate::error::{Mistake, Problem};
use crate::names::{Names, ScriptFile};
use crate::script::{Action, Command, Script, Statement, read};

/// Scripts and the variables that they share.
#[derive(Debug)]
pub struct Program {
    pub(crate) scripts: Vec<Script>,
    pub(crate) names: Rc<Names>,
    pub(crate) weight: u64,
}

impl Program {
    /// Reads scripts. Each is given as a file and its text.
    ///
    /// # Errors
    /// The first mistake in a script. Also an error if no script has a weight above 0.
    pub fn read(files: &[(ScriptFile, String)]) -> Result<Self, Mistake> {
        let mut names = Names::default();
        // Functions that are called without a seed use this variable.
        names.slot("default_seed");
        let (mut scripts, mut statements) = (Vec::new(), 0);
        for (ScriptFile { path, weight }, text) in files {
            let commands = read(path, text, &mut names, statements)?;
            statements += commands.iter().filter(|command| matches!(command.action, Action::Sql(_))).count();
            scripts.push(Script { file: path.clone(), weight: *weight, commands });
        }
        let weight = scripts.iter().map(|script| u64::from(script.weight)).sum();
        if weight == 0 {
            let file = scripts.first().map(|script| script.file.clone()).unwrap_or_default();
            return Err(Mistake { file, line: 1, column: 1, problem: Problem::NoWeight });
        }
        Ok(Self { scripts, names: Rc::new(names), weight })
    }

    /// The variables that the scripts name, in no particular order.
    pub fn variables(&self) -> &[String] {
        self.names.all()
    }

    /// The error for the first command that uses a shell, for callers that do not allow shells. `None` if no script
    /// has such a command.
    pub fn shell_refusal(&self) -> Option<Mistake> {
        self.scripts.iter().find_map(|script| {
            script.commands.iter().find_map(|command| {
                let Action::Shell { slot, .. } = &command.action else { return None };
                let problem = Problem::Shell(if slot.is_some() { "setshell" } else { "shell" });
                Some(Mistake { file: script.file.clone(), line: command.line, column: 1, problem })
            })
        })
    }

    /// The first `\startpipeline`, and the script that contains it.
    pub(crate) fn pipeline(&self) -> Option<(&Script, &Command)> {
        self.scripts.iter().find_map(|script| {
            let starts = |command: &&Command| matches!(command.action, Action::StartPipeline { .. });
            script.commands.iter().find(starts).map(|command| (script, command))
        })
    }

    /// The statement with this number.
    pub(crate) fn statement(&self, number: usize) -> Option<&Statement> {
        let commands = self.scripts.iter().flat_map(|script| &script.commands);
        commands.filter_map(Command::statement).find(|statement| statement.number == number)
    }

    /// The first statement with more than `parameters_max` parameters, with its script and its number of
    /// parameters.
    pub(crate) fn statement_above(&self, parameters_max: usize) -> Option<(&Script, &Command, usize)> {
        self.scripts.iter().find_map(|script| {
            script.commands.iter().find_map(|command| {
                let given = command.statement().map_or(0, |statement| statement.parameters().count());
                (given > parameters_max).then_some((script, command, given))
            })
        })
    }
}

impl Command {
    /// Returns the command's statement. `None` if the command is not an SQL statement.
    pub(crate) fn statement(&self) -> Option<&Statement> {
        match &self.action {
            Action::Sql(statement) => Some(statement),
            _ => None,
        }
    }
}
