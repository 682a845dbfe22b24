//! A system that is compared, in two forms: as callers name it, and with the evidence of its run.

use dyno_store::Run;

use crate::trial::check::TrialChecks;
use crate::trial::evidence::Evidence;

#[derive(Clone, Copy, Debug)]
pub struct ComparedSystem<'a> {
    pub run: &'a Run,
    /// Checks of the run's trials. If they are missing, the rates of trials without slices count as steady.
    pub checks: &'a TrialChecks,
    /// The system's id in the run.
    pub system: &'a str,
}

/// A system, with the evidence of its run.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) system: &'a str,
}

impl<'a> Member<'a> {
    pub(crate) fn of(subject: ComparedSystem<'a>, evidence: &'a [Evidence<'a>]) -> Option<Self> {
        let evidence = evidence.iter().find(|known| std::ptr::eq(known.run, subject.run))?;
        Some(Self { evidence, system: subject.system })
    }

    pub(crate) fn run(self) -> &'a Run {
        self.evidence.run
    }
}
