//! Tests without a verdict, and the reasons.

use crate::model::Reports;
use crate::number::counted;
use crate::section::Section;
use crate::words;

/// Largest number of tests that are named for a reason.
const NAMED_MAX: usize = 6;

/// A reason with the tests that have it.
struct Reason {
    system: String,
    says: String,
    tests: Vec<String>,
    /// Estimated number of further rounds until all its tests are decided; none if unknown.
    more_rounds: Option<usize>,
}

/// The section; none if every test has a verdict.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let reasons = reasons(reports);
    let tests: usize = reasons.iter().map(|reason| reason.tests.len()).sum();
    (tests > 0).then(|| Section {
        title: "Tests without a verdict",
        how_to_read: vec![format!(
            "Of {} against the base nothing is said but the ratio: that no difference was found is not that there is none.",
            counted(tests as u64, "comparison")
        )],
        items: reasons.iter().map(sentence).collect(),
        ..Section::default()
    })
}

/// Reasons for tests without a verdict, by candidate in the plan's order. Controls are left out, because A/A pairs get
/// no verdicts.
fn reasons(reports: &Reports) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for system in reports.systems.iter().filter(|system| system.control_of.is_none()) {
        let own = reports.relative.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell)));
        for (row, cell) in own.filter(|(_, cell)| cell.system == system.id) {
            let Some((relative, why)) =
                cell.value().and_then(|value| Some((value, value.undecided.as_ref()?)))
            else {
                continue;
            };
            let says = words::undecided(why);
            let test = format!("{} at {}", row.step, counted(u64::from(cell.clients), "client"));
            match reasons.iter_mut().find(|reason| reason.system == system.id && reason.says == says) {
                Some(reason) => {
                    reason.tests.push(test);
                    reason.more_rounds = reason.more_rounds.zip(relative.more_rounds).map(|(a, b)| a.max(b));
                }
                None => reasons.push(Reason {
                    system: system.id.clone(),
                    says,
                    tests: vec![test],
                    more_rounds: relative.more_rounds,
                }),
            }
        }
    }
    reasons
}

/// `maria, 2 tests: the interval holds both a difference that matters and none (about 7 more rounds): a at 1 client, b
/// at 4`
fn sentence(reason: &Reason) -> String {
    let more =
        reason.more_rounds.map(|rounds| format!("; about {} decide", counted(rounds as u64, "more round")));
    let named = &reason.tests[..reason.tests.len().min(NAMED_MAX)];
    let others = reason.tests.len() - named.len();
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!(
        "{}: {}{} ({}: {}{others})",
        reason.system,
        reason.says,
        more.unwrap_or_default(),
        counted(reason.tests.len() as u64, "test"),
        named.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_reason_is_said_once_with_the_tests_that_have_it() {
        let section = section(&reports(&sample::run(1))).unwrap();
        assert!(
            section.how_to_read[0].starts_with("Of 22 comparisons against the base"),
            "{:?}",
            section.how_to_read
        );
        let of_maria: Vec<&String> =
            section.items.iter().filter(|item| item.starts_with("maria: ")).collect();
        assert_eq!(of_maria.len(), 1, "{of_maria:?}");
        assert!(of_maria[0].starts_with("maria: 1 round where a verdict takes at least "), "{of_maria:?}");
        let tests = "(11 tests: load at 4 clients, point-query at 1 client, point-query at 4 clients, ";
        assert!(of_maria[0].contains(tests) && of_maria[0].ends_with(" and 5 more)"), "{of_maria:?}");
    }

    #[test]
    fn every_reason_has_a_line_of_its_own() {
        let items = section(&reports(&sample::eventful_run())).unwrap().items;
        let has = |says: &str| items.iter().any(|item| item.contains(says));
        assert!(has("measured in one round by design (1 test: load at 4 clients)"), "{items:?}");
        assert!(
            has("maria: the rate of maria has no level (1 test: update-nonindex at 4 clients)"),
            "{items:?}"
        );
        assert!(has("maria: the interval holds both a difference that matters and none; about"), "{items:?}");
    }
}
