//! Judges a history.

use std::time::Duration;

use adya::{History, Opts, Valid, Workload};

use crate::level::Model;
use crate::report::{AnomalyReport, Verdict};

/// Time limit of the search for cycles, for each group of transactions that depend on each other.
const SEARCH: Duration = Duration::from_secs(10);

/// The anomalies of a history, and the conclusions about the models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// All anomalies.
    pub anomalies: Vec<AnomalyReport>,
    /// The strongest model that no anomaly excludes. `None` if every model is excluded.
    pub strongest: Option<Model>,
    pub verdict: Verdict,
}

/// Judges whether a model allows a history. The history has Jepsen's form: a line of JSON for each begin and each
/// end of a transaction.
///
/// # Errors
/// The text is not a history in this form.
pub(crate) fn check(history: &str, model: Model) -> Result<Judged, String> {
    let history = History::from_json(history).map_err(|error| error.to_string())?;
    // The strongest model is checked, whatever `model` is, because only that check reports all anomalies.
    let models = vec![Model::StrictSerializable.as_str().to_owned()];
    let report =
        adya::check(&history, Workload::ListAppend, &Opts { models, timeout: SEARCH, ..Opts::default() });
    let is_excluded =
        |model: Model| report.not.iter().chain(&report.also_not).any(|excluded| excluded == model.as_str());
    let verdict = match report.valid {
        _ if is_excluded(model) => Verdict::Broken,
        Valid::Unknown => Verdict::Unknown,
        Valid::True | Valid::False => Verdict::Kept,
    };
    let anomalies = report.anomalies.iter().map(|(kind, found)| AnomalyReport {
        kind: kind.clone(),
        count: found.len() as u64,
        example: found.first().map(|anomaly| anomaly.explanation.clone()).unwrap_or_default(),
    });
    Ok(Judged {
        anomalies: anomalies.collect(),
        strongest: Model::ALL.into_iter().find(|model| !is_excluded(*model)),
        verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The history of transactions that ran one after the other. Each text has the operations of one transaction, in
    /// Jepsen's form.
    fn in_turn(transactions: &[&str]) -> String {
        let of = |(process, value): (usize, &&str)| {
            let asked = value.replace("[]", "null");
            format!(
                "{{\"type\":\"invoke\",\"process\":{process},\"value\":[{asked}]}}\n\
                 {{\"type\":\"ok\",\"process\":{process},\"value\":[{value}]}}\n"
            )
        };
        transactions.iter().enumerate().map(of).collect()
    }

    /// The history of transactions that all overlap in time.
    fn at_once(transactions: &[&str]) -> String {
        let line = |kind: &str, process: usize, value: &str| {
            format!("{{\"type\":\"{kind}\",\"process\":{process},\"value\":[{value}]}}\n")
        };
        let begun: String = (0..).zip(transactions).map(|(at, value)| line("invoke", at, value)).collect();
        let ended: String = (0..).zip(transactions).map(|(at, value)| line("ok", at, value)).collect();
        begun + &ended
    }

    fn kinds(history: &str, model: Model) -> (Vec<String>, Verdict, Option<Model>) {
        let judged = check(history, model).unwrap();
        let kinds = judged.anomalies.into_iter().map(|anomaly| anomaly.kind).collect();
        (kinds, judged.verdict, judged.strongest)
    }

    #[test]
    fn transactions_one_after_the_other_are_strictly_serializable() {
        let history = in_turn(&[
            r#"["append", 1, 1]"#,
            r#"["r", 1, [1]], ["append", 1, 2]"#,
            r#"["r", 1, [1, 2]], ["r", 2, []]"#,
        ]);
        let expected = (Vec::new(), Verdict::Kept, Some(Model::StrictSerializable));
        assert_eq!(kinds(&history, Model::StrictSerializable), expected);
    }

    #[test]
    fn a_stale_read_is_excluded_by_strictness_alone() {
        let history = in_turn(&[
            r#"["append", 1, 1]"#,
            r#"["append", 1, 2]"#,
            r#"["r", 1, [1]]"#,
            r#"["r", 1, [1, 2]]"#,
        ]);
        let (found, verdict, strongest) = kinds(&history, Model::StrictSerializable);
        assert!(found.iter().all(|kind| kind.ends_with("-realtime")) && !found.is_empty(), "{found:?}");
        assert_eq!((verdict, strongest), (Verdict::Broken, Some(Model::Serializable)));
        assert_eq!(kinds(&history, Model::Serializable).1, Verdict::Kept);
    }

    #[test]
    fn write_skew_is_excluded_by_serializability_but_not_by_snapshots() {
        let history = at_once(&[
            r#"["r", 1, []], ["r", 2, []], ["append", 1, 1]"#,
            r#"["r", 1, []], ["r", 2, []], ["append", 2, 1]"#,
            r#"["r", 1, [1]], ["r", 2, [1]]"#,
        ]);
        let (found, verdict, strongest) = kinds(&history, Model::Serializable);
        assert_eq!(found, ["G2-item"]);
        assert_eq!((verdict, strongest), (Verdict::Broken, Some(Model::SnapshotIsolation)));
        assert_eq!(kinds(&history, Model::SnapshotIsolation).1, Verdict::Kept);
    }

    #[test]
    fn a_long_fork_is_excluded_by_snapshots() {
        let history = at_once(&[
            r#"["append", 1, 1]"#,
            r#"["append", 2, 1]"#,
            r#"["r", 1, [1]], ["r", 2, []]"#,
            r#"["r", 1, []], ["r", 2, [1]]"#,
        ]);
        let (found, verdict, _) = kinds(&history, Model::SnapshotIsolation);
        assert_eq!(found, ["G-nonadjacent-item"]);
        assert_eq!(verdict, Verdict::Broken);
        assert_eq!(kinds(&history, Model::ReadCommitted).1, Verdict::Kept);
    }

    #[test]
    fn a_lost_update_is_excluded_by_repeatable_reads() {
        let history = at_once(&[
            r#"["r", 1, []], ["append", 1, 1]"#,
            r#"["r", 1, []], ["append", 1, 2]"#,
            r#"["r", 1, [1, 2]]"#,
        ]);
        let (_, verdict, _) = kinds(&history, Model::RepeatableRead);
        assert_eq!(verdict, Verdict::Broken);
        assert_eq!(kinds(&history, Model::ReadCommitted).1, Verdict::Kept);
    }

    #[test]
    fn a_read_of_what_was_rolled_back_is_excluded_by_every_level() {
        let failed = "{\"type\":\"invoke\",\"process\":9,\"value\":[[\"append\",1,1]]}\n\
                      {\"type\":\"fail\",\"process\":9,\"value\":[[\"append\",1,1]]}\n";
        let history = failed.to_owned() + &in_turn(&[r#"["r", 1, [1]]"#]);
        let (found, verdict, _) = kinds(&history, Model::ReadCommitted);
        assert!(found.contains(&"G1a".to_owned()), "{found:?}");
        assert_eq!(verdict, Verdict::Broken);
    }

    #[test]
    fn what_is_no_history_is_refused() {
        assert!(check("{\"type\":\"ok\"", Model::Serializable).is_err());
    }
}
