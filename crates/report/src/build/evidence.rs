//! Sentences on the evidence of a run's verdicts: its rounds, their cost and their variation.

use dyno_judge::{Analysis, Method, Replication};
use dyno_stats::ROUNDS_MIN;
use dyno_store::{Allocation, Run, RunState};

use crate::wording::number::{counted, percent, three_digits};
use crate::wording::phrases::and;

/// The sentences, in reading order.
pub(crate) fn sentences(run: &Run, analysis: &Analysis) -> Vec<String> {
    let replication = &analysis.replication;
    let mut sentences = vec![rounds(replication)];
    // While a run is in progress, too few rounds are not a limitation, because more rounds follow.
    if run.state != RunState::Running {
        sentences.extend(worth(replication, has_t_intervals_only(run, analysis)));
    }
    sentences.extend(by_chance(replication));
    sentences.extend(left(replication.left_tests));
    sentences.extend(run.allocation.as_ref().map(budget));
    sentences
}

/// How many rounds there are, what a restart costs and how ratios vary: `12 rounds of fresh instances; restarting
/// all took 4.2 s a round; ratios vary by 1.1% between instances.`
fn rounds(replication: &Replication) -> String {
    let count = match (replication.rounds, replication.rounds_planned) {
        (0, _) => return "No round has a completed trial yet.".to_owned(),
        (done, planned) if done < planned => {
            format!("{done} of {}", counted(u64::from(planned), "planned round"))
        }
        (done, _) => counted(u64::from(done), "round"),
    };
    let on = match (replication.is_fresh, replication.rounds) {
        (true, 1) => "",
        (true, _) => " of fresh instances",
        (false, _) => " without a fresh start of every server",
    };
    let restart = replication.restart_seconds.map(|seconds| {
        let often = if replication.rounds == 1 { "" } else { " a round" };
        let what = if replication.rounds == 1 { "starting" } else { "restarting" };
        format!("{what} all took {} s{often}", three_digits(seconds))
    });
    let varies = variances([
        (replication.between_loads, "loads"),
        (replication.between_instances, "instances"),
        (replication.between_slices, "slices"),
    ]);
    let parts = [Some(format!("{count}{on}")), restart, varies];
    format!("{}.", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// `ratios vary by 1.1% between instances and 5.8% between slices`. Unknown components are left out.
fn variances<const N: usize>(components: [(Option<f64>, &str); N]) -> Option<String> {
    let known = components.into_iter().filter_map(|(value, what)| Some((value?, what)));
    let known: Vec<String> =
        known.map(|(value, what)| format!("{} between {what}", percent(value))).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    (!known.is_empty()).then(|| format!("ratios vary by {}", and(&known)))
}

/// `14 tests were not measured to the end, because they were decided or out of reach.`
fn left(tests: usize) -> Option<String> {
    let were = if tests == 1 { "was" } else { "were" };
    let they = if tests == 1 { "it was" } else { "they were" };
    (tests > 0).then(|| {
        format!(
            "{} {were} not measured to the end, because {they} decided or out of reach.",
            counted(tests as u64, "test")
        )
    })
}

/// Whether there are Student's t intervals but no exact intervals, because exact intervals need more rounds.
fn has_t_intervals_only(run: &Run, analysis: &Analysis) -> bool {
    let base = run.systems.iter().find(|system| system.is_base);
    let judgement = base.and_then(|base| analysis.judgement(&base.id));
    let tests =
        || judgement.into_iter().flat_map(|it| &it.comparisons).flat_map(|comparison| &comparison.tests);
    let has = |method| tests().any(|test| test.method == method);
    has(Method::StudentT) && !has(Method::Exact)
}

/// States why verdicts are limited if there are few rounds, or if servers were not restarted between rounds.
pub(crate) fn worth(replication: &Replication, has_t_intervals_only: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    if replication.rounds == 1 {
        sentences.push(format!(
            "One round: this pair of servers only. Ratios hold for these servers; a verdict takes rounds (at least \
             {ROUNDS_MIN} for an exact interval)."
        ));
    }
    if has_t_intervals_only {
        sentences.push(
            "With so few rounds, intervals are t intervals, which assume that log ratios are normally distributed."
                .to_owned(),
        );
    }
    if !replication.is_fresh && replication.rounds > 1 {
        sentences
            .push("Rounds of a server that was not restarted share the effects of its one start.".to_owned());
    }
    sentences
}

/// States how many intervals exclude 1 ("no change"), and how many would do so by chance.
fn by_chance(replication: &Replication) -> Option<String> {
    let shown = replication.intervals;
    let about = match replication.exclusions_expected {
        expected if expected < 0.95 => format!("{expected:.1}"),
        expected => format!("{expected:.0}"),
    };
    let verb = if replication.exclusions == 1 { "excludes" } else { "exclude" };
    (shown > 0).then(|| {
        format!(
            "{} of {} {verb} 1; chance alone would give about {about}.",
            replication.exclusions,
            counted(shown as u64, "interval"),
        )
    })
}

/// How a time budget was divided into rounds and seconds per trial.
fn budget(allocation: &Allocation) -> String {
    let budget = span(allocation.budget_seconds);
    let rounds = counted(u64::from(allocation.rounds), "round");
    let seconds = three_digits(allocation.seconds_per_trial);
    let pilot = match allocation.pilot_rounds {
        0 => String::new(),
        rounds => format!(" after {}", counted(u64::from(rounds), "pilot round")),
    };
    let restart =
        allocation.restart_seconds.map(|seconds| format!("a restart takes {} s", three_digits(seconds)));
    let varies =
        variances([(allocation.between_instances, "instances"), (allocation.between_slices, "slices")]);
    let because: Vec<String> = [restart, varies].into_iter().flatten().collect();
    let because = if because.is_empty() { String::new() } else { format!(": {}", because.join(", ")) };
    format!("The time budget of {budget} was divided into {rounds} of {seconds} s a trial{pilot}{because}.")
}

/// `45 s`, `30 min`, `2.5 h`.
fn span(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{} s", three_digits(seconds)),
        seconds if seconds < 7200.0 => format!("{} min", shortest(seconds / 60.0)),
        seconds => format!("{} h", shortest(seconds / 3600.0)),
    }
}

fn shortest(value: f64) -> String {
    format!("{}", (value * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replication(rounds: u32) -> Replication {
        Replication {
            rounds_planned: rounds,
            rounds,
            is_fresh: true,
            restart_seconds: Some(4.2),
            between_loads: None,
            between_instances: (rounds > 1).then_some(0.011),
            between_slices: Some(0.058),
            left_tests: 0,
            intervals: 24,
            exclusions: 9,
            exclusions_expected: 1.2,
        }
    }

    #[test]
    fn rounds_say_what_they_are_made_of_and_what_varies() {
        assert_eq!(
            rounds(&replication(12)),
            "12 rounds of fresh instances; restarting all took 4.20 s a round; ratios vary by 1.1% between instances \
             and 5.8% between slices."
        );
        let loads = Replication { between_loads: Some(0.024), ..replication(12) };
        assert!(
            rounds(&loads).ends_with(
                "ratios vary by 2.4% between loads, 1.1% between instances and 5.8% between slices."
            ),
            "{}",
            rounds(&loads)
        );
        assert_eq!(
            left(14).as_deref(),
            Some("14 tests were not measured to the end, because they were decided or out of reach.")
        );
        assert_eq!(
            (left(0), left(1).is_some_and(|says| says.starts_with("1 test was not measured to the end"))),
            (None, true)
        );
        assert!(worth(&replication(12), false).is_empty());
        let fewer = Replication { rounds: 10, is_fresh: false, ..replication(12) };
        assert!(
            rounds(&fewer).starts_with("10 of 12 planned rounds without a fresh start of every server; "),
            "{}",
            rounds(&fewer)
        );
    }

    #[test]
    fn one_round_is_of_this_pair_of_servers_only_and_few_have_t_intervals() {
        let one = worth(&replication(1), false);
        assert_eq!(
            one,
            [
                "One round: this pair of servers only. Ratios hold for these servers; a verdict takes rounds (at least 6 \
              for an exact interval)."
            ]
        );
        assert_eq!(
            rounds(&replication(1)),
            "1 round; starting all took 4.20 s; ratios vary by 5.8% between slices."
        );
        for few in 2..6 {
            let run = crate::sample::run(few);
            let says = sentences(&run, &crate::sample::analysis(&run)).join(" ");
            assert!(says.contains("With so few rounds, intervals are t intervals"), "{says}");
        }
        let run = crate::sample::run(6);
        let says = sentences(&run, &crate::sample::analysis(&run)).join(" ");
        assert!(!says.contains("t intervals"), "{says}");
    }

    #[test]
    fn intervals_that_exclude_one_by_chance_are_counted() {
        let says = |intervals, exclusions_expected| {
            by_chance(&Replication { intervals, exclusions_expected, ..replication(12) })
        };
        assert_eq!(says(24, 1.2).unwrap(), "9 of 24 intervals exclude 1; chance alone would give about 1.");
        assert_eq!(says(60, 3.0).unwrap(), "9 of 60 intervals exclude 1; chance alone would give about 3.");
        assert_eq!(
            says(11, 0.44).unwrap(),
            "9 of 11 intervals exclude 1; chance alone would give about 0.4."
        );
        assert_eq!(says(0, 0.0), None);
    }

    #[test]
    fn a_budget_says_how_it_was_divided_as_far_as_it_is_known() {
        let whole = Allocation {
            budget_seconds: 1800.0,
            pilot_rounds: 3,
            rounds: 12,
            seconds_per_trial: 1.25,
            restart_seconds: Some(4.2),
            between_instances: Some(0.011),
            between_slices: Some(0.058),
        };
        assert_eq!(
            budget(&whole),
            "The time budget of 30 min was divided into 12 rounds of 1.25 s a trial after 3 pilot rounds: a \
             restart takes 4.20 s, ratios vary by 1.1% between instances and 5.8% between slices."
        );
        let bare = Allocation {
            budget_seconds: 9000.0,
            rounds: 8,
            seconds_per_trial: 10.0,
            ..Allocation::default()
        };
        assert_eq!(budget(&bare), "The time budget of 2.5 h was divided into 8 rounds of 10.0 s a trial.");
    }
}
