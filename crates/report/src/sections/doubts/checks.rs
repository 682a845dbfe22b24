//! Variation of throughput and trial warnings, for formats that people read.

use dyno_judge::{CellWarning, DisturbanceLimits, TestWarning};

use crate::document::{Line, Section, Shown};
use crate::model::{Cell, Evenness, Reports, TrialWarnings};
use crate::sections::cells::group_table;
use crate::wording::number::{self, counted};
use crate::wording::words;

/// Largest number of lines on trials with warnings. If there are more, the whole run is in doubt, and the further
/// lines are shown only on request.
const DOUBTS_MAX: usize = 12;

/// One figure of a system's variation: its name and its format.
type Figure = (&'static str, fn(&Evenness) -> String);

const COEFFICIENT: Figure = ("Coefficient of variation", |evenness| number::percent(evenness.coefficient));
const WORST: Figure =
    ("Worst second, as a share of the median second", |evenness| number::percent(evenness.worst));
const STALLS: Figure = ("Stalled seconds", |evenness| match evenness.stalled {
    0 => "0".to_owned(),
    stalled => format!("{stalled} (at most {} in a row)", evenness.stalled_longest),
});

/// The section on variation; `None` if every trial was too short.
pub(crate) fn variation(reports: &Reports) -> Option<Section> {
    let mut paragraphs = vec![
        "How much throughput varies from second to second within a trial, median over rounds.".to_owned(),
    ];
    let mut figures = vec![COEFFICIENT, WORST];
    if all(reports).any(|evenness| evenness.stalled > 0) {
        figures.push(STALLS);
        paragraphs.push("A stalled second is below a tenth of its trial's median.".to_owned());
    }
    let tables = figures.into_iter().map(|(title, show)| {
        let cell = |evenness: &Option<Evenness>| {
            Shown::plain(evenness.as_ref().map_or_else(|| "–".to_owned(), show))
        };
        let lines =
            reports.variation.iter().map(|row| Line::of(&row.group, row.systems.iter().map(cell).collect()));
        group_table(reports, title, lines.collect())
    });
    let tables = tables.collect();
    let section =
        Section { title: "Variation of throughput".to_owned(), paragraphs, tables, ..Section::default() };
    all(reports).next().is_some().then_some(section)
}

fn all(reports: &Reports) -> impl Iterator<Item = &Evenness> {
    reports.variation.iter().flat_map(|row| &row.systems).flatten()
}

/// The section on trial warnings; `None` if there are none.
pub(crate) fn trial_warnings(reports: &Reports) -> Option<Section> {
    let mut trial_warnings: Vec<&TrialWarnings> = reports.trial_warnings.iter().collect();
    // Tests with warnings of the analysis come first, then tests with the largest share of affected rounds. Ties
    // stay in run order.
    let warnings = |of_test: &TrialWarnings| of_test.warnings.len() + of_test.against_base.len();
    trial_warnings.sort_by(|a, b| {
        let share = (b.affected * a.rounds.max(1)).cmp(&(a.affected * b.rounds.max(1)));
        (warnings(b) > 0).cmp(&(warnings(a) > 0)).then(share)
    });
    let mut items: Vec<String> = not_fresh(reports).into_iter().collect();
    let mut sentences = trial_warnings.iter().map(|of_test| sentence(of_test, in_slices(reports, of_test)));
    items.extend(sentences.by_ref().take(DOUBTS_MAX));
    let more_items = sentences.collect();
    let paragraphs = vec![
        "These figures may not be representative: a rate reached no level, a server stalled or worked while others were \
         loaded, other processes used the host, figures contradict each other, rounds failed, limits differed from the \
         plan's, or tables were loaded again."
            .to_owned(),
    ];
    let section = Section {
        title: "Suspect measurements".to_owned(),
        paragraphs,
        items,
        more_items,
        ..Section::default()
    };
    (!section.items.is_empty()).then_some(section)
}

/// A line on the systems that used one instance in all rounds.
fn not_fresh(reports: &Reports) -> Option<String> {
    let mut systems: Vec<&str> = Vec::new();
    let relatives = reports.relative.rows.iter().flat_map(|row| &row.cells).filter_map(Cell::value);
    for warning in relatives.flat_map(|relative| &relative.warnings) {
        if let TestWarning::NotFresh { system } = warning
            && !systems.contains(&system.as_str())
        {
            systems.push(system);
        }
    }
    (!systems.is_empty()).then(|| {
        format!(
            "all tests of {}: the same server in all rounds, so all rounds share the effects of one start",
            systems.join(", ")
        )
    })
}

/// The ratio that neighbouring slices give for a system in a test with warnings.
fn in_slices(reports: &Reports, of_test: &TrialWarnings) -> Option<f64> {
    let row = reports.relative.rows.iter().find(|row| row.step == of_test.step)?;
    let is_it = |cell: &&Cell<_>| cell.system == of_test.system && cell.clients == of_test.clients;
    Some(row.cells.iter().find(is_it)?.value()?.ratio)
}

/// The warnings on a system in a test: `point-query at 4 clients · mysql: of 6 rounds, 2 disturbed (steal up to
/// 7.0%)`.
pub(crate) fn sentence(of_test: &TrialWarnings, in_slices: Option<f64>) -> String {
    let mut findings = Vec::new();
    if of_test.disturbed > 0 {
        findings.push(format!("{} disturbed ({})", of_test.disturbed, causes(of_test)));
    }
    if let Some(busy) = of_test.busy_share_worst {
        let what = if busy > 1.0 { "measured wrongly" } else { "with idle clients" };
        findings.push(format!(
            "{} {what} (throughput × latency is {} of the clients)",
            of_test.little_broken,
            number::percent(busy)
        ));
    }
    let no_level = of_test.warnings.iter().any(|warning| matches!(warning, CellWarning::NoLevel { .. }));
    if of_test.unsteady > 0 && !no_level {
        let change = of_test.change_worst.map(|change| format!(" ({})", course(change)));
        findings.push(format!("{} not steady{}", of_test.unsteady, change.unwrap_or_default()));
    }
    let mut parts = Vec::new();
    if !findings.is_empty() {
        parts.push(format!("of {}, {}", counted(of_test.rounds, "round"), findings.join(", ")));
    }
    // The sentence already names disturbed rounds and their causes, so the warning on them is left out. From the
    // warnings on the comparison, those on failed rounds are left out, because they are already among the system's
    // warnings.
    let is_said =
        |warning: &&CellWarning| of_test.disturbed > 0 && matches!(warning, CellWarning::Disturbed { .. });
    parts.extend(of_test.warnings.iter().filter(|warning| !is_said(warning)).map(words::cell_warning));
    let against = of_test.against_base.iter().filter(|warning| warning.is_of_one_test());
    parts.extend(against.map(|warning| words::test_warning(warning, in_slices)));
    format!(
        "{} at {} · {}: {}",
        of_test.step,
        counted(u64::from(of_test.clients), "client"),
        of_test.system,
        parts.join("; ")
    )
}

/// States how a rate changed from the start to the end of a trial. `change` is a share of the median rate, so its
/// absolute value can exceed 1.
fn course(change: f64) -> String {
    let course = if change < 0.0 { "falling" } else { "rising" };
    if change.abs() < 1.0 {
        format!("{course} by {} from start to end", number::percent(change.abs()))
    } else {
        format!("{course} by {} times its median rate from start to end", number::ratio(change.abs()))
    }
}

/// The causes of a disturbance: the shares of CPU time that exceed their limits.
fn causes(of_test: &TrialWarnings) -> String {
    let limits = DisturbanceLimits::default();
    let steal = (of_test.steal_share_max > limits.steal_max)
        .then(|| format!("steal up to {}", number::percent(of_test.steal_share_max)));
    let others = (of_test.others_share_max > limits.others_max)
        .then(|| format!("other processes up to {}", number::percent(of_test.others_share_max)));
    [steal, others].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_of_short_and_quiet_trials_has_nothing_to_say() {
        let mut reports = sample::reports(&sample::run(2));
        reports.variation.clear();
        reports.trial_warnings.clear();
        assert!(variation(&reports).is_none() && trial_warnings(&reports).is_none());
    }

    #[test]
    fn stalls_are_shown_only_if_there_were_any() {
        let mut reports = sample::reports(&sample::run(2));
        let titles = |reports: &Reports| variation(reports).unwrap().tables.len();
        assert_eq!(titles(&reports), 3);
        reports.variation.iter_mut().flat_map(|row| &mut row.systems).flatten().for_each(|evenness| {
            evenness.stalled = 0;
        });
        assert_eq!(titles(&reports), 2);
    }

    #[test]
    fn a_server_that_stayed_the_same_is_said_once_and_not_for_each_test() {
        let reports = sample::reports(&sample::eventful_run());
        let items = trial_warnings(&reports).unwrap().items;
        let same: Vec<&String> = items.iter().filter(|item| item.contains("the same server")).collect();
        assert_eq!(same.len(), 1, "{items:?}");
        assert!(same[0].starts_with("all tests of maria: the same server in all rounds"), "{same:?}");
    }

    #[test]
    fn the_most_affected_tests_come_first_and_not_all_of_many() {
        let mut reports = sample::reports(&sample::run(2));
        let of_test =
            |affected| TrialWarnings { affected, disturbed: affected, rounds: 6, ..TrialWarnings::default() };
        reports.trial_warnings =
            (0..20).map(|at| TrialWarnings { step: format!("s{at}"), ..of_test(1 + at % 6) }).collect();
        let Section { items, more_items, .. } = trial_warnings(&reports).unwrap();
        assert_eq!((items.len(), more_items.len()), (DOUBTS_MAX, 8));
        assert!(items[0].starts_with("s5 at") && items[1].starts_with("s11 at"), "{items:?}");
        let text = crate::render(&reports, crate::Format::Text, &crate::RenderOptions::default());
        assert!(text.contains("- 8 more like these; the HTML and JSON reports list all\n"), "{text}");
        let page = crate::format::html::section(None, &trial_warnings(&reports).unwrap()).into_string();
        assert!(page.contains("<details><summary>8 more</summary>"), "{page}");
    }

    #[test]
    fn a_course_is_a_share_of_the_rate_or_a_multiple_of_it() {
        assert_eq!(course(0.2), "rising by 20% from start to end");
        assert_eq!(course(-0.051), "falling by 5.1% from start to end");
        assert_eq!(course(-10.21), "falling by 10.2 times its median rate from start to end");
    }

    #[test]
    fn a_sentence_has_the_causes_above_their_limits() {
        let of_test = TrialWarnings {
            step: "scan".to_owned(),
            clients: 1,
            system: "db".to_owned(),
            rounds: 6,
            disturbed: 2,
            steal_share_max: 0.07,
            others_share_max: 0.01,
            ..TrialWarnings::default()
        };
        assert_eq!(
            sentence(&of_test, None),
            "scan at 1 client · db: of 6 rounds, 2 disturbed (steal up to 7.0%)"
        );
        let both = TrialWarnings { others_share_max: 0.31, ..of_test.clone() };
        assert!(sentence(&both, None).ends_with("(steal up to 7.0%, other processes up to 31%)"));
        let idle = TrialWarnings { disturbed: 0, little_broken: 6, busy_share_worst: Some(0.62), ..of_test };
        assert!(
            sentence(&idle, None)
                .ends_with("6 with idle clients (throughput × latency is 62% of the clients)")
        );
        let warned = TrialWarnings {
            warnings: vec![
                CellWarning::NoLevel { rounds: 5, of: 6, change: 9.3 },
                CellWarning::Disturbed { rounds: 2, of: 6 },
            ],
            against_base: vec![TestWarning::Stalls { whole_ratio: 0.5 }],
            unsteady: 5,
            ..both
        };
        assert_eq!(
            sentence(&warned, Some(0.9)),
            "scan at 1 client · db: of 6 rounds, 2 disturbed (steal up to 7.0%, other processes up to 31%); still rising in \
             5 of 6 rounds: 9.30 times as fast at the end as at the start; not judged; stalls: the ratio over the whole time \
             is 0.50, 0.90 in neighbouring slices"
        );
    }
}
