//! The pipeline of a client: statements that are sent together.

use super::step::{Gather, Protocol, Setup};
use crate::error::{EvaluationError, Problem};

#[derive(Debug, Default)]
pub(super) struct Pipeline {
    /// The commands of its statements, in order. They stay after its end, for messages.
    commands: Vec<usize>,
    is_open: bool,
}

impl Pipeline {
    /// A transaction begins.
    pub(super) fn reset(&mut self) {
        self.is_open = false;
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn start(&mut self) -> Result<(), EvaluationError> {
        if std::mem::replace(&mut self.is_open, true) {
            return Err(EvaluationError::PipelineInPipeline);
        }
        self.commands.clear();
        Ok(())
    }

    /// Adds a command that is a statement.
    pub(super) fn add(&mut self, command: usize, gather: Gather) -> Result<(), EvaluationError> {
        match gather {
            Gather::Nothing => {
                self.commands.push(command);
                Ok(())
            }
            Gather::Last => Err(EvaluationError::GatherInPipeline("\\gset")),
            Gather::All => Err(EvaluationError::GatherInPipeline("\\aset")),
        }
    }

    pub(super) fn sync(&self) -> Result<(), EvaluationError> {
        if self.is_open { Ok(()) } else { Err(EvaluationError::OutsidePipeline("syncpipeline")) }
    }

    pub(super) fn end(&mut self) -> Result<(), EvaluationError> {
        if std::mem::take(&mut self.is_open) {
            Ok(())
        } else {
            Err(EvaluationError::OutsidePipeline("endpipeline"))
        }
    }

    /// The command of a statement, from 0 in order.
    pub(super) fn command(&self, number: usize) -> Option<usize> {
        self.commands.get(number).copied()
    }
}

/// Why programs with pipelines cannot run.
pub(super) fn problem(setup: &Setup) -> Option<Problem> {
    match setup.protocol {
        _ if !setup.has_pipelines => Some(Problem::PipelineDatabase),
        Protocol::Simple => Some(Problem::PipelineProtocol),
        Protocol::Extended | Protocol::Prepared => None,
    }
}
