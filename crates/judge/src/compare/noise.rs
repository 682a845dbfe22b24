//! Differences between two measurements of the same system. A difference between two systems is an alarm only if it is
//! larger than these differences.

use dyno_stats::Margin;
use dyno_store::Run;

use crate::compare::pair::{Ratios, SystemTrials};
use crate::compare::rule::Rule;
use crate::trial::evidence::Evidence;

/// The controls of a run, each as a pair: the control, and the system that it repeats.
pub(crate) fn controls<'a>(run: &'a Run, rule: &'a Rule) -> impl Iterator<Item = (&'a str, &'a str)> {
    let recorded =
        run.systems.iter().filter_map(|system| Some((system.id.as_str(), system.control_of.as_deref()?)));
    let given = rule.controls.iter().map(|(control, original)| (control.as_str(), original.as_str()));
    recorded.chain(given)
}

/// The margin of alarms in a test: the rule's margin, or a larger one if an A/A pair of the run differs by more
/// ([`Margin::raised_by`]). The margin of sameness is not widened, because noise does not make systems the same.
pub(crate) fn alarm_margin(evidence: &Evidence<'_>, step: &str, clients: u32, rule: &Rule) -> Margin {
    controls(evidence.run, rule).fold(rule.margin, |margin, (control, original)| {
        let part = |system| SystemTrials::of(evidence, step, clients, system);
        let ratios = Ratios::of(part(original), part(control), rule.quantity);
        let interval = ratios.estimate(rule.margin, rule.confidence()).and_then(|found| found.interval);
        interval.map_or(margin, |interval| margin.max(rule.margin.raised_by(interval)))
    })
}
