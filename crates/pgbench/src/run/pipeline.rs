//! The pipeline of a client: statements that are sent together.

use super::step::{Gather, Protocol, Setup};
use crate::error::{EvaluationError, Problem};

#[derive(Debug, Default)]
pub(super) struct Pipeline {
    /// For each statement of the pipeline in order, the number of its command. The numbers are kept after the
    /// pipeline's end, for messages.
    commands: Vec<usize>,
    is_open: bool,
}

impl Pipeline {
    /// Closes the pipeline, because a new transaction begins.
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

    /// Adds a statement by the number of its command. `\gset` and `\aset` are refused.
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

    /// Returns the number of a statement's command. `number` counts the pipeline's statements from 0.
    pub(super) fn command(&self, number: usize) -> Option<usize> {
        self.commands.get(number).copied()
    }
}

/// Why programs with pipelines cannot run with this setup; `None` if they can.
pub(super) fn problem(setup: &Setup) -> Option<Problem> {
    match setup.protocol {
        _ if !setup.has_pipelines => Some(Problem::PipelineDatabase),
        Protocol::Simple => Some(Problem::PipelineProtocol),
        Protocol::Extended | Protocol::Prepared => None,
    }
}
