//! The state of a client: its variables and its random numbers.

use std::rc::Rc;

use crate::error::EvaluationError;
use crate::expression::random::Generator;
use crate::expression::value::Value;
use crate::names::Names;

/// The content of a variable: the value of an expression, or a text that is converted to a value when an expression
/// uses it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Value(Value),
    Text(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct State {
    names: Rc<Names>,
    variables: Vec<Option<Content>>,
    pub(crate) random: Generator,
    /// The command that is being run, for the lines of `debug`. The script's number counts from 0, and the
    /// command's number from 1.
    pub(crate) place: (usize, usize),
    /// Lines that `debug` and shell commands wrote, and that the caller has not taken yet.
    pub(crate) said: Vec<String>,
}

impl State {
    pub(crate) fn new(names: &Rc<Names>, random: Generator) -> Self {
        let variables = vec![None; names.all().len()];
        Self { names: Rc::clone(names), variables, random, place: (0, 1), said: Vec::new() }
    }

    pub(crate) fn set(&mut self, slot: usize, content: Content) {
        self.variables[slot] = Some(content);
    }

    /// Sets a variable if a script names it. Other variables are ignored, because no script can read them.
    pub(crate) fn set_named(&mut self, name: &str, content: Content) {
        if let Some(slot) = self.names.find(name) {
            self.set(slot, content);
        }
    }

    pub(crate) fn content(&self, slot: usize) -> Option<&Content> {
        self.variables[slot].as_ref()
    }

    /// The value of a variable in an expression.
    pub(crate) fn value(&self, slot: usize) -> Result<Value, EvaluationError> {
        match self.content(slot) {
            None => Err(EvaluationError::Undefined(self.name(slot).to_owned())),
            Some(Content::Value(value)) => Ok(*value),
            Some(Content::Text(bytes)) => {
                let text = String::from_utf8_lossy(bytes);
                let malformed = || EvaluationError::Malformed {
                    name: self.name(slot).to_owned(),
                    value: text.to_string(),
                };
                Value::of_text(&text).ok_or_else(malformed)
            }
        }
    }

    pub(crate) fn name(&self, slot: usize) -> &str {
        &self.names.all()[slot]
    }

    /// Adds a line that `debug` writes.
    pub(crate) fn say(&mut self, value: &str) {
        let (script, command) = self.place;
        self.said.push(format!("debug(script={script},command={command}): {value}"));
    }
}
