//! How much two measurements of the same thing differ: the noise floor.

use dyno_stats::{Margin, Ratios, median_interval};
use dyno_store::Run;

use crate::evidence::paired_ratios;
use crate::rule::Rule;
use crate::trials::Trials;

/// Systems of a run that repeat another, as (twin, original).
pub(crate) fn twins<'a>(run: &'a Run, rule: &'a Rule) -> Vec<(&'a str, &'a str)> {
    let recorded =
        run.systems.iter().filter_map(|system| Some((system.id.as_str(), system.twin_of.as_deref()?)));
    let given = rule.twins.iter().map(|(twin, original)| (twin.as_str(), original.as_str()));
    recorded.chain(given).collect()
}

/// The margin in a test: the rule's, widened by the noisiest A/A pair of the run.
pub(crate) fn margin(run: &Run, trials: &Trials<'_>, step: &str, clients: u32, rule: &Rule) -> Margin {
    twins(run, rule).into_iter().fold(rule.margin, |margin, (twin, original)| {
        let of = |system| trials.completed(step, clients, system);
        match paired_ratios(of(original), of(twin), rule.quantity) {
            Some(Ratios::Paired(ratios)) => {
                Margin::with_noise(margin, &ratios, median_interval(&ratios, rule.confidence()))
            }
            _ => margin,
        }
    })
}
