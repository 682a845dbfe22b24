//! Tests without a verdict, by reason.

use dyno_judge::Undecided;

use crate::document::Section;
use crate::model::Reports;
use crate::wording::number::{counted, rounds_that_decide};
use crate::wording::words;

pub(crate) const TITLE: &str = "Tests without a verdict";
pub(crate) const HOW_TO_READ: &str =
    "These tests have a ratio but no verdict. Their systems may differ, even though no difference was found.";
/// Largest number of tests that a reason names.
pub(crate) const NAMED_MAX: usize = 6;

/// A reason why a candidate has no verdict, with the tests that have this reason.
pub(crate) struct Reason {
    system: String,
    says: String,
    pub(crate) tests: Vec<String>,
    /// Estimated number of further rounds until all these tests are decided; `None` if unknown.
    more_rounds: Option<usize>,
}

/// The section; `None` if every test has a verdict.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let reasons = reasons(reports);
    let tests: usize = reasons.iter().map(|reason| reason.tests.len()).sum();
    (tests > 0).then(|| Section {
        title: TITLE.to_owned(),
        paragraphs: vec![format!("{}.", counted(tests as u64, "comparison")), HOW_TO_READ.to_owned()],
        items: reasons.iter().map(sentence).collect(),
        ..Section::default()
    })
}

/// The reasons for tests without a verdict, by candidate in the plan's order. Controls are left out, because A/A
/// pairs get no verdicts. While a run is in progress, tests with too few rounds are left out too.
pub(crate) fn reasons(reports: &Reports) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for system in reports.systems.iter().filter(|system| system.control_of.is_none()) {
        let own = reports.relative.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell)));
        for (row, cell) in own.filter(|(_, cell)| cell.system == system.id) {
            let Some((relative, why)) =
                cell.value().and_then(|value| Some((value, value.undecided.as_ref()?)))
            else {
                continue;
            };
            if reports.run.is_going_on() && matches!(why, Undecided::TooFewRounds { .. }) {
                continue;
            }
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

/// A reason with its tests: `maria, 2 tests: the interval includes both no change and a meaningful one; about 7
/// more rounds decide: a at 1 client, b at 4 clients`
fn sentence(reason: &Reason) -> String {
    let named = &reason.tests[..reason.tests.len().min(NAMED_MAX)];
    let others = reason.tests.len() - named.len();
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("{}: {}{others}", reason.what(), named.join(", "))
}

impl Reason {
    /// The candidate, the number of tests with this reason, and the reason.
    pub(crate) fn what(&self) -> String {
        let more = self.more_rounds.map(|rounds| format!("; {}", rounds_that_decide(rounds)));
        let tests = counted(self.tests.len() as u64, "test");
        format!("{}, {tests}: {}{}", self.system, self.says, more.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_reason_is_said_once_with_the_tests_that_have_it() {
        let section = section(&reports(&sample::run(1))).unwrap();
        assert_eq!(section.paragraphs[0], "22 comparisons.");
        let of_maria: Vec<&String> =
            section.items.iter().filter(|item| item.starts_with("maria, ")).collect();
        assert_eq!(of_maria.len(), 1, "{of_maria:?}");
        let what = "maria, 11 tests: 1 round of the ";
        assert!(of_maria[0].starts_with(what), "{of_maria:?}");
        let tests = ": load at 4 clients, point-query at 1 client, point-query at 4 clients, ";
        assert!(of_maria[0].contains(tests) && of_maria[0].ends_with(" and 5 more"), "{of_maria:?}");
    }

    #[test]
    fn rounds_that_are_still_to_come_are_no_reason() {
        let mut run = sample::run(1);
        run.state = dyno_store::RunState::Running;
        assert!(section(&reports(&run)).is_none());
    }

    #[test]
    fn every_reason_has_a_line_of_its_own() {
        let items = section(&reports(&sample::eventful_run())).unwrap().items;
        let has = |says: &str| items.iter().any(|item| item.contains(says));
        assert!(has("1 test: not measured in every round by design: load at 4 clients"), "{items:?}");
        assert!(
            has("maria, 1 test: the rate of maria has no level: update-nonindex at 4 clients"),
            "{items:?}"
        );
        let interval = "maria, 2 tests: the interval includes both no change and a meaningful one; about";
        assert!(has(interval), "{items:?}");
    }
}
