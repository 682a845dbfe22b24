//! Why two systems differ, by the contents of a results file: evidence, differences between the systems, and
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

/// Whether there is a difference to explain.
pub fn is_decided(finding: Finding) -> bool {
    matches!(finding, Finding::Improved | Finding::Regressed)
}

/// Why a background load cannot be proven; `None` for a step.
pub(crate) fn in_the_background(run: &Run, step: &str) -> Option<String> {
    let of = run.steps.iter().find(|record| record.id == step)?.background_of.as_ref()?;
    Some(format!("{step} runs in the background of {of}, and only a step can be measured again"))
}
