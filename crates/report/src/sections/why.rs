//! The section "Why": the largest differences of a run, each with its evidence and its proof.

use crate::document::Section;
use crate::model::Reports;
use crate::model::why::{ProofState, Why};

pub(crate) const TITLE: &str = "Why";
pub(crate) const HOW_TO_READ: &str = "The largest decided differences, with what changed. A setting that affects what changed is a suspect; only \
     comparisons with and without it prove a cause (dyno explain --prove).";

/// The section; `None` if there is no decided difference.
pub(super) fn section(reports: &Reports) -> Option<Section> {
    (!reports.why.is_empty()).then(|| Section {
        title: TITLE.to_owned(),
        paragraphs: vec![HOW_TO_READ.to_owned()],
        items: reports.why.iter().map(item).collect(),
        ..Section::default()
    })
}

fn item(why: &Why) -> String {
    let proof = match &why.proof {
        ProofState::Made { says } => says.join(" "),
        ProofState::NotMade { command } => format!("Not proven: `{command}` measures it."),
        ProofState::Impossible { reason } => format!("Not proven: {reason}."),
    };
    format!("{}. {} {proof}", why.title, why.says.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_difference_has_its_evidence_and_its_proof_or_what_would_prove_it() {
        let why = |proof| Why::of(&sample::planned(), proof);
        let command = "dyno explain 3 new --test point-query --clients 4 --prove".to_owned();
        let all = [
            why(ProofState::of(&sample::proof())),
            why(ProofState::NotMade { command }),
            why(ProofState::Impossible { reason: "they are two engines".to_owned() }),
        ];
        let reports = Reports { why: all.to_vec(), ..sample::reports(&sample::run(1)) };
        let section = section(&reports).unwrap();
        for (item, words) in section.items.iter().zip([
            "query_cache_type = 1 alone: 0.58 [0.56, 0.60] of 0.57",
            "Not proven: `dyno explain 3 new --test point-query --clients 4 --prove` measures it.",
            "Not proven: they are two engines.",
        ]) {
            assert!(
                item.starts_with("new against old: point-query at 4 clients. new does 0.57 times"),
                "{item}"
            );
            assert!(item.contains("new reads sbtest1 by a full scan, old by index k_1."), "{item}");
            assert!(item.contains(words), "{item}");
        }
        let options = crate::RenderOptions { color: false, width: 10_000 };
        for format in [crate::Format::Text, crate::Format::Markdown] {
            let text = crate::render(&reports, format, &options);
            assert!(text.contains("Why") && text.contains("by a full scan"), "{text}");
        }
    }

    #[test]
    fn without_a_difference_there_is_no_section() {
        assert!(section(&sample::reports(&sample::run(1))).is_none());
    }
}
