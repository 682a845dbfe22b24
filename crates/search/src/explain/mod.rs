//! Explains from a results file why two systems differ: the evidence, the differences between the systems, and
//! proofs.

mod beside;
mod explainer;
mod settings;
mod why;

use dyno_judge::Finding;
use dyno_store::Run;

pub use explainer::Explainer;
pub(crate) use settings::{between as settings_between, facts as reported_facts};
pub(crate) use why::proof;
pub use why::{largest, reasons};

/// Whether a verdict says that a difference exists, so that there is something to explain.
pub fn is_decided(finding: Finding) -> bool {
    matches!(finding, Finding::Improved | Finding::Regressed)
}

/// If a step is a background load, returns why a difference in the step cannot be proven. Returns `None` for any other
/// step.
pub(crate) fn in_the_background(run: &Run, step: &str) -> Option<String> {
    let of = run.steps.iter().find(|record| record.id == step)?.background_of.as_ref()?;
    Some(format!("{step} runs in the background of {of}, and only a step can be measured again"))
}
