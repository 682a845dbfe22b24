//! A compared system with the evidence of its run.

use dyno_store::Run;

use super::ComparedSystem;
use crate::trial::evidence::Evidence;

/// A system in a run's evidence.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) system: &'a str,
}

impl<'a> Member<'a> {
    pub(super) fn of(subject: ComparedSystem<'a>, evidence: &'a [Evidence<'a>]) -> Option<Self> {
        let evidence = evidence.iter().find(|known| std::ptr::eq(known.run, subject.run))?;
        Some(Self { evidence, system: subject.system })
    }

    pub(crate) fn run(self) -> &'a Run {
        self.evidence.run
    }
}
