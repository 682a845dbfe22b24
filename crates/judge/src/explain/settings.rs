//! Finds which of the settings that differ affect the costs and counters that changed.

use serde::Serialize;

use super::AmountChange;

/// A setting in which two systems differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingDifference {
    pub name: String,
    /// The base's value; `None` if the base has no such setting.
    pub base: Option<String>,
    /// The candidate's value.
    pub candidate: Option<String>,
    /// A description of the setting, if known.
    pub about: Option<String>,
    /// Names of counters and costs that the setting affects; `*` stands for any text.
    #[serde(skip)]
    pub acts_on: Vec<String>,
}

/// A setting that differs, with the changes that it can affect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    #[serde(flatten)]
    pub setting: SettingDifference,
    /// Names of counters and costs that clearly changed, the most significant first. Empty if nothing that the
    /// setting affects changed, or if the setting's effects are unknown.
    pub evidence: Vec<String>,
}

/// The settings in the order of their evidence. Settings with the most significant change come first. Settings
/// without evidence come last.
pub(super) fn suspects(
    settings: Vec<SettingDifference>,
    costs: &[AmountChange],
    counters: &[AmountChange],
) -> Vec<Suspect> {
    let mut weighed: Vec<(f64, Suspect)> = settings
        .into_iter()
        .map(|setting| {
            let mut evidence: Vec<&AmountChange> = counters
                .iter()
                .chain(costs)
                .filter(|change| {
                    change.is_clear && setting.acts_on.iter().any(|pattern| is_named(pattern, &change.name))
                })
                .collect();
            evidence.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            let weight = evidence.first().map_or(-1.0, |change| change.weight);
            (
                weight,
                Suspect { evidence: evidence.iter().map(|change| change.name.clone()).collect(), setting },
            )
        })
        .collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    weighed.into_iter().map(|(_, suspect)| suspect).collect()
}

/// Whether a pattern matches a counter or cost, by its full name or by its name without the source.
fn is_named(pattern: &str, name: &str) -> bool {
    fits(pattern, name) || name.split_once('.').is_some_and(|(_, own)| fits(pattern, own))
}

/// Whether a name matches a pattern in which `*` stands for any text. Case is ignored.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, rest @ ..] = parts.as_slice() else { return false };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
    for part in middle {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{fits, is_named};

    #[test]
    fn counters_are_named_with_their_source_or_without() {
        assert!(is_named("Qcache_*", "global_status.Qcache_hits"));
        assert!(is_named("innodb_metrics.buffer_*", "innodb_metrics.buffer_reads"));
        assert!(!is_named("Qcache_*", "global_status.Com_select") && !is_named("status", "status.reads"));
    }

    #[test]
    fn patterns_fit_in_any_case() {
        for (pattern, name) in [
            ("Qcache_*", "qcache_hits"),
            ("fsyncs", "fsyncs"),
            ("*cpu*", "server CPU µs"),
            ("a*b*c", "a1b2c"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("Qcache_*", "com_qcache"), ("fsync", "fsyncs"), ("a*b*c", "acb")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
