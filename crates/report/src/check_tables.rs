//! Variation of throughput and doubtful trials, for the formats that people read.

use dyno_judge::Limits;

use crate::model::{Doubt, Evenness, Reports};
use crate::number::{self, counted};
use crate::table::{Line, Shown};
use crate::tables::{Section, group_table};

/// Lines about doubtful trials that are worth reading; more say that the whole run should be repeated.
const DOUBTS_MAX: usize = 12;

/// One figure of a system's variation: what it is called and how it is written.
type Figure = (&'static str, fn(&Evenness) -> String);

const COEFFICIENT: Figure = ("Coefficient of variation", |evenness| number::percent(evenness.coefficient));
const WORST: Figure =
    ("Worst second, as a share of the median one", |evenness| number::percent(evenness.worst));
const STALLS: Figure = ("Stalled seconds", |evenness| match evenness.stalled {
    0 => "0".to_owned(),
    stalled => format!("{stalled} (at most {} in a row)", evenness.stalled_longest),
});

/// How evenly the systems delivered; none if every trial was too short to say.
pub(crate) fn variation(reports: &Reports) -> Option<Section> {
    let mut how_to_read = vec![
        "How evenly throughput went within the trials, second by second, median of the trials; lower varies less."
            .to_owned(),
    ];
    let mut figures = vec![COEFFICIENT, WORST];
    if all(reports).any(|evenness| evenness.stalled > 0) {
        figures.push(STALLS);
        how_to_read.push("A stalled second is below a tenth of its trial's median one.".to_owned());
    }
    let tables = figures.into_iter().map(|(title, show)| {
        let cell = |evenness: &Option<Evenness>| {
            Shown::plain(evenness.as_ref().map_or_else(|| "–".to_owned(), show))
        };
        let lines = reports.variation.iter().map(|row| Line::Test {
            name: row.group.clone(),
            operation: "",
            cells: row.systems.iter().map(cell).collect(),
        });
        group_table(reports, title, lines.collect())
    });
    let tables = tables.collect();
    let section = Section { title: "Variation of throughput", how_to_read, tables, ..Section::default() };
    all(reports).next().is_some().then_some(section)
}

fn all(reports: &Reports) -> impl Iterator<Item = &Evenness> {
    reports.variation.iter().flat_map(|row| &row.systems).flatten()
}

/// Trials that deserve a second look; none if there are none.
pub(crate) fn doubts(reports: &Reports) -> Option<Section> {
    let mut doubts: Vec<&Doubt> = reports.doubts.iter().collect();
    // The most affected tests first; those that are alike stay in run order.
    doubts.sort_by(|a, b| (b.affected * a.trials).cmp(&(a.affected * b.trials)));
    let affected: u64 = doubts.iter().map(|doubt| doubt.affected).sum();
    let checked = counted(reports.trial_checks.len() as u64, "completed trial");
    let mut items: Vec<String> = doubts.iter().take(DOUBTS_MAX).map(|doubt| sentence(doubt)).collect();
    if let Some(more) = doubts.len().checked_sub(DOUBTS_MAX).filter(|more| *more > 0) {
        items.push(format!("{more} more like these; the JSON report lists all"));
    }
    let how_to_read = vec![format!(
        "Of {checked}, {affected} may not show what the systems can: somebody else used the host, the figures do not \
         agree with each other, or throughput had no level."
    )];
    let section = Section { title: "Trials to look at", how_to_read, items, ..Section::default() };
    (!doubts.is_empty()).then_some(section)
}

/// `point-query at 4 clients · mysql: 2 of 6 trials disturbed (steal up to 7.0%)`.
pub(crate) fn sentence(doubt: &Doubt) -> String {
    let mut findings = Vec::new();
    if doubt.disturbed > 0 {
        findings.push(format!("{} disturbed ({})", doubt.disturbed, causes(doubt)));
    }
    if let Some(busy) = doubt.busy_share_worst {
        let what = if busy > 1.0 { "measured wrongly" } else { "with idle clients" };
        findings.push(format!(
            "{} {what} (throughput × latency is {} of the clients)",
            doubt.little_broken,
            number::percent(busy)
        ));
    }
    if doubt.unsteady > 0 {
        let change =
            doubt.change_worst.map(|change| format!(" (changing by {})", number::signed_percent(change)));
        findings.push(format!("{} not steady{}", doubt.unsteady, change.unwrap_or_default()));
    }
    format!(
        "{} at {} · {}: of {}, {}",
        doubt.step,
        counted(u64::from(doubt.clients), "client"),
        doubt.system,
        counted(doubt.trials, "trial"),
        findings.join(", ")
    )
}

/// What disturbed: whatever was above its limit.
fn causes(doubt: &Doubt) -> String {
    let limits = Limits::default();
    let steal = (doubt.steal_share_max > limits.steal_max)
        .then(|| format!("steal up to {}", number::percent(doubt.steal_share_max)));
    let others = (doubt.others_share_max > limits.others_max)
        .then(|| format!("other processes up to {}", number::percent(doubt.others_share_max)));
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
        reports.doubts.clear();
        assert!(variation(&reports).is_none() && doubts(&reports).is_none());
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
    fn the_most_affected_tests_come_first_and_not_all_of_many() {
        let mut reports = sample::reports(&sample::run(2));
        let doubt = |affected| Doubt { affected, disturbed: affected, trials: 6, ..Doubt::default() };
        reports.doubts = (0..20).map(|at| Doubt { step: format!("s{at}"), ..doubt(1 + at % 6) }).collect();
        let items = doubts(&reports).unwrap().items;
        assert_eq!(items.len(), DOUBTS_MAX + 1);
        assert!(items[0].starts_with("s5 at") && items[1].starts_with("s11 at"), "{items:?}");
        assert_eq!(items[DOUBTS_MAX], "8 more like these; the JSON report lists all");
    }

    #[test]
    fn a_sentence_has_the_causes_above_their_limits() {
        let doubt = Doubt {
            step: "scan".to_owned(),
            clients: 1,
            system: "db".to_owned(),
            trials: 6,
            disturbed: 2,
            steal_share_max: 0.07,
            others_share_max: 0.01,
            ..Doubt::default()
        };
        assert_eq!(sentence(&doubt), "scan at 1 client · db: of 6 trials, 2 disturbed (steal up to 7.0%)");
        let both = Doubt { others_share_max: 0.31, ..doubt.clone() };
        assert!(sentence(&both).ends_with("(steal up to 7.0%, other processes up to 31%)"));
        let idle = Doubt { disturbed: 0, little_broken: 6, busy_share_worst: Some(0.62), ..doubt };
        assert!(
            sentence(&idle).ends_with("6 with idle clients (throughput × latency is 62% of the clients)")
        );
    }
}
