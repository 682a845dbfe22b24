//! When a step has had trials enough.

use dyno_stats::{Better, Looks, MARGIN_MIN, Margin, Progress, median_interval};

use crate::plan::{Plan, Trials};

/// Whether a step needs no further trial: all that were planned are there, or every candidate's verdict is certain.
/// `ratios` gives a system's trials as multiples of the base's; none for one of which there will be none.
///
/// Looking again after every trial would make a false alarm ever more likely, so there are a few looks, agreed in
/// advance, that share the allowed error (see [`Looks`]).
pub(crate) fn is_decided(plan: &Plan, ratios: impl Fn(usize) -> Option<Vec<f64>>) -> bool {
    let Trials::UntilDecided { max } = plan.trials else { return true };
    let Some(looks) = Looks::new(max as usize, dyno_stats::CONFIDENCE) else { return false };
    let twin = plan.systems.iter().position(|system| system.twin_of.is_some());
    let noise = twin.and_then(&ratios).unwrap_or_default();
    let Some(least) = Margin::new(MARGIN_MIN) else { return false };
    let margin = Margin::with_noise(least, &noise, median_interval(&noise, looks.confidence));
    let candidates =
        (0..plan.systems.len()).filter(|&at| at != plan.base && plan.systems[at].twin_of.is_none());
    !candidates.filter_map(ratios).any(|ratios| !is_certain(&ratios, &looks, margin))
}

/// Whether any look so far was enough, or the last one has been taken.
fn is_certain(ratios: &[f64], looks: &Looks, margin: Margin) -> bool {
    let taken = looks.at.iter().filter(|&&look| look <= ratios.len());
    taken.into_iter().any(|&look| {
        !matches!(looks.progress(&ratios[..look], margin, Better::Higher), Progress::GoOn { .. })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse, plan};

    fn until_decided() -> Plan {
        parse(&TEXT.replace("trials = 4", "trials = \"until-decided\"\ntrials_max = 20")).unwrap()
    }

    #[test]
    fn a_fixed_number_of_trials_is_enough() {
        assert!(is_decided(&plan(), |_| Some(vec![1.0])));
    }

    #[test]
    fn a_clear_difference_and_clear_sameness_are_soon_decided_and_stay_so() {
        let plan = until_decided();
        for trials in 8..12 {
            let ratios = |system| match system {
                1 => Some(vec![1.5; trials]),
                _ => Some(vec![1.001; trials]),
            };
            assert!(is_decided(&plan, ratios), "{trials}");
        }
        assert!(!is_decided(&plan, |_| Some(vec![1.5; 7])), "too few to look");
    }

    #[test]
    fn a_doubtful_difference_takes_the_whole_budget() {
        let plan = until_decided();
        let doubtful =
            |trials: usize| Some((0..trials).map(|at| if at % 2 == 0 { 1.1 } else { 0.9 }).collect());
        assert!(!is_decided(&plan, |_| doubtful(19)));
        assert!(is_decided(&plan, |_| doubtful(20)));
    }

    #[test]
    fn a_system_without_trials_is_not_waited_for() {
        let plan = until_decided();
        assert!(is_decided(&plan, |system| (system == 1).then(|| vec![1.5; 8])));
    }
}
