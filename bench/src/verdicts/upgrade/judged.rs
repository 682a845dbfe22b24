//! What a tool reports about each digest of an upgrade's traffic. Reads Dyno's report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::planted::Harm;

/// What a tool reports about each digest.
pub(super) type Reported = BTreeMap<String, Seen>;

/// What a tool reports about one digest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// The harms that the tool reports. Empty if the tool reports no harm.
    pub(super) harms: BTreeSet<Harm>,
    /// The latency after the upgrade divided by the latency before it, if it is known.
    pub(super) ratio: Option<f64>,
}

/// The answer of `dyno upgrade`.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) safety: Safety,
    pub(super) reported: Reported,
}

/// Whether the upgrade is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Safety {
    Safe,
    NotSafe,
    NotDecided,
}

#[derive(Deserialize)]
struct Report {
    safety: Safety,
    refusal: Option<Refusal>,
    found: Option<Found>,
    replay: Option<Replay>,
}

#[derive(Deserialize)]
struct Refusal {
    message: String,
}

#[derive(Deserialize)]
struct Found {
    slower: Digests,
    failed: Digests,
    answers_otherwise: Digests,
}

/// A list of digests, as indices into the replay's list.
#[derive(Deserialize)]
struct Digests {
    digests: Vec<usize>,
}

#[derive(Deserialize)]
struct Replay {
    digests: Vec<Digest>,
}

#[derive(Deserialize)]
struct Digest {
    statement: String,
    /// The figures before and after the upgrade.
    systems: Vec<Figures>,
}

#[derive(Deserialize)]
struct Figures {
    against_base: Option<AgainstBase>,
}

#[derive(Deserialize)]
struct AgainstBase {
    ratio: Option<f64>,
}

impl Answer {
    /// Reads the report of `dyno upgrade --format json`.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{}: not a report of an upgrade", path.display()))
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let report: Report = serde_json::from_str(text)?;
        if let Some(refusal) = report.refusal {
            bail!("the new server refuses the data: {}", refusal.message);
        }
        let (found, replay) =
            report.found.zip(report.replay).context("the traffic was not replayed on both versions")?;
        let mut all: Vec<Seen> = replay
            .digests
            .iter()
            .map(|digest| Seen {
                harms: BTreeSet::new(),
                ratio: digest.systems.iter().find_map(|figures| figures.against_base.as_ref()?.ratio),
            })
            .collect();
        for (set, harm) in [
            (found.slower, Harm::Slower),
            (found.failed, Harm::Fails),
            (found.answers_otherwise, Harm::Answers),
        ] {
            for at in set.digests {
                all.get_mut(at).context("a digest that the replay does not have")?.harms.insert(harm);
            }
        }
        let statements = replay.digests.into_iter().map(|digest| digest.statement);
        Ok(Self { safety: report.safety, reported: statements.zip(all).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harms_are_those_of_the_lists() {
        let text = r#"{"safety": "not_safe", "refusal": null,
            "found": {"slower": {"digests": [1]}, "failed": {"digests": []}, "answers_otherwise": {"digests": [1]}},
            "replay": {"digests": [
                {"statement": "A", "systems": [{"against_base": null}, {"against_base": {"ratio": 1.01}}]},
                {"statement": "B", "systems": [{"against_base": null}, {"against_base": {"ratio": 3.0}}]}]}}"#;
        let answer = Answer::parse(text).unwrap();
        assert_eq!(answer.safety, Safety::NotSafe);
        assert_eq!(answer.reported["A"], Seen { harms: BTreeSet::new(), ratio: Some(1.01) });
        let both = BTreeSet::from([Harm::Slower, Harm::Answers]);
        assert_eq!(answer.reported["B"], Seen { harms: both, ratio: Some(3.0) });
    }

    #[test]
    fn a_refusal_is_an_error() {
        let text =
            r#"{"safety": "not_safe", "refusal": {"message": "too old"}, "found": null, "replay": null}"#;
        assert!(format!("{:#}", Answer::parse(text).unwrap_err()).contains("too old"));
    }
}
