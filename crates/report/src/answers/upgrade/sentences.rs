//! The sentences of the report on an upgrade.

use dyno_judge::{DigestSet, Finding, UpgradeFound};

use crate::model::upgrade::{Refusal, UpgradeReport};
use crate::wording::number::{counted, percent, shortest};
use crate::wording::words;

impl UpgradeReport {
    /// Sentences on what was found. The first sentence is the answer.
    pub(super) fn answer(&self) -> Vec<String> {
        if let Some(refusal) = &self.refusal {
            return self.refused(refusal);
        }
        let Some(found) = &self.found else {
            let nothing =
                "One of the two versions did not complete a replay, so nothing is known.".to_owned();
            return [nothing].into_iter().chain(self.warnings.iter().cloned()).collect();
        };
        let mut sentences = vec![headline(found)];
        sentences.push(self.whole(found));
        sentences.push(answers(found));
        sentences.extend(losses(found));
        sentences.extend(self.warnings.iter().cloned());
        sentences
    }

    fn refused(&self, refusal: &Refusal) -> Vec<String> {
        let what = format!("{} does not take the data of {}: {}", self.to.id, self.from.id, refusal.message);
        [what].into_iter().chain(refusal.path.clone()).collect()
    }

    /// A sentence on the time of all statements together.
    fn whole(&self, found: &UpgradeFound) -> String {
        let margin = format!("{}%", shortest(self.margin.relative() * 100.0));
        let Some(time) = found.time else {
            return "The versions have no executed statement in common, so their times cannot be compared."
                .to_owned();
        };
        let ratio =
            time.ratio.map_or_else(|| "unknown".to_owned(), |ratio| words::ratio_in(ratio, time.interval));
        let judged = match time.finding {
            Finding::Regressed => format!("which is slower by more than {margin}"),
            Finding::Improved => format!("which is faster by more than {margin}"),
            Finding::Same => format!("which is the same within {margin}"),
            _ => format!("which is not decided at a margin of {margin}"),
        };
        format!(
            "The time of all statements together is {ratio} times that of {}, in {}, {judged}.",
            self.from.id,
            counted(time.rounds as u64, "round")
        )
    }
}

/// `Of 214 digests 6 are slower (31% of the time), 2 fail, 1 answers otherwise.`
fn headline(found: &UpgradeFound) -> String {
    let part = |set: &DigestSet, one: &str, many: &str, shows_time: bool| {
        let number = set.digests.len();
        let words = if number == 1 { one } else { many };
        let time =
            if shows_time { format!(" ({} of the time)", percent(set.time_share)) } else { String::new() };
        (number > 0).then(|| format!("{number} {words}{time}"))
    };
    let parts: Vec<String> = [
        part(&found.slower, "is slower", "are slower", true),
        part(&found.failed, "fails", "fail", false),
        part(&found.answers_otherwise, "answers otherwise", "answer otherwise", false),
        part(&found.faster, "is faster", "are faster", true),
        part(&found.same, "is as fast as before", "are as fast as before", true),
        part(&found.not_decided, "is not decided", "are not decided", true),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("Of {} {}.", counted(found.digests as u64, "digest"), parts.join(", "))
}

/// States the number of digests whose answers were compared, and the number of digests that were left out. A digest is
/// left out if its answers change between replays on the same version, or if not all of its answers could be compared.
fn answers(found: &UpgradeFound) -> String {
    let compared = found.answers_same + found.answers_otherwise.digests.len();
    let left_out = found.answers_not_determined;
    if compared + left_out == 0 {
        return "Answers were not compared.".to_owned();
    }
    let not = if left_out > 0 {
        format!(
            " Those of {left_out} were left out: they change from one replay to the next on the same version, or not all of \
             them could be compared."
        )
    } else {
        String::new()
    };
    format!("The answers of {} were compared.{not}", counted(compared as u64, "digest"))
}

fn losses(found: &UpgradeFound) -> Option<String> {
    let part =
        |number: u64, words: &str| (number > 0).then(|| format!("{} {words}", counted(number, "session")));
    let parts: Vec<String> = [
        part(found.losses.refused, "more refused by the server"),
        part(found.losses.lost, "more closed by the server before their end"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("After the upgrade there were {}.", parts.join(" and ")))
}
