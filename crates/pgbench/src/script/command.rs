//! Reads backslash commands.

use super::reader::Reader;
use super::{Action, ShellWord, Time, nearest};
use crate::error::Problem;
use crate::expression::{Expression, Wrong, continuation_bytes, parse};
use crate::names::is_name;
use crate::run::step::Gather;

const COMMANDS: [&str; 13] = [
    "aset",
    "elif",
    "else",
    "endif",
    "endpipeline",
    "gset",
    "if",
    "set",
    "setshell",
    "shell",
    "sleep",
    "startpipeline",
    "syncpipeline",
];

const SET_USAGE: &str = "\\set NAME EXPRESSION";
const SET_SHELL_USAGE: &str = "\\setshell NAME PROGRAM [ARGUMENT ...]";
const SHELL_USAGE: &str = "\\shell PROGRAM [ARGUMENT ...]";
const SLEEP_USAGE: &str = "\\sleep TIME [us|ms|s]";

/// A word of a command, with its position in the script.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a, '_> {
    /// Reads the command at the current position, which is its backslash.
    pub(super) fn command(&mut self) -> Result<(), Wrong> {
        let at = self.at;
        self.at += 1;
        let word = self.word().map_or("", |word| word.text);
        match word.to_ascii_lowercase().as_str() {
            "set" => self.set(at)?,
            "if" => {
                let condition = self.expression()?;
                self.push(at, Action::If { condition, otherwise: 0 });
            }
            "elif" => {
                let condition = self.expression()?;
                self.push(at, Action::Elif { condition, otherwise: 0, end: 0 });
            }
            "else" => {
                self.end_of_command("else", "\\else")?;
                self.push(at, Action::Else { end: 0 });
            }
            "endif" => {
                self.end_of_command("endif", "\\endif")?;
                self.push(at, Action::Endif);
            }
            "sleep" => self.sleep(at)?,
            "gset" => self.gather(at, "gset", Gather::Last)?,
            "aset" => self.gather(at, "aset", Gather::All)?,
            "shell" => {
                let words = self.shell_words(at, "shell", SHELL_USAGE)?;
                self.push(at, Action::Shell { words, slot: None });
            }
            "setshell" => {
                let name = self.variable(at, "setshell", SET_SHELL_USAGE)?;
                let words = self.shell_words(at, "setshell", SET_SHELL_USAGE)?;
                let slot = Some(self.names.slot(name));
                self.push(at, Action::Shell { words, slot });
            }
            "startpipeline" => {
                self.end_of_command("startpipeline", "\\startpipeline")?;
                self.push(at, Action::StartPipeline { statements: 0..0 });
            }
            "syncpipeline" => {
                self.end_of_command("syncpipeline", "\\syncpipeline")?;
                self.push(at, Action::SyncPipeline);
            }
            "endpipeline" => {
                self.end_of_command("endpipeline", "\\endpipeline")?;
                self.push(at, Action::EndPipeline);
            }
            lower => {
                let hint = nearest(lower, COMMANDS.into_iter());
                return Err(Wrong { at, problem: Problem::UnknownCommand { name: word.to_owned(), hint } });
            }
        }
        Ok(())
    }

    /// The next word on the line of the command.
    fn word(&mut self) -> Option<Word<'a>> {
        loop {
            let rest = &self.script[self.at..];
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']).len();
            let rest = &self.script[self.at..];
            match continuation_bytes(rest) {
                0 => break,
                length => self.at += length,
            }
        }
        let (at, rest) = (self.at, &self.script[self.at..]);
        let mut length =
            rest.find(|letter: char| letter.is_ascii_whitespace() || letter == '\x0b').unwrap_or(rest.len());
        // A backslash at the end of a line continues the line, and is not part of the last word.
        let line_goes_on = rest[..length].ends_with('\\') && continuation_bytes(&rest[length - 1..]) > 0;
        if line_goes_on {
            length -= 1;
        }
        self.at += length;
        Some(Word { text: &rest[..length], at }).filter(|word| !word.text.is_empty())
    }

    fn expression(&mut self) -> Result<Expression, Wrong> {
        let (expression, end) = parse(self.script, self.at, self.names)?;
        self.at = end;
        Ok(expression)
    }

    /// Returns an error if the command's line has a further word.
    fn end_of_command(&mut self, command: &'static str, usage: &'static str) -> Result<(), Wrong> {
        match self.word() {
            None => Ok(()),
            Some(Word { text, at }) => Err(Wrong {
                at,
                problem: Problem::SurplusArgument { command, argument: text.to_owned(), usage },
            }),
        }
    }

    fn set(&mut self, at: usize) -> Result<(), Wrong> {
        let name = self.variable(at, "set", SET_USAGE)?;
        let expression = self.expression()?;
        let slot = self.names.slot(name);
        self.push(at, Action::Set { slot, expression });
        Ok(())
    }

    /// Reads the name of the variable that the command at `at` sets.
    fn variable(&mut self, at: usize, command: &'static str, usage: &'static str) -> Result<&'a str, Wrong> {
        let missing = Problem::MissingArgument { command, missing: "variable", usage };
        let name = self.word().ok_or(Wrong { at, problem: missing })?;
        if !is_name(name.text) {
            return Err(Wrong { at: name.at, problem: Problem::VariableName(name.text.to_owned()) });
        }
        Ok(name.text)
    }

    /// Reads the words of a program and its arguments. A word that begins with one colon is a variable. A word that
    /// begins with two colons is a text, from which the first colon is removed.
    fn shell_words(
        &mut self,
        at: usize,
        command: &'static str,
        usage: &'static str,
    ) -> Result<Vec<ShellWord>, Wrong> {
        let mut words = Vec::new();
        while let Some(word) = self.word() {
            words.push(match word.text.strip_prefix(':') {
                None => ShellWord::Text(word.text.to_owned()),
                Some(text) if text.starts_with(':') => ShellWord::Text(text.to_owned()),
                Some(name) if is_name(name) => ShellWord::Variable(self.names.slot(name)),
                Some(name) => {
                    let problem = Problem::VariableName(name.to_owned());
                    return Err(Wrong { at: word.at, problem });
                }
            });
        }
        if words.is_empty() {
            let problem = Problem::MissingArgument { command, missing: "program", usage };
            return Err(Wrong { at, problem });
        }
        Ok(words)
    }

    /// Reads `\sleep 10 ms`, `\sleep 10ms` or `\sleep :time ms`. The default unit is seconds.
    fn sleep(&mut self, at: usize) -> Result<(), Wrong> {
        let missing = Problem::MissingArgument { command: "sleep", missing: "time", usage: SLEEP_USAGE };
        let time = self.word().ok_or(Wrong { at, problem: missing })?;
        let not_a_time = || Wrong { at: time.at, problem: Problem::SleepTime(time.text.to_owned()) };
        let (time_units, unit) = if let Some(name) = time.text.strip_prefix(':') {
            let name = Some(name).filter(|name| is_name(name)).ok_or_else(not_a_time)?;
            (Time::Variable(self.names.slot(name)), self.word())
        } else {
            let signed = usize::from(time.text.starts_with(['+', '-']));
            let digits = time.text[signed..].bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = time.text.split_at(signed + digits);
            let number = Time::Number(number.parse().map_err(|_| not_a_time())?);
            let joined = Some(Word { text: rest, at: time.at + signed + digits });
            (number, if rest.is_empty() { self.word() } else { joined })
        };
        self.end_of_command("sleep", SLEEP_USAGE)?;
        let unit_us = match unit {
            None => 1_000_000,
            Some(unit) => match unit.text.to_ascii_lowercase().as_str() {
                "us" => 1,
                "ms" => 1000,
                "s" => 1_000_000,
                _ => return Err(Wrong { at: unit.at, problem: Problem::SleepUnit(unit.text.to_owned()) }),
            },
        };
        self.push(at, Action::Sleep { time: time_units, unit_us });
        Ok(())
    }

    /// Reads `\gset` or `\aset`, and marks the statement before it, so that the statement's rows are stored.
    fn gather(&mut self, at: usize, name: &'static str, gather: Gather) -> Result<(), Wrong> {
        let prefix = self.word().map_or("", |word| word.text);
        let usage = if gather == Gather::Last { "\\gset [PREFIX]" } else { "\\aset [PREFIX]" };
        self.end_of_command(name, usage)?;
        match self.commands.last_mut().map(|command| &mut command.action) {
            Some(Action::Sql(statement)) if statement.gather == Gather::Nothing => {
                (statement.gather, statement.prefix) = (gather, prefix.to_owned());
                Ok(())
            }
            _ => Err(Wrong { at, problem: Problem::NoStatement(name) }),
        }
    }
}
